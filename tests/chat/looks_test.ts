/** The chat on odd screens, with odd options and beside other plugins. No engine is needed. */
import assert from "node:assert/strict";
import { contrast } from "../support/contrast.ts";
import { type Editor, type EditorOptions, sharedEditor } from "../support/shared_editor.ts";

async function start(
  { ui = "", options = "", ...rest }: EditorOptions & { readonly ui?: string },
): Promise<Editor> {
  const editor = await sharedEditor({ ...rest, options: `ui = { spinner = false, ${ui} }, ${options}` });
  await editor.nvim.lua(`
    function _G.receive(...)
      local batch = { ... }
      for _, update in ipairs(batch) do update.chat = require("agent.chat").current().id end
      require("agent.approval")
      require("agent.client").receive(batch)
    end
    function _G.begin(text)
      require("agent").open()
      vim.cmd.stopinsert()
      require("agent.chat").current():apply({ { type = "submitted", text = text }, { type = "turn_started" } })
    end`);
  return editor;
}

const PLAN = `{ type = "plan", steps = { { step = "look at the code", status = "completed" },
  { step = "rename the function in all files where it is used", status = "in_progress" },
  { step = "run the tests", status = "pending" } } }`;
const READY =
  `{ type = "ready", session = "s", root = "/p", provider = "p", model = "claude-opus-4-5-20251101",
  sandbox = "" }, { type = "usage", used = 45300, size = 200000, cost = 0.42 }`;

Deno.test("at 40×15 the chat has the screen, the line above it what matters, and no word is broken", async () => {
  await using editor = await start({ columns: 40, lines: 15 });
  const { nvim } = editor;
  await nvim.lua(`require("agent").open()`);
  await nvim.waitForScreen(
    /│ Type a message, <C-s> sends it\. +│\n│ @ attaches files\. g\? shows all keys\. +│/,
  );
  await nvim.lua(`_G.begin("Rename it") _G.receive(${READY}, ${PLAN},
    { type = "text", message = "m", text = "- an item with words enough to be wrapped at forty columns\\n\\n" })`);
  await nvim.waitForScreen(/│ 2\/3 rename the \S*.*… · working *│/);
  await nvim.waitForScreen(
    "│ • an item with words enough to be    │\n│   wrapped at forty columns           │",
  );
  assert.ok(!nvim.text().includes("Type a message"), nvim.text());
  assert.equal(nvim.screen()[0]?.trimEnd(), "╭ Agent ───────────────────────────────╮");
  assert.equal(nvim.screen()[12]?.startsWith("╰"), true, nvim.text());

  // What ends a text is no line of it.
  await nvim.lua(
    `_G.receive({ type = "tool", id = "1", title = "read a.ts", status = "completed", kind = "read" },
    { type = "text", message = "n", text = "\\n\\n" },
    { type = "tool", id = "2", title = "edit b.ts", status = "completed", kind = "edit" })`,
  );
  await nvim.waitForScreen(/columns +│\n│ +│\n│ ✓ read {3}a\.ts +│\n│ ✓ edit {3}b\.ts/);

  await nvim.lua(`require("agent.chat").current().plan:show()`);
  await nvim.waitForScreen(
    /│▸ rename the function in all files +│\n│ {2}where it is used +│\n│☐ run the tests/,
  );
  await nvim.keys("qg?");
  await nvim.waitForScreen(
    /Keys · more below: <C-d> ─[^]*<Tab> +go to the approval, or [^\n]*│\n│ {12}\S/,
  );
  await nvim.keys("G");
  await nvim.waitForScreen(/╭ Keys ─[^]*i +go to the input/);
  await nvim.keys("q");

  await nvim.command("set winborder=none");
  await nvim.keys("g?");
  await nvim.waitForScreen(/^ {2}Keys · more below/m);
  await nvim.keys("q");
  await nvim.command("set winborder=single");
  await nvim.resize(200, 50);
  await nvim.waitForScreen(/┌ Agent ─+┐/);
  await nvim.waitForScreen(
    / 2\/3 rename the function in all… · claude-opus-4-5-20251101 .*\$0\.42 · working *│/,
  );
});

const HIERARCHY = `_G.begin("Rename it") _G.receive(
  { type = "tool", id = "1", title = "read src/greet.ts", status = "completed", kind = "read", summary = "3 lines" },
  { type = "tool", id = "2", title = "edit a.lua", status = "completed", kind = "edit", summary = "+1 −1",
    locations = { { path = "/p/a.lua" } }, is_diff = true, output = "@@ -1,1 +1,1 @@\\n-local old\\n+local new" },
  { type = "tool", id = "3", title = "run make", status = "pending", kind = "execute" },
  { type = "approval", request = 1, kind = "file", tool = "3", title = "run make", reason = "It writes.",
    files = {}, left_out = 0 })`;

Deno.test("the user's message and what waits stand out, and calls are aligned without a change of their text", async () => {
  await using editor = await start({ columns: 100, lines: 40, lua: "vim.o.termguicolors = true" });
  const { nvim } = editor;
  await nvim.lua(HIERARCHY);
  await nvim.waitForScreen(/│ ❯ Rename it +│\n[^]*│ ✓ read {3}src\/greet\.ts +3 lines/);
  const place = (text: string) => {
    const at = nvim.locate(text);
    assert.ok(at, `${text} is on the screen:\n${nvim.text()}`);
    return at;
  };
  const subjects = ["src/greet.ts", "a.lua", "make "].map((text) => place(text).column);
  const details = ["3 lines", "+1 −1", "waiting for your answer"].map((text) => place(text).column);
  assert.deepEqual([new Set(subjects).size, new Set(details).size], [1, 1], nvim.text());
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("gg/edit a.lua  +1<CR>yy<CR>");
  assert.equal(await nvim.lua(`return vim.fn.getreg('"')`), "✓ edit a.lua  +1 −1\n");
  await nvim.waitForScreen("-local old");

  // Each has one background from the margin to the border.
  const left = place("❯").column, right = place("╮").column - 1;
  const background = (text: string) => {
    const { row } = place(text);
    const all = Array.from({ length: right - left + 1 }, (_, at) => nvim.highlightAt(row, left + at).bg);
    assert.equal(new Set(all).size, 1, `${text} has one background: ${all}`);
    return all[0];
  };
  const plain = background("3 lines");
  assert.equal(nvim.highlightAt(place("❯").row, left - 1).bg, plain, "the margin");
  const kinds = ["Rename it", "? run", "-local old", "+local new"].map(background);
  assert.equal(new Set([plain, ...kinds]).size, 5, kinds.join(" "));

  // A narrow window has no column for details, and no line that fits is wrapped.
  await nvim.resize(40, 40);
  await nvim.waitForScreen(/│ ✓ read {3}src\/greet\.ts {2}3 lines +│/);
  await nvim.resize(70, 40);
  await nvim.waitForScreen(/│ ✓ read {3}src\/greet\.ts {4,}3 lines +│/);
});

Deno.test("a message that wraps has its number where it fits: in its last row, else below", async () => {
  await using editor = await start({ columns: 40, lines: 34 });
  const { nvim } = editor;
  const rest = "and this part of it fills the last row";
  await nvim.lua(`_G.begin("A message that is longer than its window") _G.receive({ type = "turn", turn = 1 },
    { type = "turn_done", reason = "end_turn" },
    { type = "user", text = "A message that is longer than its window, ${rest}", turn = 2 },
    { type = "user", text = "Two\\nlines", turn = 3 },
    { type = "user", text = "A message that ends in a row which has no room left for it", turn = 4 })`);
  await nvim.waitForScreen(
    new RegExp([
      "❯ A message that is longer than its +│",
      "window +turn 1 +│\n│ +│",
      "❯ A message that is longer than its +│",
      "window, and this part of it fills +│",
      "the last row +turn 2 +│\n│ +│",
      "❯ Two +turn 3 +│\n│   lines +│\n│ +│",
      "❯ A message that ends in a row which +│",
      "has no room left for it +│",
      "turn 4 +│",
    ].join("\n│ +")),
  );
});

Deno.test("in splits, options for all windows and plugins that set every winbar change nothing in the chat's", async () => {
  await using editor = await start({
    columns: 100,
    lines: 24,
    ui: `layout = "right", width = 60`,
    lua: `vim.o.number, vim.o.signcolumn, vim.o.cursorcolumn, vim.o.list = true, "yes", true, true
      vim.o.wrap, vim.o.scrolloff, vim.o.conceallevel = false, 8, 3
      vim.o.foldmethod, vim.o.foldexpr = "expr", "v:lua.Fold()"
      function Fold() if vim.bo.filetype:find("agent") then _G.folded = true end return 0 end
      vim.o.laststatus, vim.o.cmdheight, vim.o.winbar = 3, 0, "of all"
      vim.api.nvim_create_augroup("looks", {})
      vim.api.nvim_create_autocmd({ "WinEnter", "CursorMoved" }, { group = "looks", callback = function() vim.wo.winbar = "one" end })
      function All(text)
        for _, win in ipairs(vim.api.nvim_list_wins()) do
          vim.api.nvim_set_option_value("winbar", text, { win = win })
        end
      end`,
  });
  const { nvim } = editor;
  await nvim.lua(`_G.begin("Rename it") vim.cmd.redraw() _G.folded = nil _G.receive(${READY},
    { type = "text", message = "m", text = "a\\tb **c** with words enough to be wrapped at the sixty columns of it" },
    { type = "turn_done", reason = "end_turn" })`);
  const whole = (text: string) =>
    /│ claude-opus-4-5 · .* · ready *\n/.test(text) && /│ +<CR> send .*g\? keys *\n/.test(text) &&
    /│ ❯ Rename it *\n/.test(text) && /│ a +b .*c.* with words enough.*\n.*│ \S/.test(text) &&
    /^(one|of all)/m.test(text);
  await nvim.waitForScreen(whole);
  const before = nvim.paints.length;
  await nvim.lua(`for round = 1, 20 do vim.defer_fn(function() All("one") end, round) end`);
  await nvim.keys("<C-w>k<C-w>j<C-w>h<C-w>l");
  await nvim.waitForScreen(whole);
  await nvim.lua(`vim.wait(40)`);
  assert.ok(whole(nvim.text()), nvim.text());
  assert.ok(nvim.paints.length - before < 20, "their line is never drawn");
  assert.equal(await nvim.lua("return _G.folded"), undefined);

  // What saves by itself sends nothing, `:w` does; a session file brings the user's windows back.
  await nvim.lua(`local function save() vim.cmd("silent! write") end
    vim.api.nvim_create_autocmd({ "InsertLeave", "BufLeave" }, { group = "looks", nested = true, callback = save })
    vim.api.nvim_create_autocmd("InsertLeave", { group = "looks", nested = true, command = "silent! wall" })
    vim.g.sent = 0
    require("agent.client").send = function(action)
      vim.g.sent = vim.g.sent + (action.type == "prompt" and 1 or 0)
    end`);
  await nvim.keys("ia draft<Esc><C-w>k<C-w>j");
  await nvim.waitForScreen(/│ a draft/);
  assert.equal(await nvim.lua("return vim.g.sent"), 0);
  await nvim.keys(":w<CR>");
  await nvim.waitForScreen("❯ a draft");
  assert.equal(await nvim.lua("return vim.g.sent"), 1);
  await nvim.keys("q");
  await nvim.waitForScreen((text) => !text.includes("ready") && /^ *one/.test(text));
  // The message is logged: it is no draft.
  await nvim.lua(`_G.receive({ type = "turn", turn = 1 }) vim.api.nvim_del_augroup_by_name("looks")`);
});

Deno.test("everything can be read with Neovim's colour schemes, and those who set a group have theirs", async () => {
  await using editor = await start({ columns: 80, lines: 50, lua: "vim.o.termguicolors = true" });
  const { nvim } = editor;
  await nvim.lua(`_G.begin("Rename it") _G.receive(${READY},
    { type = "tool", id = "1", title = "edit b.ts", status = "completed", kind = "edit", summary = "+3 −1" },
    { type = "tool", id = "2", title = "run tests", status = "failed", kind = "execute", summary = "exit 1" },
    { type = "tool", id = "3", title = "run more", status = "stopped", kind = "execute" },
    { type = "notice", severity = "info", text = "A notice." },
    { type = "notice", severity = "warning", text = "A warning." },
    { type = "notice", severity = "error", text = "An error." }, { type = "text", message = "m", text = "Text" },
    { type = "approval", request = 1, kind = "file", tool = "3", title = "write .env", reason = "It is secret.",
      files = { { path = ".env", before = "one\\n", after = "two\\n" } }, left_out = 0 })`);
  await nvim.waitForScreen("R with reason");
  const words = [
    "Rename it",
    "✓ edit",
    "b.ts",
    "+3",
    "−1",
    "✗ run",
    "? run",
    "A notice",
    "A warning",
    "An error",
  ];
  for (const scheme of ["default", "vim", "habamax", "blue", "morning", "shine", "sorbet"]) {
    for (const background of ["dark", "light"]) {
      await nvim.command(`set background=${background} | colorscheme ${scheme} | redraw`);
      await nvim.waitForScreen(/Rename it[^]*R with reason/);
      for (
        const text of [
          ...words,
          "Text",
          "It is secret",
          "-one",
          "+two",
          "Approval",
          "R with reason",
          "g? keys",
        ]
      ) {
        const at = nvim.locate(text);
        assert.ok(at, `${text} is on the screen:\n${nvim.text()}`);
        const { fg, bg } = nvim.highlightAt(at.row, at.column);
        const much = contrast(fg, bg).toFixed(1);
        assert.ok(contrast(fg, bg) >= 3, `${scheme} ${background}: ${text} has ${fg} on ${bg}, ${much}`);
      }
      // Keys and lines at the border have no background but the float's.
      const edges = [["A notice", "g? keys"], ["A notice", "╭ Agent"], [
        "It is secret",
        "╭ Approval",
      ]] as const;
      for (const [inside, border] of edges) {
        const [expected, bg] = [inside, border].map((text) => {
          const { row = 0, column = 0 } = nvim.locate(text) ?? {};
          return nvim.highlightAt(row, column).bg;
        });
        assert.equal(bg, expected, `${scheme} ${background}: ${border}`);
      }
    }
  }
  await nvim.lua(`vim.api.nvim_set_hl(0, "AgentError", { fg = "#123456" }) vim.cmd.doautocmd("ColorScheme")`);
  assert.equal(await nvim.lua(`return vim.api.nvim_get_hl(0, { name = "AgentError" }).fg`), 0x123456);
  // A terminal with 16 colours has numbers.
  await nvim.command("set notermguicolors background=dark | colorscheme vim");
  assert.equal(await nvim.lua(`return vim.api.nvim_get_hl(0, { name = "AgentNormal" }).link`), "Normal");
  await nvim.command("colorscheme default");
});

Deno.test("diffs of a language without a parser have its colours, in the chat and in an approval", async () => {
  const before = `"""A text\nreturn x\n"""\nreturn "one"\n`;
  const after = before.replace(`return "one"`, `return "two"  # new`);
  await using editor = await start({
    columns: 80,
    lines: 40,
    options: `review = { show_diffs = "open" }`,
    lua: "vim.o.termguicolors = true",
  });
  const { nvim } = editor;
  const output = `@@ -1,4 +1,4 @@\n """A text\n return x\n """\n-return "one"\n+return "two"  # new`;
  await nvim.lua(
    `local output, before, after = ...
    _G.begin("Rename it") _G.receive(${READY}, { type = "tool", id = "1", title = "edit a.py", status = "completed",
      kind = "edit", locations = { { path = "a.py" } }, is_diff = true, output = output },
      { type = "approval", request = 1, kind = "file", tool = "3", title = "write b.py", reason = "It is new.",
        files = { { path = "b.py", before = before, after = after } }, left_out = 0 })`,
    output,
    before,
    after,
  );
  await nvim.waitForScreen(/ {2}\+return "two" {2}# new[^]*Approval[^]*\+return "two" {2}# new/);
  const color = async (group: string) => {
    const found = await nvim.lua<number>(
      `return vim.api.nvim_get_hl(0, { name = "${group}", link = false }).fg`,
    );
    return `#${found.toString(16).padStart(6, "0")}`;
  };
  const string = await color("String");
  const colored = () => {
    const rows = nvim.screen().entries().filter(([, line]) => /[-+]return "(one|two)"/.test(line));
    return [...rows].map(([row, line]) => nvim.highlightAt(row, line.indexOf('"')).fg);
  };
  await nvim.waitForScreen(() => colored().join() === [string, string, string, string].join());
  const rows = [...nvim.screen().entries().filter(([, line]) => /[-+]return "two"/.test(line))];
  assert.equal(rows.length, 2);
  for (const [row, line] of rows) {
    const styles = ["+", "return", '"two"', "# new"].map((text) => nvim.highlightAt(row, line.indexOf(text)));
    assert.equal(new Set(styles.map(({ bg }) => bg)).size, 1, "the colour of an added line");
    assert.notEqual(styles[1]?.fg, styles[2]?.fg);
    const inText = nvim.screen().findIndex((text, at) => at > row - 5 && at < row && / return x/.test(text));
    assert.equal(
      nvim.highlightAt(inText, nvim.screen()[inText]?.indexOf("return") ?? 0).fg,
      string,
      "of a text",
    );
  }
  // Groups that cannot be read on such lines are left out.
  await nvim.lua(`vim.api.nvim_set_hl(0, "String", { fg = vim.api.nvim_get_hl(0, { name = "DiffAdd" }).bg })
    require("agent.approval.window").redraw()`);
  const added = await color("AgentDiffAdd");
  const [, [row, line] = [0, ""]] = rows;
  await nvim.waitForScreen(() => nvim.highlightAt(row, line.indexOf('"')).fg === added);
  await nvim.command("colorscheme default");
});
