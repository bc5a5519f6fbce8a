import assert from "node:assert/strict";
import process from "node:process";
import { RunningCommand } from "./runner.ts";

/** Bytes that a fast program prints. */
const MANY = 16_000_000;

/** Runs a program that prints a lot. @returns the CPU time of this process, in milliseconds */
async function cpuOf(onOutput: (command: RunningCommand) => void): Promise<number> {
  const before = process.cpuUsage();
  const command = new RunningCommand({
    program: "/bin/sh",
    args: [],
    line: `yes abcdefghij | head -c ${MANY}`,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: 60_000,
    sweep: () => Promise.resolve([]),
  }, () => onOutput(command));
  assert.deepEqual(await command.ended, { type: "exited", code: 0 });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

Deno.test("showing what a command prints costs little beside reading it, however much it is", async () => {
  const reading = await cpuOf(() => {});
  let longest = 0;
  const showing = await cpuOf(({ newestOutput }) => longest = Math.max(longest, newestOutput.length));
  assert.ok(longest > 1_000 && longest <= 32_000, `${longest} characters`);
  // Converting all of it for each read took 9 s. The process also collects the garbage of other tests.
  assert.ok(showing < 6 * reading + 3_000, `reading ${reading} ms, showing ${showing} ms`);
});
