/** The lines of the chat's windows, beside the status lines of users and plugins. No engine is needed. */
import assert from "node:assert/strict";
import type { ChildNvim } from "../support/nvim.ts";
import { type Editor, receive, sharedEditor } from "../support/shared_editor.ts";

const READY = [
  { type: "ready", session: "s", root: "/p", provider: "p", model: "scripted", sandbox: "" },
  { type: "usage", used: 45300, size: 200000 },
];
const ANSWER = [{ type: "turn_started" }, { type: "text", message: "m", text: "An answer." }, {
  type: "turn_done",
  reason: "end_turn",
}];
const LINE = "scripted · 45.3k of 200k tokens · ready";
const EMPTY = "Ask, or @file, /command";

/** Other tests' autocommands are gone. */
const PLUGIN = `local plugin = vim.api.nvim_create_augroup("test.plugin", {})\n`;

/** A chat with an answered message, in Normal mode. */
async function startChat(layout: string, columns: number, lines: number, lua = ""): Promise<Editor> {
  const editor = await sharedEditor({
    options: `ui = { layout = "${layout}" }`,
    columns,
    lines,
    lua: PLUGIN + lua,
  });
  await editor.nvim.command("Agent hello");
  await receive(editor.nvim, ...READY, ...ANSWER);
  await editor.nvim.keys("<Esc>");
  return editor;
}

/** The status line of the current window itself. */
const OWN = `return vim.api.nvim_get_option_value("statusline", { scope = "local" })`;

/** Where the two lines are: below the windows' texts, above them, or as 'laststatus' 0 has it. */
type Place = "below" | "above" | "between";

/** The line about the chat and the one with the keys are on the screen once, in their places. */
function isWhole(screen: string, place: Place): boolean {
  const rows = screen.split("\n");
  const row = (text: string) => {
    const at = rows.findIndex((line) => line.includes(text));
    return rows.findLastIndex((line) => line.includes(text)) === at ? at : -1;
  };
  const [line, message, keys, empty] = [row(LINE), row("❯ hello"), row("<CR> send"), row(EMPTY)];
  if ([line, message, keys, empty].includes(-1)) return false;
  const isChatBelow = message < line && line === (place === "between" ? keys : empty) - 1;
  return (place === "above" ? line === message - 1 : isChatBelow) &&
    keys === (place === "below" ? empty + 3 : empty - 1);
}

const waitUntilWhole = (nvim: ChildNvim, place: Place, what: string) =>
  nvim.waitForScreen((screen) => isWhole(screen, place))
    .catch((cause) => assert.fail(`${what}: ${cause}`));

for (
  const [layout, columns, lines] of [["right", 120, 40], ["left", 120, 24], ["bottom", 80, 50], [
    "tab",
    80,
    24,
  ], ["current", 80, 24]] as const
) {
  Deno.test(`${layout}: with any 'laststatus' the chat's lines are shown once, and the input keeps its rows`, async () => {
    await using editor = await startChat(layout, columns, lines);
    const { nvim } = editor;
    for (
      const [last, place] of [[2, "below"], [3, "above"], [1, "below"], [0, "between"], [2, "below"]] as const
    ) {
      await nvim.command(`set laststatus=${last}`);
      await waitUntilWhole(nvim, place, `laststatus=${last}`);
      assert.ok(last === 3 || !/agent:\/\/chat-\d+ /.test(nvim.text()), nvim.text());
    }
    // In another tab page as well, and after all windows have changed their size.
    await nvim.command("set laststatus=3 | tabnew | set laststatus=2 | tabprevious");
    await waitUntilWhole(nvim, "below", "another tab page");
    await nvim.keys("<C-w>=");
    await waitUntilWhole(nvim, "below", "<C-w>=");
    await nvim.keys("q");
    await nvim.command("Agent");
    await nvim.keys("<Esc>");
    await waitUntilWhole(nvim, "below", "closed and opened");
    await nvim.keys("<C-w>k:only<CR>");
    await nvim.waitForScreenGone("❯ hello");
    assert.doesNotMatch(await nvim.lua(OWN), /scripted/);
  });
}

/** What plugins do to the status lines of all windows. */
const PLUGINS: Readonly<Record<string, string>> = {
  "an expression for all windows":
    `vim.o.statusline = "%!v:lua.Line()" function Line() return "A PLUGIN" end`,
  "an expression in the window at the cursor":
    `vim.api.nvim_create_autocmd({ "WinEnter", "BufEnter" }, { group = plugin, callback = function()
      vim.wo.statusline = "%{%v:lua.Line()%}"
    end })
    function Line() return "A PLUGIN" end`,
  "a text in each window":
    `vim.api.nvim_create_autocmd({ "WinEnter", "CursorMoved" }, { group = plugin, callback = function()
      for _, window in ipairs(vim.api.nvim_list_wins()) do vim.wo[window].statusline = "A PLUGIN" end
    end })`,
};

for (const [name, lua] of Object.entries(PLUGINS)) {
  Deno.test(`a plugin keeps its status line: ${name}`, async () => {
    for (const layout of ["right", "current"]) {
      await using editor = await startChat(layout, 120, 24, lua);
      const { nvim } = editor;
      await nvim.keys("<C-w>k<C-w>j");
      await waitUntilWhole(nvim, "above", layout);
      const count = nvim.text().split("A PLUGIN").length - 1;
      assert.ok(count >= 2, nvim.text());
      await nvim.keys("ia draft<Esc>cc<Esc><C-w>k<C-w>j");
      await waitUntilWhole(nvim, "above", layout);
      assert.equal(nvim.text().split("A PLUGIN").length - 1, count, nvim.text());
    }
  });
}

Deno.test("a window of the user's gets its own status line back", async () => {
  for (const before of ["", "mine %{1 + 1}"]) {
    const set = `vim.api.nvim_set_option_value("statusline", "${before}", { scope = "local" })
      vim.wo[0][0].winbar, vim.wo[0][0].number = "a bar", true`;
    await using editor = await startChat("current", 80, 24, set);
    const { nvim } = editor;
    const options = `return { vim.wo.number, vim.wo.winbar, vim.wo.winfixheight, vim.wo.winfixwidth,
      vim.api.nvim_get_option_value("statusline", { scope = "local" }) }`;
    await waitUntilWhole(nvim, "below", before);
    await nvim.keys("q");
    assert.deepEqual(await nvim.lua(options), [true, "a bar", false, false, before]);
    // The transcript in one of the user's windows has no line that does not change any more.
    await nvim.command("vsplit | buffer ^agent://chat-*[0-9]$");
    assert.doesNotMatch(await nvim.lua(OWN), /scripted/);
  }
});

Deno.test("beside the windows the chat takes 40 % of a wide screen, 60 to 100 columns, and keeps them", async () => {
  for (
    const [columns, options, width] of [[119, "", 47], [120, "", 60], [200, "", 80], [300, "", 100], [
      120,
      "width = 30",
      30,
    ], [200, "max_width = 50", 50]] as const
  ) {
    await using editor = await sharedEditor({
      options: `ui = { layout = "right", ${options} }`,
      columns,
      lua: PLUGIN,
    });
    const { nvim } = editor;
    const present = () =>
      nvim.lua(`return vim.api.nvim_win_get_width(require("agent.chat").list()[1].windows.input)`);
    await nvim.command("Agent");
    assert.equal(await present(), width, `${columns} ${options}`);
    await nvim.keys("<Esc>");
    await nvim.command("wincmd p | vsplit | wincmd =");
    assert.equal(await present(), width, `${columns} ${options}`);
    if (options === "") {
      await nvim.resize(80, 24);
      await nvim.waitFor(`vim.api.nvim_win_get_width(require("agent.chat").list()[1].windows.input) == 32`);
    }
  }
});

Deno.test("an empty input says what to type, by what happens to a message; text takes its place", async () => {
  for (const layout of ["float", "right"]) {
    await using editor = await sharedEditor({ options: `ui = { layout = "${layout}" }`, lua: PLUGIN });
    const { nvim } = editor;
    await nvim.command("Agent");
    await nvim.waitForScreen(EMPTY);
    assert.equal(await nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true))"), "");
    await nvim.keys("x");
    await nvim.waitForScreen((screen) => /[│ ]x *[│\n]/.test(screen) && !screen.includes("Ask"));
    await nvim.keys("<BS>");
    await nvim.waitForScreen(EMPTY);
    await nvim.keys("hello<Esc><CR>");
    await nvim.waitForScreen("Queue a message");
    await nvim.keys("o");
    await nvim.waitForScreenGone("Queue a message");
    await nvim.keys("<Esc>u");
    await nvim.waitForScreen("Queue a message");
    await receive(nvim, ...ANSWER);
    await nvim.waitForScreen((screen) => screen.includes(EMPTY) && !screen.includes("Queue"));
  }
});
