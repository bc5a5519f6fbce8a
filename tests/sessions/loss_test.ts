/** Nothing of the user's is lost: a few of the trials of `deno task loss`. */
import assert from "node:assert/strict";
import { play } from "../loss/play.ts";

Deno.test("30 random interleavings of user and agent: nothing is lost", async () => {
  // The same plans each time: chance is for the task.
  const trials = await play(30, 1);
  assert.equal(trials.length, 30);
  assert.deepEqual(trials.filter(({ lost }) => lost.length > 0), []);
});
