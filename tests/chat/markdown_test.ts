/** The markdown of an answer is drawn over its text, which stays. No engine is needed. */
import assert from "node:assert/strict";
import type { ChildNvim } from "../support/nvim.ts";
import { receive, sharedEditor } from "../support/shared_editor.ts";

interface Chat extends AsyncDisposable {
  readonly nvim: ChildNvim;
  /** Text of an answer, in pieces. */
  stream(text: string): Promise<void>;
  /** The turn ends. */
  end(): Promise<void>;
  /** The cursor's window becomes the transcript. */
  enter(): Promise<void>;
}

/** @param columns of text; the margin takes one more */
async function start(columns: number, options = "", lua = ""): Promise<Chat> {
  const editor = await sharedEditor({
    options: `ui = { spinner = false, layout = "current", ${options} }`,
    columns: columns + 1,
    lines: 60,
    lua,
  });
  const { nvim } = editor;
  await nvim.command("Agent Go");
  await nvim.keys("<Esc>");
  await receive(nvim, { type: "turn_started" });
  return {
    nvim,
    async stream(text) {
      for (let at = 0; at < text.length; at += 7) {
        await receive(nvim, { type: "text", message: "m", text: text.slice(at, at + 7) });
      }
    },
    async end() {
      await receive(nvim, { type: "turn_done", reason: "end_turn" });
    },
    async enter() {
      await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
    },
    [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
  };
}

const ANSWER = `# A plan

Call \`greet()\` &mdash; see [it](https://a.example/)[^1].

- read
  - \`a.ts\`
    - deeper
- [x] write
- [ ] run

> A quote that is long enough to wrap in this window, for it goes on and on.
> > and another

- > in a list
  > goes on

\`\`\`lua
local x = "**no**"
\`\`\`

---

[^1]: A footnote.
`;

const DRAWN = [
  "A plan",
  "",
  "Call greet() — see it¹.",
  "",
  "• read",
  "  ◦ a.ts",
  "    ▪ deeper",
  "☑ write",
  "☐ run",
  "",
  "▎ A quote that is long enough to wrap in this window, for",
  "▎ it goes on and on.",
  "▎ ▎ and another",
  "",
  "• ▎ in a list",
  "  ▎ goes on",
  "",
  "lua",
  'local x = "**no**"',
  "",
  "",
  "─".repeat(60),
  "",
  "¹: A footnote.",
];

const shows = (lines: readonly string[]) => (screen: string) =>
  screen.split("\n").map((line) => line.replace(/^ /, "").trimEnd()).join("\n").includes(
    `\n${lines.join("\n")}\n`,
  );

Deno.test("headings, lists, tasks, quotes, code, rules and footnotes are drawn; the text stays", async () => {
  await using chat = await start(60);
  const { nvim } = chat;
  await chat.stream(ANSWER);
  await chat.end();
  await nvim.waitForScreen(shows(DRAWN));
  // Search finds the source, and its line shows it; so does what is yanked.
  await chat.enter();
  await nvim.keys("gg/- \\[x\\]<CR>");
  await nvim.waitForScreen("- [x] write");
  await nvim.keys("/^```lua<CR>V2jy");
  await nvim.waitForScreen("☑ write");
  assert.equal(
    await nvim.lua(`return vim.fn.getreg('"')`),
    '```lua\nlocal x = "**no**"\n```\n',
  );
  // 'conceallevel' of the window switches the drawing off and on.
  await nvim.command("setlocal conceallevel=0");
  await nvim.waitForScreen((screen) => screen.includes("# A plan") && screen.includes("- [ ] run"));
});

const TABLE = `| File | What it does | Size |
|:-----|:------------:|-----:|
| \`a.ts\` | **greets** the user | 12 |
| b\\|c.ts | 漢字 🎉 | 3 |
`;

const TABLE_DRAWN = [
  "│ File   │  What it does   │ Size │",
  "├────────┼─────────────────┼──────┤",
  "│ a.ts   │ greets the user │   12 │",
  "│ b|c.ts │     漢字 🎉     │    3 │",
];

Deno.test("a table is drawn once it is whole, also at the end of an answer; before, its lines do not move", async () => {
  await using chat = await start(60);
  const { nvim } = chat;
  await chat.stream(`${TABLE}| last`);
  await nvim.waitForScreen("| last");
  assert.match(nvim.text(), /\n \| a\.ts \| greets the user \| 12 \|\n/);
  await chat.stream(" | row | 1 |\n\nMore.\n\n");
  await nvim.waitForScreen(shows([...TABLE_DRAWN.slice(0, 3), "│ b|c.ts │     漢字 🎉     │    3 │"]));
  await chat.stream(TABLE.trimEnd());
  await chat.end();
  await nvim.waitForScreen(
    shows([...TABLE_DRAWN, "│ last   │       row       │    1 │", "", "More.", "", ...TABLE_DRAWN]),
  );
  // The cursor's row shows its source.
  await chat.enter();
  await nvim.keys("gg/b\\\\|c<CR>");
  await nvim.waitForScreen((screen) =>
    screen.includes("\n | b\\|c.ts | 漢字 🎉 | 3 |") && screen.includes("│ a.ts")
  );
});

const WIDE = `Before.

| File | What it does and why it is here | Risk |
|---|---|---|
| src/greet.ts | Builds the greeting from a name and a language; falls back to English | low |
| src/cli.ts | Reads arguments<br>Prints the greeting | medium |

After.
`;

Deno.test("the cells of a wide table wrap, in a narrow window it is a list of records; both follow the width", async () => {
  await using chat = await start(60);
  const { nvim } = chat;
  await chat.stream(WIDE);
  await chat.end();
  await nvim.waitForScreen(shows([
    "Before.",
    "",
    "│ File         │ What it does and why it is here  │ Risk   │",
    "├──────────────┼──────────────────────────────────┼────────┤",
    "│ src/greet.ts │ Builds the greeting from a name  │ low    │",
    "│              │ and a language; falls back to    │        │",
    "│              │ English                          │        │",
    "├──────────────┼──────────────────────────────────┼────────┤",
    "│ src/cli.ts   │ Reads arguments                  │ medium │",
    "│              │ Prints the greeting              │        │",
    "",
    "After.",
  ]));
  await nvim.lua("vim.o.columns = 35");
  await nvim.waitForScreen(
    shows([
      "─".repeat(34),
      "File           src/greet.ts",
      "What it does   Builds the greeting",
      "and why it is  from a name and a",
      "here           language; falls",
      "               back to English",
      "Risk           low",
      "─".repeat(34),
      "File           src/cli.ts",
      "What it does   Reads arguments",
      "and why it is  Prints the greeting",
      "here",
      "Risk           medium",
      "─".repeat(34),
      "",
      "After.",
    ]),
  );
  await nvim.lua("vim.o.columns = 120");
  await nvim.waitForScreen(
    /\n │ src\/cli.ts {3}│ Reads arguments +│ medium │ *\n │ +│ Prints the greeting +│ +│ *\n *\n After/,
  );
});

const TALL = `| File | What it does |
|---|---|
| a.ts | Reads arguments<br>Prints the greeting |
| b.ts | Exits |

After.
`;
const TALL_SOURCE = TALL.trimEnd().split("\n");
const TALL_DRAWN = [
  "│ File │ What it does        │",
  "├──────┼─────────────────────┤",
  "│ a.ts │ Reads arguments     │",
  "│      │ Prints the greeting │",
  "│ b.ts │ Exits               │",
  "",
  "After.",
];

Deno.test("a tall row stays drawn under the cursor; its table is source where windows differ, and without drawing", async () => {
  await using chat = await start(100);
  const { nvim } = chat;
  await chat.stream(TALL);
  await chat.end();
  await nvim.waitForScreen(shows(TALL_DRAWN));
  await chat.enter();
  await nvim.keys("gg/a.ts<CR>V");
  await nvim.waitForScreen(shows(TALL_DRAWN));
  await nvim.keys("y");
  assert.equal(await nvim.lua(`return vim.fn.getreg('"')`), `${TALL_SOURCE[2]}\n`);
  await nvim.command("setlocal conceallevel=0");
  await nvim.waitForScreen(shows(TALL_SOURCE));
  await nvim.command("setlocal conceallevel=2");
  await nvim.waitForScreen(shows(TALL_DRAWN));
  await nvim.keys("gg");
  await nvim.command("vsplit | vertical resize 40");
  // The narrow window has room for all lines of the row, the wide one has not.
  await nvim.waitForScreen((screen) =>
    screen.includes(TALL_SOURCE[2] ?? "") && screen.split("Prints the greeting").length === 3 &&
    screen.split("Exits").length === 3
  );
});

Deno.test("Neovim breaks lines where we think it does", async () => {
  await using editor = await sharedEditor({ columns: 100, lines: 40 });
  const { nvim } = editor;
  const wrong = await nvim.lua(
    `local wrap, prose = require("agent.markdown.wrap"), require("agent.ui.prose")
    prose.style(vim.api.nvim_get_current_win())
    local parts = { "a", "word", " ", " ", "  ", "-", ",", "漢字", "🎉", "| ", "\`x\`", ("long"):rep(9), "/path/to.ts", "é" }
    math.randomseed(...)
    local wrong = {}
    for _ = 1, 300 do
      local line = { (" "):rep(math.random(0, 3) * math.random(0, 12)), "| " }
      for _ = 1, math.random(60) do table.insert(line, parts[math.random(#parts)]) end
      line = table.concat(line)
      vim.o.columns = math.random(20, 100)
      vim.api.nvim_buf_set_lines(0, 0, -1, true, { line })
      vim.cmd.redraw()
      local found, last = {}, 0
      for _, start in ipairs(vim.str_utf_pos(line)) do
        local row = vim.fn.screenpos(0, 1, start).row
        if row > last then table.insert(found, start - 1) last = row end
      end
      local starts = wrap.starts(line, vim.api.nvim_win_get_width(0))
      if not vim.deep_equal(found, starts) then
        table.insert(wrong, vim.inspect({ line, vim.o.columns, found, starts }))
      end
    end
    return wrong`,
    Math.floor(Math.random() * 1_000_000),
  );
  assert.deepEqual(wrong, []);
});

Deno.test("no character of deep code is covered, nor of quotes; tables fit with an indent and the user's 'showbreak'", async () => {
  const lua = "vim.o.showbreak = '>>> '";
  await using chat = await start(40, "", lua);
  const { nvim } = chat;
  const words = "one two three four five six seven eight nine ten";
  const deep = " ".repeat(30) + words;
  const quote = `>${words}`;
  await chat.stream(`\`\`\`text\n${deep}\n\`\`\`\n\n${quote}\n\n- so:\n${TALL.replace(/^\|/gm, "  |")}`);
  await chat.end();
  await nvim.waitForScreen(
    shows(TALL_DRAWN.map((line) => line.startsWith("│") ? `  ${line}` : line).slice(2, 4)),
  );
  const text = nvim.text().replace(/[^a-z]+/g, " ");
  // Each word of both lines, whole.
  for (const word of words.split(" ")) {
    assert.equal(text.split(new RegExp(`\\b${word}\\b`)).length, 3, `${word}\n${nvim.text()}`);
  }
  // With other options the source of what wraps is shown.
  await chat.enter();
  await nvim.keys("gg");
  await nvim.command("setlocal nobreakindent");
  await nvim.command("redraw!");
  await nvim.waitForScreen((screen) => screen.includes("| a.ts | Reads arguments<br>Prints"));
  const plain = nvim.text().replace(/[^a-z]+/g, " ");
  for (const word of words.split(" ")) {
    assert.ok(plain.split(new RegExp(`\\b${word}`)).length >= 3, `${word}\n${nvim.text()}`);
  }
});

Deno.test("with ui.markdown = false, and where another plugin draws, the text is shown as it is", async () => {
  for (
    const [options, lua] of [
      ["markdown = false", ""],
      // As render-markdown.nvim does: https://github.com/MeanderingProgrammer/render-markdown.nvim, core/ui.lua.
      [
        "",
        `package.loaded["render-markdown"] = {}
      _G.drawn = vim.api.nvim_create_autocmd("FileType", { pattern = "agent", callback = function(event)
        local namespace = vim.api.nvim_create_namespace("render-markdown.nvim")
        vim.schedule(function() vim.api.nvim_buf_set_extmark(event.buf, namespace, 0, 0, {}) end)
      end })`,
      ],
    ] as const
  ) {
    await using chat = await start(60, options, lua);
    await chat.stream(`- [ ] one\n\n${TABLE}`);
    await chat.end();
    await chat.nvim.waitForScreen((screen) =>
      screen.includes("\n - [ ] one") && screen.includes("\n | File | What it does")
    );
    await chat.nvim.lua(`package.loaded["render-markdown"] = nil
      if _G.drawn then vim.api.nvim_del_autocmd(_G.drawn) end`);
  }
});

const CODE = `Code:

\`\`\`py title="a.py"
x = 'one'
"""if
not""" # end
\`\`\`

- in a list:

  \`\`\`ts
  const y = 'two';
  \`\`\`

> \`\`\`{.ruby}
> z = 'three'
> \`\`\`

\`\`\`lua
local w = 'four'
\`\`\`
`;

Deno.test("code of a language without a parser has its colours, each line once it is complete", async () => {
  await using chat = await start(60);
  const { nvim } = chat;
  await nvim.command("set termguicolors");
  const color = async (group: string) => {
    const found = await nvim.lua<number>(
      `return vim.api.nvim_get_hl(0, { name = "${group}", link = false }).fg`,
    );
    return `#${found.toString(16).padStart(6, "0")}`;
  };
  const [string, comment] = [await color("String"), await color("Comment")];
  assert.notEqual(string, comment);
  const at = (text: string) => {
    const found = nvim.locate(text);
    return found && nvim.highlightAt(found.row, found.column).fg;
  };
  await chat.stream(CODE.slice(0, CODE.indexOf("if") + 2));
  await nvim.waitForScreen(() => at("'one'") === string && at("if") !== undefined);
  assert.notEqual(at("if"), string, "not complete yet");
  // Its line stays as it is, and is complete with the next one.
  await chat.stream(CODE.slice(CODE.indexOf("if") + 2, CODE.indexOf('not"""') + 2));
  await nvim.waitForScreen(() => at("'one'") === string && at("if") === string);
  assert.notEqual(at("no"), string, "not complete yet");
  await chat.stream(CODE.slice(CODE.indexOf('not"""') + 2));
  await nvim.waitForScreen(() => at("not") === string && at("# end") === comment);
  await nvim.waitForScreen(() => ["two'", "three'", "four'"].every((text) => at(text) === string));
  const { row = 0, column = 0 } = nvim.locate("'two'") ?? {};
  assert.equal(
    nvim.highlightAt(row, column).bg,
    nvim.highlightAt(row, column + 20).bg,
    "on the block's background",
  );
  // Text around the code is not coloured, and the user's choice counts.
  await nvim.command("syntax off | redraw!");
  await nvim.waitForScreen(() => at("'one'") !== string && at("'four'") === string);
  await nvim.command("syntax on");
});

Deno.test("the name of a code block opens no window, runs nothing and switches nothing off", async () => {
  await using chat = await start(60);
  const { nvim } = chat;
  const names = [
    "nosyntax",
    "hitest",
    "2html",
    "../nosyntax",
    "py|let g:ran=1",
    "$VIMRUNTIME/syntax/hitest.vim",
  ];
  const windows = await nvim.lua("return #vim.api.nvim_list_wins()");
  await chat.stream(names.map((name) => `\`\`\`${name}\nif 1: pass\n\`\`\`\n\n`).join("") + "The end.");
  await chat.end();
  await nvim.waitForScreen("The end.");
  const [open, syntax, ran] = await nvim.lua<[number, number, string]>(
    `return { #vim.api.nvim_list_wins(), vim.g.syntax_on, vim.g.ran or "not" }`,
  );
  assert.deepEqual([open, syntax, ran], [windows, 1, "not"]);
});

Deno.test("an error of the drawing shows the source, and asks for no key", async () => {
  await using chat = await start(60);
  const { nvim } = chat;
  await nvim.lua(`local drawing = require("agent.markdown.table")
    _G.draw, drawing.draw = drawing.draw, function() error("it is broken") end`);
  await chat.stream(TABLE);
  await chat.end();
  await nvim.waitForScreen("it is broken");
  await nvim.waitForScreen("| File | What it does | Size |");
  await nvim.waitFor(`vim.api.nvim_get_mode().mode == "n"`);
  await nvim.lua(`require("agent.markdown.table").draw = _G.draw`);
});
