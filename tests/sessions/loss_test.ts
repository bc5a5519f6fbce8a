/** Nothing of the user's is lost: a few of the trials of `deno task loss`. */
import assert from "node:assert/strict";
import { play } from "../loss/play.ts";

Deno.test("30 random interleavings of user and agent: nothing is lost", async () => {
  const first = Math.floor(Math.random() * 1_000_000);
  const trials = await play(30, first);
  assert.equal(trials.length, 30);
  assert.deepEqual(trials.filter(({ lost }) => lost.length > 0), []);
});
