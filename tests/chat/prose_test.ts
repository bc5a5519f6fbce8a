/** Prose is shown without its marks where the cursor is not; names, code and calls are shown as they are. */
import assert from "node:assert/strict";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";

const PROSE = `Some **bold text** and *this* with snake_case and __init__.py, 2 * 3 * 4.
See [the guide](https://a.example/x), and [more](https://a.example/${"long/".repeat(9)}).

- **One** of \`code **x**\`

\`\`\`json
{"key": "b **c**"}
\`\`\`
---

The **end** of it.
`;

const SHOWN = [
  "❯ **Go** to __main__",
  "✓ write  src/__init__.py **x**",
  "Some bold text and this with snake_case and __init__.py, 2 * 3 * 4.",
  "See the guide, and [more](https://a.example/long/",
  "• One of code **x**",
  '{"key": "b **c**"}',
  "─".repeat(60),
  "The end of it.",
  "✓ run    **/*.ts *a*",
];

Deno.test("marks, short addresses and breaks are hidden, also as they stream in; nothing else is", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 100, lines: 40, cwd: PLUGIN });
  await nvim.lua(`vim.g.agent = { ui = { spinner = false } }
    require("agent.client").send = function() end`);
  const receive = (...updates: readonly Readonly<Record<string, unknown>>[]) =>
    nvim.lua(
      `require("agent.approval") return require("agent.client").receive(...)`,
      updates.map((update) => ({ chat: 1, ...update })),
    );
  const call = (id: string, title: string) => ({
    type: "tool",
    id,
    title,
    status: "completed",
    kind: "edit",
  });
  await nvim.command("Agent **Go** to __main__");
  await nvim.keys("<Esc>");
  await receive({ type: "turn_started" }, call("a", "write src/__init__.py **x**"));
  // As it streams in, in pieces that split the marks.
  for (let at = 0; at < PROSE.length; at += 7) {
    await receive({ type: "text", message: "m", text: PROSE.slice(at, at + 7) });
  }
  await receive(call("b", "run **/*.ts *a*"));
  await nvim.waitForScreen((text) => SHOWN.every((line) => text.includes(line)));

  // Where the cursor is, and what is yanked, is what was written.
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("gg/Some<CR>");
  await nvim.waitForScreen("Some **bold text** and *this* with");
  await nvim.keys("yyj");
  await nvim.waitForScreen("Some bold text and this with");
  await nvim.waitForScreen("See [the guide](https://a.example/x)");
  assert.match(await nvim.lua<string>(`return vim.fn.getreg('"')`), /^Some \*\*bold text\*\* and/);
  // A link leads where it says.
  await receive({
    type: "text",
    message: "n",
    text: "Look at [the name](./deno.json#L2-L3), or at [x](y).\n",
  });
  await nvim.keys("G/the name<CR>gf");
  await nvim.waitFor(
    `vim.fs.basename(vim.api.nvim_buf_get_name(0)) == "deno.json" and vim.fn.line(".") == 2`,
  );
});

Deno.test("what would hide quotes in code hides none, and a chat beside is no wider than lines are read", async () => {
  // Lua is a parser that Neovim brings; its query is made to hide.
  const lua = `vim.g.agent = { ui = { spinner = false, layout = "right" } }
    local text = table.concat(vim.iter(vim.treesitter.query.get_files("lua", "highlights")):map(function(path)
      return table.concat(vim.fn.readfile(path), "\\n")
    end):totable(), "\\n")
    local folder = vim.fn.tempname() .. "/queries/lua"
    vim.fn.mkdir(folder, "p")
    vim.fn.writefile(vim.split(text .. "\\n((string) @string (#set! conceal \\"X\\"))", "\\n"), folder .. "/highlights.scm")
    vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(folder)))`;
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN], columns: 300, lines: 20, lua });
  await nvim.lua(`require("agent.client").send = function() end`);
  await nvim.command("Agent Go");
  const text = "So **it** is:\n```lua\nlocal name = 'world'\n```\nThe end.\n";
  await nvim.lua(
    `require("agent.approval") return require("agent.client").receive(...)`,
    [{ type: "turn_started", chat: 1 }, { type: "text", chat: 1, message: "m", text }],
  );
  await nvim.waitForScreen((shown) => shown.includes("So it is:") && shown.includes("local name = 'world'"));
  const transcript = `require("agent.chat").current().windows.transcript`;
  assert.equal(await nvim.lua(`return vim.api.nvim_win_get_width(${transcript})`), 100);
  // It would have: that is how other buffers show it.
  await nvim.lua(
    `vim.cmd.tabnew() vim.bo.filetype = "lua" vim.wo.conceallevel = 2 vim.treesitter.start(0, "lua")
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "", "local name = 'world'" })`,
  );
  await nvim.waitForScreen("local name = X");
});
