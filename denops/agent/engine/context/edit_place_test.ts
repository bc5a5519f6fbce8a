import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { atPlace, replacementIn, withReplacement } from "./edit_place.ts";

Deno.test("lines are found where they stood, or nearest to it", () => {
  const file = "a\nx\nb\nx\nc\n";
  assert.equal(atPlace(file, { line: 4, text: "x" }), 3);
  assert.equal(atPlace(`new\nnew\n${file}`, { line: 4, text: "x" }), 3);
  assert.equal(atPlace(`new\nnew\n${file}`, { line: 5, text: "x\nc" }), 5);
  assert.equal(atPlace(file, { line: 900, text: "a" }), 0);
  assert.equal(atPlace(file, { line: 1, text: "gone" }), undefined);
  assert.equal(atPlace("a\r\nb\r\n", { line: 2, text: "b" }), 1);
});

Deno.test("an answer is its code block, moved to where the lines stand", () => {
  assert.deepEqual(replacementIn("Here:\n```ts\nx();\n\ny();\n```\nDone.", "  a();"), [
    "  x();",
    "",
    "  y();",
  ]);
  assert.deepEqual(replacementIn("  x();\n", "  a();"), ["  x();"]);
  assert.deepEqual(replacementIn("````md\n```\ncode\n```\n````", "a"), ["```", "code", "```"]);
  assert.deepEqual(replacementIn("```\n```", "a"), []);
  assert.throws(() => replacementIn(" \n", "a"), /answered nothing/);
});

Deno.test("nothing but the lines changes, and line endings stay", () => {
  assert.equal(withReplacement("a\r\nb\r\nc", 1, 1, ["x", "y"]), "a\r\nx\r\ny\r\nc");
  assert.equal(withReplacement("a\nb\n", 0, 1, []), "b\n");
});

Deno.test("an answer of blanks costs time in proportion", async () => {
  await assertEachLinear([" ", "\n", "\t\n", "```\n", "~~~"], (part, size) => {
    const answer = `a${part.repeat(size)}b`;
    return () => replacementIn(answer, "a\nb");
  }, 5_000);
});
