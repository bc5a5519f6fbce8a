import assert from "node:assert/strict";
import { cropped, withBlock, withEntries, withTable } from "./help.ts";

/** The tag's line, as the help has it. */
const tag = (name: string) => `*${name}*`.padStart(78);

const HELP = [
  tag("x-one"),
  "one {a}",
  "        Old words.",
  "",
  "        By hand.",
  "",
  tag("x-gone"),
  "gone",
  "        It is no more.",
  "",
  "Other things ~",
  tag("y"),
  "Text before >",
  "    old",
  "<",
  "key  does ~",
  "q    closes",
  "",
  "Text after.",
].join("\n");

Deno.test("an entry gets its head, a new one stands behind the one before it, and others go", () => {
  const of = [
    { tag: "x-one", heading: "one {b}", doc: "New words." },
    { tag: "x-two", heading: "two", doc: `Long ${"words ".repeat(14)}end.` },
    { tag: "x-three", heading: "three" },
  ];
  const text = withEntries(HELP, { like: "^x-", of });
  assert.deepEqual(text.split("\n").slice(0, 18), [
    tag("x-one"),
    "one {b}",
    "        New words.",
    "",
    "        By hand.",
    "",
    tag("x-two"),
    "two",
    `        Long ${"words ".repeat(11).trim()}`,
    "        words words words end.",
    "",
    tag("x-three"),
    "three",
    "",
    "Other things ~",
    tag("y"),
    "Text before >",
    "    old",
  ]);
  assert.equal(withEntries(text, { like: "^x-", of }), text);
});

Deno.test("a table is as wide as its cells, and wraps its last column; a code block is indented", () => {
  const rows = [["<Space>", "chooses"], ["q", `closes ${"it ".repeat(25)}again`]];
  const text = withTable(HELP, { tag: "y", head: ["key", "does"], rows, more: ["below"], tags: "t-" });
  assert.deepEqual(text.split("\n").slice(15, 23), [
    "key      does ~",
    tag("t-<Space>"),
    "<Space>  chooses",
    "        below",
    tag("t-q"),
    `q        closes ${"it ".repeat(21).trim()}`,
    `         ${"it ".repeat(4)}again`,
    "",
  ]);
  const block = withBlock(HELP, { tag: "y", lines: ["new", "", " two"] });
  assert.ok(block.includes("Text before >\n    new\n\n     two\n<\nkey"), block);
  assert.throws(() => withBlock(HELP, { tag: "nowhere", lines: [] }), /nothing to write after \*nowhere\*/);
});

Deno.test("of a screen the rows from a text on are shown, or windows without what stands beside them", () => {
  const screen = ["~  ╭ One ╮", "漢 │ text│ x", "╭ Two ───╮", "│ more   │", "╰────────╯", "~  ╰─────╯", "~"]
    .join("\n");
  assert.deepEqual(cropped(screen, { from: "more", rows: 2 }), ["│ more   │", "╰────────╯"]);
  assert.deepEqual(cropped(screen, { from: "Two", windows: 1 }), ["╭ Two ───╮", "│ more   │", "╰────────╯"]);
  assert.equal(cropped(screen, { from: "One", windows: 2 }).at(-1), "~  ╰─────╯");
  assert.throws(() => cropped(screen, { from: "nothing" }), /the screen has no "nothing"/);
});
