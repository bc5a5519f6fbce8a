/** The processes of an agent are stopped while its changes are listed. */
import assert from "node:assert/strict";
import { whileStopped } from "../../denops/agent/supervisor/foreign/stopped.ts";
import { scratch, waitUntil } from "../support/project.ts";

const STOPS = 20;
const PROGRAM = `const log = await Deno.open(Deno.args[0], { append: true });
const start = async () => {
  for (;;) {
    await new Deno.Command("true").output();
    log.writeSync(new Uint8Array(1));
  }
};
await Promise.all([1, 2, 3, 4].map(start));`;

Deno.test({
  name:
    "a program that starts others all the time, each of which it waits for without interruption, is stopped",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await scratch({ log: "", "program.ts": PROGRAM });
    const log = folder.path("log");
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", folder.path("program.ts"), log],
    }).spawn();
    const sizeOf = async () => (await Deno.stat(log)).size;
    try {
      for (let stop = 0; stop < STOPS; stop++) {
        const before = await sizeOf();
        await waitUntil("the program to run", async () => await sizeOf() > before);
        await whileStopped(process, async () => {
          const size = await sizeOf();
          await new Promise((resolve) => setTimeout(resolve, 20));
          assert.equal(await sizeOf(), size);
        });
      }
    } finally {
      process.kill("SIGKILL");
      await process.status;
    }
  },
});
