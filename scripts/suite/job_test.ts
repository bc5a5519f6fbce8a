import assert from "node:assert/strict";
import { basename } from "node:path";
import { scratch } from "../../tests/support/project.ts";
import { type CpuMeter, openMeters } from "./cpu_meter.ts";
import { type FileResult, type JobResult, runJob } from "./job.ts";
import { alone, gather } from "./plan.ts";

/** Each look at it finds a second more. */
function countingMeter(): CpuMeter {
  let seconds = 0;
  return {
    wrap: (command) => command,
    started: () => {},
    read: () => Promise.resolve(seconds++),
    running: () => Promise.resolve([]),
    kill: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** The tests of these files in one process. */
async function run(...files: readonly string[]): Promise<JobResult> {
  return await runWithin(60_000, files);
}

/** @param patience milliseconds */
async function runWithin(
  patience: number,
  files: readonly string[],
  meter = countingMeter(),
): Promise<JobResult> {
  const names = files.map((_, at) => `${at + 1}_test.ts`);
  await using folder = await scratch(Object.fromEntries(files.map((code, at) => [names[at] ?? "", code])));
  const paths = names.map((name) => folder.path(name));
  const job = paths.length > 1 ? await gather(paths, folder.path("all_test.ts")) : alone(paths[0] ?? "");
  const ended: FileResult[] = [];
  const env = { NO_COLOR: "1" };
  const result = await runJob(job, {
    meter,
    cwd: folder.root,
    env,
    patience,
    ended(file) {
      ended.push(file);
      Deno.writeTextFileSync(folder.path(`${basename(file.name)}.ended`), "");
    },
  });
  assert.deepEqual(ended, result.files);
  assert.deepEqual(ended.map(({ name }) => name.split("/").at(-1)), names);
  return result;
}

function counts({ files }: JobResult): readonly (readonly number[])[] {
  return files.map(({ passed, failed, skipped }) => [passed, failed, skipped]);
}

const GOOD = `
  Deno.test("a", () => console.log("printed"));
  Deno.test("b", async (t) => { await t.step("c", () => {}); });
  Deno.test.ignore("d", () => {});`;

const BAD = `
  Deno.test("good", () => console.log("a good screen"));
  Deno.test("bad", () => { console.log("a bad screen"); throw new Error("no luck"); });
  Deno.test("steps", async (t) => {
    await t.step("fine", () => console.log("a fine screen"));
    await t.step("wrong", () => { console.log("a wrong screen"); throw new Error("no step"); });
  });`;

Deno.test("tests and steps are counted", async () => {
  const result = await run(GOOD);
  assert.deepEqual(counts(result), [[3, 0, 1]]);
  assert.equal(result.failures, "");
});

Deno.test("failures come with what the failed tests printed and where they failed, and with nothing else", async () => {
  const result = await run(BAD);
  assert.deepEqual(counts(result), [[2, 2, 0]]);
  for (const text of ["a bad screen", "a wrong screen", "no luck", "no step", "1_test.ts:3"]) {
    assert.ok(result.failures.includes(text), text);
  }
  assert.doesNotMatch(result.failures, /a (good|fine) screen/);
});

Deno.test("a file that cannot be loaded is a failure", async () => {
  assert.deepEqual(counts(await run(`import "./missing.ts";`)), [[0, 1, 0]]);
});

Deno.test("files of one process are counted apart, each with its own cost", async () => {
  const result = await run(GOOD, BAD, GOOD);
  assert.deepEqual(counts(result), [[3, 0, 1], [2, 2, 0], [3, 0, 1]]);
  assert.deepEqual(result.files.map(({ cpu }) => cpu), [1, 1, 1]);
  assert.match(result.failures, /no luck/);
});

Deno.test("what fails after the last test is not lost", async () => {
  const result = await run(GOOD, `Deno.test.afterAll(() => { throw new Error("not closed"); });`);
  assert.deepEqual(counts(result), [[3, 0, 1], [0, 1, 0]]);
  assert.match(result.failures, /not closed/);
});

Deno.test("a file that ends the process, and those that are not reached, have failed; all that was printed is shown", async () => {
  // The process ends when all of the first file is reported.
  const end = `
  Deno.test("b", async () => {
    const mark = new URL("1_test.ts.ended", import.meta.url);
    while (!await Deno.stat(mark).catch(() => false)) await new Promise((resolve) => setTimeout(resolve, 10));
    Deno.kill(Deno.pid, "SIGKILL");
  });`;
  const result = await run(GOOD, end, GOOD);
  assert.deepEqual(counts(result), [[3, 0, 1], [0, 1, 0], [0, 1, 0]]);
  assert.match(result.failures, /a \.\.\. ok/);
});

Deno.test("a test that hangs is ended and named, with the processes that ran", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  using meters = await openMeters();
  await using meter = await meters.open();
  const hang = `Deno.test("hangs", async () => {
    await new Deno.Command("sleep", { args: ["601"] }).output();
  });`;
  const result = await runWithin(5_000, [GOOD, hang, GOOD], meter);
  assert.deepEqual(counts(result), [[3, 0, 1], [0, 1, 0], [0, 1, 0]]);
  assert.match(result.failures, /hangs \.\.\.\nNo output for 5 s[^]*sleep 601/);
});
