/** Where an approval stands: below the end of the chat, or at an end of the screen. No engine is needed. */
import assert from "node:assert/strict";
import { COMMAND_LEVELS } from "../../denops/agent/protocol/commands.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitUntil } from "../support/project.ts";
import { type Editor, receive, sharedEditor } from "../support/shared_editor.ts";

const FILE = {
  ...{
    type: "approval",
    request: 1,
    tool: "t",
    title: "write .env",
    reason: ".env may hold secrets",
  },
  ...{ kind: "file", left_out: 0, suggestion: "write(.env)" },
  files: [{ path: ".env", after: "A=1\n".repeat(40) }],
};

function start(columns: number, lines: number, options: string, lua = ""): Promise<Editor> {
  const code = `local lines = {}
    for line = 1, 60 do lines[line] = "code " .. line end
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.bo.modified = false`;
  return sharedEditor({ columns, lines, options, lua: `${lua}\n${code}` });
}

/** The first row of each text; all of them are on the screen. */
function rows(nvim: ChildNvim, ...texts: readonly string[]): readonly number[] {
  return texts.map((text) => {
    const at = nvim.locate(text);
    assert.ok(at, `${text} is on the screen:\n${nvim.text()}`);
    return at.row;
  });
}

/** Rows from the upper border to the lower one. */
function height(nvim: ChildNvim): number {
  const screen = nvim.text().split("\n");
  const top = screen.findIndex((row) => /[╭╔] Approval/.test(row));
  return screen.slice(top).findIndex((row) => /[╰╚]/.test(row)) + 1;
}

/** The windows and their sizes. */
const sizes = (nvim: ChildNvim) =>
  nvim.lua(`return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(window)
    return { window, vim.api.nvim_win_get_height(window), vim.api.nvim_win_get_width(window) }
  end):totable()`);

const PLACES = [
  { layout: "right", columns: 100, lines: 24, lua: "", beside: "code 20" },
  {
    layout: "right",
    columns: 80,
    lines: 24,
    lua: "vim.o.laststatus = 3 vim.o.cmdheight = 0",
    beside: "code 20",
  },
  { layout: "bottom", columns: 80, lines: 24, lua: "vim.o.winborder = 'double'", beside: "code 5" },
  { layout: "bottom", columns: 40, lines: 15, lua: "", beside: "code 1" },
  { layout: "current", columns: 60, lines: 20, lua: "vim.o.laststatus = 0", beside: "" },
  { layout: "tab", columns: 120, lines: 40, lua: "vim.cmd.split()", beside: "" },
];

for (const { layout, columns, lines, lua, beside } of PLACES) {
  Deno.test(`${layout} at ${columns}×${lines}: an approval stands between the chat's end and the input, and leaves no trace`, async () => {
    await using editor = await start(columns, lines, `ui = { layout = "${layout}" }`, lua);
    const { nvim } = editor;
    await nvim.command("Agent hello");
    await nvim.keys("<Esc>iWhile I type");
    const text = `${"A line.\n".repeat(30)}The very end.`;
    await receive(nvim, { type: "turn_started" }, { type: "text", message: "m", text });
    await nvim.waitForScreen("The very end.");
    const before = await sizes(nvim);

    const isDocked = (screen: string) =>
      /The very end\.[^]*[╭╔] Approval[^]*[╰╚][^]*While I type/.test(screen);
    const most = Math.max(6, Math.floor(lines / 3));
    await receive(nvim, FILE);
    await nvim.waitForScreen((screen) => isDocked(screen) && screen.includes(beside));
    assert.ok(height(nvim) <= most, nvim.text());
    // Down from the transcript, as in any split, and its keys are all there.
    await nvim.keys("<Esc>");
    await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
    await nvim.command("wincmd j");
    await nvim.waitFor(`vim.bo.filetype == "agent-approval"`);
    await nvim.waitForScreen((screen) => isDocked(screen) && / r( reject)? [^]* d( diff)? /.test(screen));
    assert.ok(height(nvim) <= most, nvim.text());
    assert.ok(nvim.text().includes(" s session "), nvim.text());

    // It can be closed, and comes back.
    await nvim.keys(":q<CR>");
    await nvim.waitForScreenGone("Approval");
    assert.deepEqual(await sizes(nvim), before);
    await nvim.command("Agent approval");
    await nvim.waitForScreen(isDocked);
    // Without the chat it is at the bottom, with it at its place again.
    await nvim.lua(`require("agent").toggle()`);
    await nvim.waitForScreen((screen) => screen.includes("Approval") && !screen.includes("While I type"));
    assert.doesNotMatch(nvim.text(), /dock/);
    await nvim.command("Agent approval");
    await nvim.keys("a");
    await nvim.waitForScreenGone("Approval");
    assert.equal(
      (await nvim.lua<readonly unknown[]>("return vim.api.nvim_tabpage_list_wins(0)")).length,
      layout === "tab" ? 2 : 1,
    );
  });
}

Deno.test("a short approval whose keys need two lines stands still beside the user's windows", async () => {
  await using editor = await start(100, 24, `ui = { layout = "right" }`);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await receive(nvim, {
    ...{ type: "approval", request: 1, tool: "t", title: "run npm ci", kind: "command", command: "npm ci" },
    ...{ folder: ".", access: "look", severity: "low", is_edited: false, reason: "fetches" },
  });
  await nvim.keys("<Esc>");
  await nvim.command("Agent approval");
  await nvim.waitForScreen(/a once[^]*e edit/);
  const before = await sizes(nvim);
  // Scheduled functions run in between.
  for (let time = 0; time < 5; time++) await nvim.keys("<Ignore>");
  assert.deepEqual(await sizes(nvim), before);
});

Deno.test("at 40×15 an approval shows the command first", async () => {
  await using editor = await start(40, 15, `ui = { layout = "float" }`);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await receive(nvim, {
    ...{ type: "approval", request: 1, tool: "t", title: "run npm ci", kind: "command" },
    ...{ command: "npm ci\nnpm test", folder: ".", access: "write+network", severity: "medium" },
    ...{ is_edited: false, reason: "fetches packages, and runs their scripts" },
  });
  await nvim.keys("<Esc>");
  await nvim.command("Agent approval");
  await nvim.waitForScreen(
    /╭ Approval · more below: <C-d> ─+╮\n.*\n│\$ npm ci +│\n│\$ npm test +│\n│fetches packages/,
  );
  await nvim.waitForScreen("a once");
});

Deno.test("an approval names what each level of a command may change", async () => {
  await using editor = await start(80, 24, `ui = { layout = "float" }`);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  for (const [request, access] of COMMAND_LEVELS.entries()) {
    await receive(nvim, {
      ...{ type: "approval", request, tool: "t", title: "run npm ci", kind: "command", command: "npm ci" },
      ...{ folder: ".", access, severity: "low", is_edited: false, reason: "fetches packages" },
    });
    await nvim.waitForScreen(new RegExp(`${access}: .*, no network · severity: low`));
    await receive(nvim, { type: "approval_closed", request, answer: "cancelled" });
  }
});

Deno.test("an approval stays readable when its chat closes before it does", async () => {
  await using editor = await start(80, 24, `ui = { layout = "float" }`);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await receive(nvim, { ...FILE, chat: 1 });
  await nvim.waitForScreen("╭ Approval");
  await nvim.lua(`local chats = require("agent.chat")
    local first = chats.current()
    chats.new()
    chats.close(first)`);
  await nvim.command("doautocmd VimResized");
  await nvim.waitForScreen(/╭ Approval · chat \d/);
  assert.doesNotMatch(await nvim.lua<string>("return vim.fn.execute('messages')"), /window.lua/);
});

Deno.test("at 40×15 a long command does not hide that its severity is high", async () => {
  await using editor = await start(40, 15, `ui = { layout = "float" }`);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await receive(nvim, {
    ...{ type: "approval", request: 1, tool: "t", title: "run true", kind: "command" },
    ...{ command: `${"true\n".repeat(20)}sudo rm x`, folder: ".", access: "write+network", severity: "high" },
    ...{ is_edited: false, reason: "runs as another user" },
  });
  await nvim.keys("<Esc>");
  await nvim.command("Agent approval");
  await nvim.waitForScreen(/╭ Approval · high · more below: <C-d> ─+╮\n/);
});

Deno.test("a chat that has become too narrow to read in has its approval at the bottom", async () => {
  await using editor = await start(120, 24, `ui = { layout = "right" }`);
  const { nvim } = editor;
  await nvim.command("Agent hello");
  await receive(nvim, FILE);
  await nvim.waitForScreen("╭ Approval");
  await nvim.resize(44, 16);
  await nvim.waitForScreen((screen) => /^╭ Approval/m.test(screen) && screen.includes("write .env"));
  await nvim.command("Agent approval");
  await nvim.waitForScreen((screen) => screen.includes("a once") && screen.includes("r reject"));
  await nvim.resize(120, 24);
  await nvim.waitForScreen("╭ Approval");
});

Deno.test("without a chat in view an approval gives way to the line that is written", async () => {
  await using editor = await start(80, 24, "", "vim.o.showtabline = 2");
  const { nvim } = editor;
  await nvim.command("Agent! hello");
  await nvim.keys("5GA and more");
  await receive(nvim, FILE);
  await nvim.waitForScreen("╭ Approval");
  const [first = 0, tabs = 0] = rows(nvim, "╭ Approval", "[No Name]");
  assert.ok(first > 12 && tabs === 0, nvim.text());
  await nvim.keys("<Esc>20GA at the end");
  await waitUntil("the line and the approval", async () => {
    // A key closes the message above the line once it could be read.
    await nvim.keys("<End>");
    return ["code 20 at the end", "╭ Approval"].every((part) => nvim.text().includes(part));
  });
  const [second = 0] = rows(nvim, "╭ Approval");
  assert.ok(second === 1, nvim.text());
  assert.ok(height(nvim) <= 8, nvim.text());
});
