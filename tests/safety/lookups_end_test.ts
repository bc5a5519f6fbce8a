/** Look-ups that are stopped at any moment leave nothing behind. */
import assert from "node:assert/strict";
import { endRuns, run } from "../../denops/agent/supervisor/system/run.ts";
import { waitForNone } from "../support/processes.ts";
import { DEFAULT_TIMEOUT, pause, scratch } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";

/** Each pause comes at least twice. */
const ROUNDS = IS_FULL ? 60 : 20;

Deno.test({
  name: "a look-up that is stopped as its sandbox is made leaves no process",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({ "a.txt": "a" }, { git: true });
    const { root } = project;
    const place = { root, roots: [root], sandboxed: true };
    const look = (signal: AbortSignal) => run("git", ["status"], place, signal, () => true).catch(() => {});
    await look(AbortSignal.timeout(DEFAULT_TIMEOUT));
    for (let round = 0; round < ROUNDS; round++) {
      const controller = new AbortController();
      // Several at once, so that parent and child do not run at the same time.
      const looks = [1, 2, 3, 4, 5, 6].map(() => look(controller.signal));
      await pause(round % 10);
      if (round % 2 === 0) controller.abort();
      else await endRuns();
      await Promise.all(looks);
    }
    await waitForNone([root]);
    assert.equal(await project.read("a.txt"), "a");
  },
});
