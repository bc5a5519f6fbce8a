/** Nothing of the user's is lost: a few of the trials of `deno task loss`. */
import assert from "node:assert/strict";
import { play } from "../loss/play.ts";
import { IS_FULL } from "../support/sample.ts";

/**
 * The same plans each time: chance is for the task. Six trials from seed 982 on have each lane, and an engine
 * that is killed (seed 983, a trial of files).
 */
const [TRIALS, FIRST] = IS_FULL ? [40, 1] : [6, 982];

Deno.test(`${TRIALS} random interleavings of user and agent: nothing is lost`, async () => {
  const trials = await play(TRIALS, FIRST);
  assert.equal(trials.length, TRIALS);
  assert.deepEqual(trials.filter(({ lost }) => lost.length > 0), []);
  const lanes = new Set(trials.map(({ lane }) => lane));
  for (const lane of ["editor", "files", "saves", "drafts", "openings"]) {
    assert.ok(lanes.has(lane), [...lanes].join());
  }
});
