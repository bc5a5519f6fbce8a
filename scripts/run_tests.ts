/**
 * Runs the tests: `deno task test [--verbose] [--full] [--repeat N] [--load N] [file or folder …]`. The last line is
 * "N passed, N failed". Programs that the tests need and the machine lacks are unpacked into `.deps`.
 *
 * - `--verbose`: all that the tests print, as each process ends.
 * - `--full`: all of what is otherwise sampled: attacks, floods, random trials.
 * - `--repeat N`: runs each file N times.
 * - `--load N`: N processes compute at the same time, as on a busy machine.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { PROJECT, taskArguments, toolEnvironment } from "./environment.ts";
import { type Meters, openMeters } from "./suite/cpu_meter.ts";
import { type FileResult, type JobResult, runJob } from "./suite/job.ts";
import { runLoad } from "./suite/load.ts";
import { type Job, plan } from "./suite/plan.ts";
import type { Counts } from "./suite/report.ts";
import { bundle, warmUp } from "./suite/warm_up.ts";

/** Two more than there are cores, since most jobs wait for a part of their time. */
const JOBS = navigator.hardwareConcurrency + 2;

/** Milliseconds without output after which a process of tests is ended. The longest test with `--full` takes 7 min. */
const PATIENCE = 20 * 60_000;

/** How many of the dearest files are listed. */
const DEAREST = 10;

const USAGE = "Usage: deno task test [--verbose] [--full] [--repeat N] [--load N] [FILE or folder …]";

const { values: flags, positionals } = taskArguments({
  verbose: { type: "boolean", default: false },
  full: { type: "boolean", default: false },
  repeat: { type: "string", default: "1" },
  load: { type: "string", default: "0" },
}, USAGE);

/** @param state the folder of {@link warmUp} */
async function runJobs(jobs: readonly Job[], meters: Meters, state: string): Promise<readonly JobResult[]> {
  const tools = await toolEnvironment(["nvim", "git", "rg", "bwrap", "luacheck"]);
  const env = {
    ...tools,
    NO_COLOR: "1",
    AGENT_TEST_SCREENS: "1",
    AGENT_TEST_STATE: state,
    AGENT_TEST_EARLY: "1",
    ...flags.full ? { AGENT_TEST_FULL: "1" } : {},
  };
  const results: JobResult[] = [];
  const queue = [...jobs];
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      await using meter = await meters.open();
      const result = await runJob(job, { meter, cwd: PROJECT, env, patience: PATIENCE, ended: print });
      if (flags.verbose) console.log(result.output);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));
  return results;
}

function print({ name, passed, failed, skipped, cpu, wall }: FileResult): void {
  const counts = [
    `${passed} passed`,
    ...failed > 0 ? [`${failed} failed`] : [],
    ...skipped > 0 ? [`${skipped} skipped`] : [],
  ];
  const times = `${wall.toFixed(1)} s, ${cpu.toFixed(1)} s CPU`;
  console.log(`${failed > 0 ? "FAILED" : "ok    "}  ${name}  ${counts.join(", ")}  ${times}`);
}

/** Failures, the dearest files, the cost of all, and last the counts. */
function summarize(results: readonly JobResult[], wall: number, kind: Meters["kind"]): void {
  for (const { files, failures } of results.filter(({ failures }) => failures !== "")) {
    const names = files.filter(({ failed }) => failed > 0).map(({ name }) => name);
    console.log(`\n# ${names.join(", ")}\n${failures.trimEnd()}`);
  }
  const files = results.flatMap((result) => result.files);
  if (kind !== "none") {
    console.log(`\nMost CPU time:`);
    for (const { name, cpu } of files.toSorted((a, b) => b.cpu - a.cpu).slice(0, DEAREST)) {
      console.log(`${cpu.toFixed(1).padStart(7)} s  ${name}`);
    }
  }
  const spent = results.reduce((sum, { cpu }) => sum + cpu, 0);
  const cpu = kind === "none" ? "" : `${spent.toFixed(0)} s of CPU time (${kind}), `;
  console.log(`\n${cpu}${wall.toFixed(0)} s in all`);
  const sum = (of: (counts: Counts) => number) => files.reduce((all, file) => all + of(file), 0);
  const skipped = sum((file) => file.skipped);
  const end = skipped > 0 ? `, ${skipped} skipped` : "";
  console.log(`${sum((file) => file.passed)} passed, ${sum((file) => file.failed)} failed${end}`);
}

async function main(): Promise<number> {
  const [repeat, load] = [Number(flags.repeat), Number(flags.load)];
  if (!Number.isInteger(repeat) || repeat < 1 || !Number.isInteger(load) || load < 0) {
    console.error(
      "Cannot run the tests: --repeat and --load take whole numbers, such as --repeat 50 --load 8.",
    );
    return 2;
  }
  const missing = positionals.find((path) => !existsSync(path));
  if (missing !== undefined) {
    console.error(`Cannot run the tests: ${missing} does not exist. Name files or folders of tests.`);
    return 2;
  }
  const folder = await Deno.makeTempDir({ prefix: "agent-tests-" });
  try {
    const jobs = await plan(positionals.map((path) => resolve(path)), folder);
    const state = join(folder, "state");
    if (positionals.length === 0) await bundle();
    await warmUp(state);
    using _ = runLoad(load);
    using meters = await openMeters();
    const start = performance.now();
    const results = await runJobs(Array.from({ length: repeat }, () => jobs).flat(), meters, state);
    summarize(results, (performance.now() - start) / 1000, meters.kind);
    return results.some(({ failures }) => failures !== "") ? 1 : 0;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.exit(await main());
