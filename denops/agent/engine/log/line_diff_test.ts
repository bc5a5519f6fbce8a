import assert from "node:assert/strict";
import fc from "fast-check";
import { countsOf, lineDiff } from "./line_diff.ts";
import { splitLines } from "../../shared/text/text.ts";

const counts: readonly (readonly [
  what: string,
  before: string | undefined,
  after: string,
  shown: string,
])[] = [
  ["a new file", undefined, "a\nb\n", "+2"],
  ["a new file without a newline at its end", undefined, "a\nb", "+2"],
  ["a new empty file", undefined, "", "+0 −0"],
  ["nothing changed", "a\n", "a\n", "no change"],
  ["both empty", "", "", "no change"],
  ["a line changed", "a\nb\nc\n", "a\nx\nc\n", "+1 −1"],
  ["lines added", "a\nc\n", "a\nb\nb\nc\n", "+2"],
  ["lines removed", "a\nb\nc\n", "c\n", "−2"],
  ["all removed", "a\nb\n", "", "−2"],
  ["an empty file filled", "", "a\n", "+1"],
  ["a newline at the end", "a\nb", "a\nb\n", "+1 −1"],
  ["only the order", "a\nb\n", "b\na\n", "+1 −1"],
  ["CRLF", "a\r\nb\r\n", "a\r\nx\r\ny\r\n", "+2 −1"],
  ["other line endings", "a\nb\n", "a\r\nb\r\n", "+2 −2"],
  ["white space", "a\n", "a \n", "+1 −1"],
];

for (const [what, before, after, shown] of counts) {
  Deno.test(`the lines of a change are counted: ${what}`, () => {
    const diff = lineDiff("/p", before, after);
    assert.equal(countsOf(diff), shown);
    assert.deepEqual([diff.path, diff.before, diff.after], ["/p", before, after]);
    assert.equal("before" in diff, before !== undefined);
  });
}

const texts = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 10 }).map((lines) =>
  lines.map((line) => `${line}\n`).join("")
);

Deno.test("what is added and removed makes the one length of the other", () => {
  fc.assert(fc.property(texts, texts, (before, after) => {
    const { added, removed } = lineDiff("/p", before, after);
    assert.equal(splitLines(before).length - removed + added, splitLines(after).length);
    assert.equal(added + removed === 0, before === after);
    const back = lineDiff("/p", after, before);
    assert.deepEqual([back.added, back.removed], [removed, added]);
  }));
});

Deno.test("the line of a change is the first changed one; of removed lines, the one that follows them", () => {
  const lineOf = (before: string | undefined, after: string) => lineDiff("/p", before, after).line;
  assert.equal(lineOf("a\nb\nc\n", "a\nB\nC\n"), 2);
  assert.equal(lineOf("a\nb\nc\n", "a\nc\n"), 2);
  assert.equal(lineOf("a\n", "a\nb\n"), 2);
  assert.equal(lineOf(undefined, "a\n"), 1);
  assert.equal(lineOf("a\n", "a\n"), undefined);
});

Deno.test("a change that takes too long to compare counts as a whole replacement", () => {
  const lines = (seed: number) =>
    Array.from({ length: 60_000 }, (_, at) => `${(at * seed) % 59_999}\n`).join("");
  const diff = lineDiff("/p", lines(7), lines(11));
  assert.equal(diff.added, diff.removed);
  assert.ok(diff.added > 50_000 && diff.added <= 60_000);
});
