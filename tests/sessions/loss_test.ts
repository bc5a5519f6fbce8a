/** Nothing of the user's is lost: a few of the trials of `deno task loss`. */
import assert from "node:assert/strict";
import { play } from "../loss/play.ts";
import { IS_FULL } from "../support/sample.ts";

/**
 * The same plans each time: chance is for the task. Five trials from seed 981 on have each lane, and an engine
 * that is killed (seed 983).
 */
const [TRIALS, FIRST] = IS_FULL ? [30, 1] : [5, 981];

Deno.test(`${TRIALS} random interleavings of user and agent: nothing is lost`, async () => {
  const trials = await play(TRIALS, FIRST);
  assert.equal(trials.length, TRIALS);
  assert.deepEqual(trials.filter(({ lost }) => lost.length > 0), []);
  const lanes = new Set(trials.map(({ lane }) => lane));
  assert.ok(lanes.has("editor") && lanes.has("files"), [...lanes].join());
});
