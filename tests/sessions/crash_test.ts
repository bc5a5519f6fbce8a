/** Nothing is lost when something is killed: a few of the trials of `deno task crash`. */
import assert from "node:assert/strict";
import { runTrial, type Trial, VICTIMS } from "../crash/trial.ts";
import { IS_FULL } from "../support/sample.ts";

/** Milliseconds; the whole turn takes about a second and a half. */
const MOMENTS = [350, 600, 900, 1_250];

const ALL: readonly Trial[] = VICTIMS.flatMap((victim) =>
  (victim === "engine" ? MOMENTS : MOMENTS.slice(1)).map((at) => ({ victim, at }))
);

/** Every other victim, each at another moment. */
const SAMPLE: readonly Trial[] = ALL.filter(({ victim, at }) => {
  const index = VICTIMS.indexOf(victim);
  return index % 2 === 0 && at === MOMENTS[index];
});

for (const { victim, at } of IS_FULL ? ALL : SAMPLE) {
  Deno.test(`${victim} is killed ${at} ms after the message: nothing is lost`, async () => {
    const { lost, corrupt } = await runTrial({ victim, at });
    assert.deepEqual([lost, corrupt], [[], []]);
  });
}
