/**
 * Runs the tests: `deno task test [--verbose] [--full] [--repeat N] [--load N] [file or folder …]`. The last line is
 * "N passed, N failed". Programs that the tests need and the machine lacks are unpacked into `.deps`.
 *
 * - `--verbose`: all that the tests print, as each file ends.
 * - `--full`: all of what is otherwise sampled: attacks, floods, random trials.
 * - `--repeat N`: runs each file N times.
 * - `--load N`: N processes compute at the same time, as on a busy machine.
 */
import { parseArgs } from "node:util";
import { resolve } from "node:path";
import { PROJECT, toolEnvironment } from "./environment.ts";
import { type Meters, openMeters } from "./suite/cpu_meter.ts";
import { runLoad } from "./suite/load.ts";
import { type Job, planAll, planFiles, testsIn } from "./suite/plan.ts";
import { type FileResult, readResult } from "./suite/report.ts";
import { warmUp } from "./suite/warm_up.ts";

/** One more than there are cores, since most jobs wait for a part of their time. */
const JOBS = navigator.hardwareConcurrency + 1;

/** How many of the dearest files are listed. */
const DEAREST = 10;

interface Ended extends FileResult {
  readonly job: Job;
  /** Seconds of CPU, all descendants included. */
  readonly cpu: number;
  /** Seconds. */
  readonly wall: number;
}

const { values: flags, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: {
    verbose: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    repeat: { type: "string", default: "1" },
    load: { type: "string", default: "0" },
  },
});

async function runJobs(jobs: readonly Job[], meters: Meters): Promise<readonly Ended[]> {
  const tools = await toolEnvironment(["nvim", "git", "rg", "bwrap", "luacheck"]);
  const env = {
    ...tools,
    NO_COLOR: "1",
    AGENT_TEST_SCREENS: "1",
    ...flags.full ? { AGENT_TEST_FULL: "1" } : {},
  };
  const ended: Ended[] = [];
  const queue = [...jobs];
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      await using meter = await meters.open();
      const start = performance.now();
      const { output, code } = await runTests(meter.wrap(testCommand(job)), env, meter.started);
      const wall = (performance.now() - start) / 1000;
      const result = { job, ...readResult(output, code), cpu: await meter.read(), wall };
      ended.push(result);
      print(result, output);
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));
  return ended;
}

function testCommand({ path }: Job): readonly string[] {
  return [Deno.execPath(), "test", "-A", "--no-check", path];
}

async function runTests(
  [program = "", ...args]: readonly string[],
  env: Record<string, string>,
  started: (pid: number) => void,
): Promise<{ readonly output: string; readonly code: number }> {
  const options = { args, cwd: PROJECT, env, stdin: "null", stdout: "piped", stderr: "piped" } as const;
  const process = new Deno.Command(program, options).spawn();
  started(process.pid);
  // Errors are printed to both: they are kept in the order they come in.
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) output += text;
  };
  const [{ code }] = await Promise.all([process.status, read(process.stdout), read(process.stderr)]);
  return { output, code };
}

function print({ job, passed, failed, skipped, cpu, wall }: Ended, output: string): void {
  if (flags.verbose) console.log(output);
  const counts = [
    `${passed} passed`,
    ...failed > 0 ? [`${failed} failed`] : [],
    ...skipped > 0 ? [`${skipped} skipped`] : [],
  ];
  const times = `${wall.toFixed(1)} s, ${cpu.toFixed(1)} s CPU`;
  console.log(`${failed > 0 ? "FAILED" : "ok    "}  ${job.name}  ${counts.join(", ")}  ${times}`);
}

/** Failures, the dearest files, the cost of all, and last the counts. */
function summarize(ended: readonly Ended[], wall: number, kind: Meters["kind"]): void {
  for (const { job, failures } of ended.filter(({ failed }) => failed > 0)) {
    console.log(`\n# ${job.name}\n${failures.trimEnd()}`);
  }
  const sum = (of: (one: Ended) => number) => ended.reduce((all, one) => all + of(one), 0);
  if (kind !== "none") {
    console.log(`\nMost CPU time:`);
    for (const { job, cpu } of ended.toSorted((a, b) => b.cpu - a.cpu).slice(0, DEAREST)) {
      console.log(`${cpu.toFixed(1).padStart(7)} s  ${job.name}`);
    }
  }
  const cpu = kind === "none" ? "" : `${sum((one) => one.cpu).toFixed(0)} s of CPU time (${kind}), `;
  console.log(`\n${cpu}${wall.toFixed(0)} s in all`);
  const skipped = sum((one) => one.skipped);
  const end = skipped > 0 ? `, ${skipped} skipped` : "";
  console.log(`${sum((one) => one.passed)} passed, ${sum((one) => one.failed)} failed${end}`);
}

async function main(): Promise<number> {
  const [repeat, load] = [Number(flags.repeat), Number(flags.load)];
  if (!Number.isInteger(repeat) || repeat < 1 || !Number.isInteger(load) || load < 0) {
    console.error(
      "Cannot run the tests: --repeat and --load take whole numbers, such as --repeat 50 --load 8.",
    );
    return 2;
  }
  const folder = await Deno.makeTempDir({ prefix: "agent-tests-" });
  try {
    const chosen = (await Promise.all(positionals.map((path) => testsIn(resolve(path))))).flat();
    const jobs = chosen.length > 0 ? planFiles(chosen) : await planAll(folder);
    await warmUp(folder);
    using _ = runLoad(load);
    using meters = await openMeters();
    const start = performance.now();
    const ended = await runJobs(Array.from({ length: repeat }, () => jobs).flat(), meters);
    summarize(ended, (performance.now() - start) / 1000, meters.kind);
    return ended.some(({ failed }) => failed > 0) ? 1 : 0;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.exit(await main());
