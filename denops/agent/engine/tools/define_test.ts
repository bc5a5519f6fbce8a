import assert from "node:assert/strict";
import { shown } from "./define.ts";

Deno.test("an argument in a title is one line, and says if it was cut, never in the middle of a character", () => {
  assert.equal(shown("a\n  b"), "a b");
  assert.equal(shown("x".repeat(120)), "x".repeat(120));
  assert.equal(shown("x".repeat(121)), `${"x".repeat(119)}…`);
  assert.equal(shown(`${"x".repeat(118)}😀yy`), `${"x".repeat(118)}…`);
  assert.equal(shown(""), "…");
  assert.equal(shown(7, "."), ".");
});
