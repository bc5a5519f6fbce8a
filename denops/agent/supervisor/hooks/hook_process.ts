/** Runs one hook: JSON on its standard input, its output up to a limit, an end in any case. */
import { memoryOf, processTree } from "../commands/process_tree.ts";
import { killGroup, openProgram } from "../system/programs.ts";
import type { HookEnd } from "./decision.ts";

export interface HookStart {
  readonly profile: "hook" | "notification_hook";
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** Whether it has written too much to its copy of the project. */
  isPastLimits?(): Promise<boolean>;
}

/** Bytes of both outputs together. */
const MOST_OUTPUT = 1024 * 1024;
const WATCH_MS = 250;
const MOST_PROCESSES = 256;
const MOST_MEMORY = 1024 ** 3;

/** The processor share and the thread limit of commands: see bubblewrap.ts. */
const START = `{ echo 10 >/proc/self/autogroup; ulimit -c 0; ulimit -f 2097152; } 2>/dev/null; eval "$1"`;

/** The arguments of bash. */
export function bashArguments(command: string): readonly string[] {
  return ["-c", START, "hook", command];
}

/** @param payload its standard input @param signal ends it */
export async function runHook(start: HookStart, payload: string, signal: AbortSignal): Promise<HookEnd> {
  const process = openProgram(start.profile, start.program, {
    args: [...start.args],
    env: start.env,
    cwd: start.cwd,
    leadsGroup: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const { promise: failed, resolve } = Promise.withResolvers<HookEnd>();
  const fail = (why: string) => {
    resolve({ type: "failed", why });
    killGroup(process);
  };
  const stop = () => fail("the turn was stopped");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const timer = setTimeout(() => fail(`it took longer than ${start.timeout / 1_000} s`), start.timeout);
  const watch = setInterval(() => look(process.pid, start, fail).catch(() => {}), WATCH_MS);
  try {
    feed(process.stdin, payload).catch(() => {});
    let room = MOST_OUTPUT;
    const take = (size: number) => {
      room -= size;
      if (room < 0) fail("it printed more than 1 MB");
      return room >= 0;
    };
    const reading = Promise.all([textOf(process.stdout, take), textOf(process.stderr, take)]);
    const { signal: killer, code } = await process.status;
    // Without a namespace of its own, its children live on, and one outside of its group keeps its output open.
    killGroup(process);
    const exited = reading.then(([stdout, stderr]): HookEnd =>
      killer === null
        ? { type: "exited", code, stdout, stderr }
        : { type: "failed", why: `it was ended by ${killer}` }
    );
    return await Promise.race([failed, exited]);
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener("abort", stop);
  }
}

async function look(pid: number, { isPastLimits }: HookStart, fail: (why: string) => void): Promise<void> {
  const tree = await processTree(pid, MOST_PROCESSES);
  if (tree.length > MOST_PROCESSES) fail(`it started more than ${MOST_PROCESSES} processes`);
  else if (memoryOf(tree) > MOST_MEMORY) fail("it took more than 1 GiB of memory");
  else if (await isPastLimits?.()) fail("it wrote too much");
}

async function feed(stdin: WritableStream<Uint8Array>, payload: string): Promise<void> {
  const writer = stdin.getWriter();
  await writer.write(new TextEncoder().encode(payload));
  await writer.close();
}

/** @param take whether this many bytes more are read */
async function textOf(stream: ReadableStream<Uint8Array>, take: (size: number) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    if (take(bytes.length)) text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
