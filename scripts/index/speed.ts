/**
 * Measures the index of a large project: `deno task index-speed [--keep FOLDER] [FILES]`. The files are mixtures of
 * the lines of this project's files.
 */
import { join } from "node:path";
import process from "node:process";
import { PROJECT, taskArguments, toolEnvironment } from "../environment.ts";
import { openIndex } from "./open_index.ts";

const USAGE = "deno task index-speed [--keep FOLDER] [FILES]";
const FILES_OF_FOLDER = 200;
const LINES_OF_FILE = 90;
/** Successive lines of one file, so that chunks have a subject. */
const LINES_OF_PIECE = 15;
/** Milliseconds between two looks at the event loop. */
const TICK_MS = 2;

/** Questions with rare and common words. */
const QUESTIONS = [
  "how is an unsaved buffer merged with what a tool writes",
  "where is a file written atomically",
  "retry after a rate limit",
  "which commands change nothing",
  "parse tool calls in the text of a model",
  "show the difference in the approval window",
  "return the text of a line",
  "const string number import",
  "undo the changes of a turn",
  "price of the tokens that were spent today",
  "markdown tables in the chat",
  "symbolic links that lead out of the project",
  "start the engine before the rest is loaded",
  "what happens if the database is damaged",
  "login with a device code",
  "filter system calls",
];

const { values: { keep }, positionals: [count = "100000"] } = taskArguments(
  { keep: { type: "string" } },
  USAGE,
);
const { PATH = "" } = await toolEnvironment(["rg"]);
Deno.env.set("PATH", PATH);
const place = await Deno.realPath(keep ?? await Deno.makeTempDir({ prefix: "agent-" }));
const root = join(place, "project");
try {
  if (await Deno.stat(root).catch(() => undefined) === undefined) await generate(Number(count));
  await measure();
} finally {
  if (keep === undefined) await Deno.remove(place, { recursive: true });
}
Deno.exit(0);

async function generate(files: number): Promise<void> {
  const sources: (readonly string[])[] = [];
  const args = ["--files", "-g*.ts", "-g*.lua"];
  const { stdout } = await new Deno.Command("rg", { args, cwd: PROJECT }).output();
  for (const name of new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "")) {
    sources.push((await Deno.readTextFile(join(PROJECT, name))).split("\n"));
  }
  const words = [...new Set(sources.flat().join(" ").match(/[a-z]{4,12}/g))];
  let seed = 1;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const word = () => words[random(words.length)] ?? "";
  for (let file = 0; file < files; file++) {
    const folder = join(root, `part${Math.floor(file / FILES_OF_FOLDER / 20)}`, word());
    await Deno.mkdir(folder, { recursive: true });
    const lines: string[] = [`/** ${word()} ${word()} ${word()}. */`];
    while (lines.length < LINES_OF_FILE) {
      const source = sources[random(sources.length)] ?? [];
      lines.push(
        ...source.slice(random(source.length)).slice(0, LINES_OF_PIECE),
        `const ${word()}${file} = 1;`,
      );
    }
    await Deno.writeTextFile(join(folder, `${word()}_${word()}${file}.ts`), lines.join("\n"));
  }
}

async function measure(): Promise<void> {
  const path = join(place, "index.db");
  for (const ending of ["", "-wal", "-shm"]) await Deno.remove(path + ending).catch(() => {});
  const { index, ask, built } = openIndex(root, path);
  await ask("warm up");
  const loop = watchLoop();
  const [begun, cpu] = [performance.now(), cpuMs()];
  const during: number[] = [];
  const asking = setInterval(
    () => timed(ask, "how is an unsaved buffer merged").then((ms) => during.push(ms)),
    5_000,
  );
  const state = await built();
  clearInterval(asking);
  const took = performance.now() - begun;
  const share = (100 * (cpuMs() - cpu) / took).toFixed(0);
  console.log(`indexed ${state.files} files, ${state.chunks} chunks in ${(took / 1_000).toFixed(0)} s`);
  console.log(`CPU while indexing: ${share} % of a core, questions included; ${loop()}`);
  console.log(`database: ${(state.bytes / 1e6).toFixed(0)} MB`);
  if (during.length > 0) console.log(`questions while indexing: ${percentiles(during)}`);
  const times: number[] = [];
  for (const question of QUESTIONS) times.push(await timed(ask, question));
  console.log(`questions: ${percentiles(times)}`);
  const blocked = watchLoop();
  const again = performance.now();
  index.changed();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await built();
  console.log(
    `update without changes: ${((performance.now() - again) / 1_000 - 2).toFixed(1)} s; ${blocked()}`,
  );
}

async function timed(ask: (question: string) => Promise<unknown>, question: string): Promise<number> {
  const begun = performance.now();
  await ask(question);
  return performance.now() - begun;
}

function percentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(0);
  return `${at(0.5)} ms median, ${at(0.95)} ms p95 of ${times.length}`;
}

/** @returns ends the watch: the longest time in which nothing else could run, and how many took over 15 ms */
function watchLoop(): () => string {
  let [last, longest, many] = [performance.now(), 0, 0];
  const timer = setInterval(() => {
    const now = performance.now();
    const blocked = now - last - TICK_MS;
    longest = Math.max(longest, blocked);
    if (blocked > 15) many += 1;
    last = now;
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    return `the event loop waited ${longest.toFixed(0)} ms at most, ${many} times over 15 ms`;
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
