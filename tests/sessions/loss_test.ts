/** Nothing of the user's is lost: a few of the trials of `deno task loss`. */
import assert from "node:assert/strict";
import { play } from "../loss/play.ts";
import { IS_FULL } from "../support/sample.ts";

/**
 * The same plans each time: chance is for the task. Eight trials from seed 978 on have each lane, an engine that is
 * killed (seed 983), and of the editor's acts, writes and formats most.
 */
const [TRIALS, FIRST] = IS_FULL ? [30, 1] : [8, 978];

Deno.test(`${TRIALS} random interleavings of user and agent: nothing is lost`, async () => {
  const trials = await play(TRIALS, FIRST);
  assert.equal(trials.length, TRIALS);
  assert.deepEqual(trials.filter(({ lost }) => lost.length > 0), []);
  const lanes = new Set(trials.map(({ lane }) => lane));
  assert.ok(lanes.has("editor") && lanes.has("files"), [...lanes].join());
});
