/** Nothing is lost when something is killed: a few of the trials of `deno task crash`. */
import assert from "node:assert/strict";
import { runTrial, VICTIMS } from "../crash/trial.ts";

/** Milliseconds; the whole turn takes about a second and a half. */
const MOMENTS = [350, 600, 900, 1_250];

for (const victim of VICTIMS) {
  for (const at of victim === "engine" ? MOMENTS : MOMENTS.slice(1)) {
    Deno.test(`${victim} is killed ${at} ms after the message: nothing is lost`, async () => {
      const { lost, corrupt } = await runTrial({ victim, at });
      assert.deepEqual([lost, corrupt], [[], []]);
    });
  }
}
