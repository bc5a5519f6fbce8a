import assert from "node:assert/strict";
import { stepOf } from "./merged_file.ts";

const same = { type: "same" };

Deno.test("what differs in a worktree is merged with what was changed here; what meets is left", () => {
  const step = stepOf;
  assert.deepEqual(step({ base: "a\nb\nc\n", theirs: "A\nb\nc\n" }, "a\nb\nC\n"), {
    type: "write",
    content: "A\nb\nC\n",
  });
  assert.deepEqual(step({ base: "a\n", theirs: "A\n" }, "A\n"), same, "merged before");
  assert.deepEqual(step({ base: "a\n", theirs: "A\n" }, "x\n"), {
    type: "left",
    why: "the same lines were changed here too (line 1)",
  });
  // A further round.
  assert.deepEqual(step({ base: "a\n", theirs: "AA\n", merged: "A\n" }, "A\nmine\n"), {
    type: "left",
    why: "the same lines were changed here too (line 1)",
  });
  assert.deepEqual(step({ base: "a\nb\nc\n", theirs: "AA\nb\nc\n", merged: "A\nb\nc\n" }, "A\nb\nC\n"), {
    type: "write",
    content: "AA\nb\nC\n",
  });
  assert.deepEqual(step({ theirs: "newer\n", merged: "new\n" }, "new\n"), {
    type: "write",
    content: "newer\n",
  });
  assert.deepEqual(step({ base: "a\n", merged: "A\n" }, "A\n"), { type: "delete" });
  // Line endings are the project's.
  assert.deepEqual(step({ base: "a\nb\n", theirs: "a\nB\n" }, "a\r\nb\r\n"), {
    type: "write",
    content: "a\r\nB\r\n",
  });
  assert.deepEqual(step({ theirs: "new\n" }, undefined), { type: "write", content: "new\n" });
  assert.deepEqual(step({ theirs: "new\n" }, "new\n"), same);
  assert.equal(step({ theirs: "new\n" }, "other\n").type, "left");
  assert.deepEqual(step({ base: "a\n" }, "a\n"), { type: "delete" });
  assert.deepEqual(step({ base: "a\n" }, undefined), same);
  assert.equal(step({ base: "a\n" }, "mine\n").type, "left");
  assert.equal(step({ base: "a\n", theirs: "b\n" }, undefined).type, "left");
});
