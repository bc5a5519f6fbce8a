/** What a user sees of a review: whole screens at two sizes, and the colours on both backgrounds. */
import assert from "node:assert/strict";
import type { ChildNvim } from "../support/nvim.ts";
import { reviewedShared, settledSoon, turn, write } from "../support/review.ts";
import { expectScreen } from "../support/screenshot.ts";

const BEFORE = [
  "#!/bin/sh",
  "# greets whoever is named, and the world if nobody is",
  "greet() {",
  "\techo hello $1",
  "}",
  "",
  "greet world",
  "greet again",
  "# a comment that is longer than the window of eighty columns is wide, so that it has to be shown on two lines, or three",
  "exit 0",
];
const AFTER = [
  "# greets whoever is named, and the world if nobody is",
  "greet() {",
  '\techo "hello ${1:-world}"',
  '\techo "how are you?"',
  "}",
  "",
  "greet again",
  "# shorter",
];

const QUIET = `require("agent").setup({ ui = { notify = false } })`;

for (const background of ["dark", "light"]) {
  for (const [columns, rows] of [[80, 24], [120, 40]] as const) {
    Deno.test(`a review at ${columns}×${rows} on a ${background} background`, async () => {
      await using agent = await reviewedShared({
        script: turn(write(AFTER.join("\n") + "\n")),
        project: { "a.txt": BEFORE.join("\n") + "\n" },
        columns,
        lines: rows,
        before: async ({ nvim }) => {
          await nvim.lua(QUIET);
          await nvim.command(`set background=${background} number termguicolors`);
        },
      });
      const { nvim } = agent;
      await settledSoon(agent, 4);
      await nvim.keys("gg]r");
      await nvim.command("echo");
      await nvim.waitForScreen("2 of 4");
      // One file for both: the text must be the same.
      await expectScreen(nvim, `review-${columns}x${rows}`);
      await colours(nvim);
      if (columns === 80 && background === "dark") {
        await nvim.resize(40, 15);
        await nvim.keys("]r[r");
        // Its line has no room for the keys.
        await nvim.waitForScreen(/world}" +2\/4$/m);
        await nvim.command("Agent review");
        await nvim.waitForScreen(/(.*\n){7}.* 1,1 .*\n(.*a\.txt\|.*\n)/);
      }
    });
  }
}

async function colours(nvim: ChildNvim): Promise<void> {
  const group = (name: string) =>
    nvim.lua<{ fg?: number; bg?: number }>(
      "return vim.api.nvim_get_hl(0, { name = ..., link = false })",
      name,
    );
  const plain = background(nvim, "greet again");
  for (
    const [text, name] of [
      ['echo "how are you?"', "DiffAdd"],
      ["# shorter", "DiffAdd"],
      ["#!/bin/sh", "AgentDiffDelete"],
      ["echo hello $1", "AgentDiffDelete"],
      ["exit 0", "AgentDiffDelete"],
    ] as const
  ) {
    const { bg } = await group(name);
    const expected = bg === undefined ? plain : `#${bg.toString(16).padStart(6, "0")}`;
    assert.equal(background(nvim, text), expected, `${text} is drawn as ${name}`);
    assert.notEqual(background(nvim, text, 40), "", text);
  }
  // To the end of the window, so that a hunk is a block.
  for (const text of ["#!/bin/sh", "exit 0"]) {
    const last = [...nvim.screen()[0] ?? ""].length - 1 - (nvim.locate(text)?.column ?? 0);
    assert.equal(background(nvim, text, last), background(nvim, text), text);
    assert.notEqual(background(nvim, text), plain, text);
  }
  const { bg } = await group("DiffAdd");
  assert.ok(bg !== undefined, "this colour scheme has a background for added lines");
  assert.notEqual(background(nvim, "# shorter", 50), plain);
  const { fg } = await group("AgentDiffDelete");
  const place = nvim.locate("#!/bin/sh");
  assert.ok(place !== undefined && fg !== undefined);
  assert.equal(nvim.highlightAt(place.row, place.column).fg, `#${fg.toString(16).padStart(6, "0")}`);
}

function background(nvim: ChildNvim, text: string, further = 0): string {
  const place = nvim.locate(text);
  assert.ok(place !== undefined, `${text} is on the screen`);
  return nvim.highlightAt(place.row, place.column + further).bg;
}

Deno.test("added lines can be read in a terminal with 256 colours, also where tree-sitter colours them", async () => {
  await using agent = await reviewedShared({
    script: `call read_file {"path": "b.lua"}\n---\n${write('local b = "text"\n', "b.lua")}\n---\nsay Done.`,
    project: { "b.lua": "-- empty\n" },
    files: ["b.lua"],
    before: async ({ nvim }) => {
      await nvim.lua(`${QUIET} vim.treesitter.start(0, "lua")`);
      await nvim.command("set notermguicolors");
    },
  });
  const { nvim } = agent;
  await settledSoon(agent, 1);
  const style = () => {
    const at = nvim.locate('"text"');
    assert.ok(at, nvim.text());
    return nvim.highlightAt(at.row, at.column + 1);
  };
  const { fg, bg } = await nvim.lua<{ fg?: number; bg?: number }>(
    `local group = vim.api.nvim_get_hl(0, { name = "DiffAdd" }) return { fg = group.ctermfg, bg = group.ctermbg }`,
  );
  assert.notEqual(fg, bg);
  await nvim.waitForScreen('"text"');
  await nvim.waitForScreen(() => style().terminal.fg === fg && style().terminal.bg === bg);
  // With more colours a string has its own.
  await nvim.command("set termguicolors");
  const string = await nvim.lua<number>(`return vim.api.nvim_get_hl(0, { name = "String" }).fg`);
  await nvim.waitForScreen(() => style().fg === `#${string.toString(16).padStart(6, "0")}`);
});

Deno.test("lines removed at the very top are seen, also after coming back to it", async () => {
  const long = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`);
  await using agent = await reviewedShared({
    script: turn(write(long.slice(2).join("\n") + "\n")),
    project: { "a.txt": long.join("\n") + "\n" },
    before: ({ nvim }) => nvim.lua(`require("agent").setup()`),
  });
  const { nvim } = agent;
  const top = () => nvim.screen().slice(0, 3).map((row) => row.replace(/ (1 of|\d+ gr).*/, "").trimEnd());
  await nvim.waitForScreen("line 2");
  assert.deepEqual(top(), ["line 1", "line 2", "line 3"]);
  await nvim.keys("G");
  await nvim.waitForScreen("line 60");
  await nvim.keys("gg");
  await nvim.waitForScreen(/^line 2$/m);
  assert.deepEqual(top(), ["line 1", "line 2", "line 3"]);
});

Deno.test("what was removed is drawn anew for another width", async () => {
  await using agent = await reviewedShared({
    script: turn(write("short\n")),
    project: { "a.txt": `${"word ".repeat(30)}\n` },
    before: ({ nvim }) => nvim.lua(QUIET),
  });
  const { nvim } = agent;
  const removedRows = () =>
    nvim.screen().filter((row) => row.startsWith("word") || row.startsWith("ord")).length;
  await nvim.waitForScreen("short");
  assert.equal(removedRows(), 2);
  await nvim.waitForScreen(/^short +1 of 1 · grk keep · gru undo · \]r next$/m);
  await nvim.resize(40, 24);
  // Whole words, or the keys alone.
  await nvim.waitForScreen(/^short +1\/1 grk gru \]r$/m);
  await nvim.waitForScreen((text) => text.split("\n").filter((row) => row.includes("word")).length === 4);
});
