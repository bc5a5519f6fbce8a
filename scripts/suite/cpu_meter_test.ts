import assert from "node:assert/strict";
import { waitUntil } from "../../tests/support/project.ts";
import { type Meters, openMeters } from "./cpu_meter.ts";

/** Starts a process that computes in a session of its own, and loses its parent while it does. */
const ORPHAN =
  `setsid sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; exec sleep 600' & read line`;

const KINDS: readonly [name: string, open: () => Promise<Meters>][] = [
  ["as this machine can", () => openMeters()],
  ["sampled", () => openMeters({ cgroup: false })],
];

for (const [name, open] of KINDS) {
  Deno.test({
    name: `CPU time of a detached orphan is counted, and the orphan ends with its meter: ${name}`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      using meters = await open();
      const meter = await meters.open();
      const [program = "", ...args] = meter.wrap(["sh", "-c", ORPHAN]);
      const parent = new Deno.Command(program, { args, stdin: "piped" }).spawn();
      meter.started(parent.pid);
      await waitUntil("the child", async () => (await meter.running()).length >= 2);
      await parent.stdin.close();
      await parent.status;
      await waitUntil("the work to end", async () => (await meter.running()).join() === "sleep 600");
      const seconds = await meter.read();
      assert.ok(seconds > 0.05 && seconds < 30, `${seconds} s`);
      await meter[Symbol.asyncDispose]();
      await waitUntil("the orphan to end", async () => (await meter.running()).length === 0);
    },
  });
}
