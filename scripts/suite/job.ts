/** Runs a process of tests, and tells what each of its files came to. */
import type { CpuMeter } from "./cpu_meter.ts";
import { type Job, MARK_LINE } from "./plan.ts";
import { type Counts, countTests, failuresIn, isWhole } from "./report.ts";

export interface FileResult extends Counts {
  readonly name: string;
  /** Seconds of CPU, all descendants included. */
  readonly cpu: number;
  /** Seconds. */
  readonly wall: number;
}

export interface JobResult {
  readonly files: readonly FileResult[];
  readonly output: string;
  /** Empty if no test failed. */
  readonly failures: string;
  /** Seconds of CPU: those of its files, and what it took to load them. */
  readonly cpu: number;
}

interface JobOptions {
  readonly meter: CpuMeter;
  /** The folder and the variables that it runs with. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds without output after which the tests are ended. */
  readonly patience: number;
  /** Told of each file as soon as its tests have run. */
  readonly ended: (file: FileResult) => void;
}

interface Moment {
  readonly cpu: number;
  readonly wall: number;
}

export async function runJob({ path, files: names }: Job, options: JobOptions): Promise<JobResult> {
  const { meter, cwd, env, patience, ended } = options;
  const start = performance.now();
  const now = async (): Promise<Moment> => {
    const wall = (performance.now() - start) / 1000;
    return { cpu: await meter.read(), wall };
  };
  const files: FileResult[] = [];
  let lines: string[] = [];
  let began: Promise<Moment> = Promise.resolve({ cpu: 0, wall: 0 });
  const end = async (counts: Counts) => {
    const name = names[files.length] ?? path;
    const [from, to] = await Promise.all([began, now()]);
    const file = { name, ...counts, cpu: to.cpu - from.cpu, wall: to.wall - from.wall };
    files.push(file);
    ended(file);
  };

  const [program = "", ...args] = meter.wrap([Deno.execPath(), "test", "-A", "--no-check", path]);
  const command = new Deno.Command(program, {
    args,
    cwd,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const process = command.spawn();
  meter.started(process.pid);
  let output = "";
  let marks = 0;
  using watchdog = new Watchdog(meter, patience);
  for await (const line of linesOf(process)) {
    watchdog.reset();
    output += line;
    const text = line.trimEnd();
    if (!MARK_LINE.test(text)) {
      lines.push(text);
      continue;
    }
    if (marks++ > 0) await end(countTests(lines));
    began = now();
    lines = [];
  }
  const { code } = await process.status;
  output += watchdog.report;
  const counts = countTests(lines);
  // Errors of no test are the last file's: those of modules, hooks and a process that ended too soon.
  const isBroken = code !== 0 && (!isWhole(output) || [...files, counts].every(({ failed }) => failed === 0));
  await end(isBroken ? { ...counts, failed: counts.failed + 1 } : counts);
  // Files that were not reached.
  while (files.length < names.length) await end({ passed: 0, failed: 1, skipped: 0 });
  const failures = files.some(({ failed }) => failed > 0) ? failuresIn(output) : "";
  return { files, output, failures, cpu: (await now()).cpu };
}

/** Ends tests that print nothing for a long time. */
class Watchdog implements Disposable {
  /** Names the processes of tests that were ended. */
  report = "";
  readonly #meter: CpuMeter;
  readonly #patience: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param patience milliseconds without output */
  constructor(meter: CpuMeter, patience: number) {
    this.#meter = meter;
    this.#patience = patience;
    this.reset();
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#end(), this.#patience);
  }

  async #end(): Promise<void> {
    const running = (await this.#meter.running()).map((command) => `  ${command}\n`).join("");
    const seconds = this.#patience / 1000;
    this.report = `\nNo output for ${seconds} s, so the tests were ended. These processes ran:\n${running}`;
    await this.#meter.kill();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** Of both streams, in the order they come in, since errors are printed to either. */
async function* linesOf(process: Deno.ChildProcess): AsyncGenerator<string> {
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const read = async (stream: ReadableStream<Uint8Array>) => {
    let rest = "";
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const pieces = (rest + text).split("\n");
      rest = pieces.pop() ?? "";
      for (const piece of pieces) await writer.write(`${piece}\n`);
    }
    if (rest !== "") await writer.write(rest);
  };
  const reading = Promise.all([read(process.stdout), read(process.stderr)]).then(() => writer.close());
  yield* readable;
  await reading;
}
