/**
 * CPU time of a process with all its descendants, orphans and detached ones included.
 *
 * Linux: by a control group of its own where one can be made, else sampled from /proc. Elsewhere there is none.
 * @see https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files (`usage_usec`)
 * @see https://docs.kernel.org/admin-guide/cgroup-v1/cpuacct.html (`cpuacct.usage`, nanoseconds)
 */
import { join } from "node:path";
import { commandOf, type ProcessTimes, readProcesses } from "./proc.ts";

export interface CpuMeter extends AsyncDisposable {
  /** The arguments that start `command` inside of the meter. */
  wrap(command: readonly string[]): readonly string[];
  /** Must be called with the id of the process that `wrap` started. */
  started(pid: number): void;
  /** Seconds so far. */
  read(): Promise<number>;
  /** Command lines of the processes that still run. */
  running(): Promise<readonly string[]>;
  /** Kills all that run. */
  kill(): Promise<void>;
  /** Also kills all that run. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the meters of this machine measure with, for the last line of a run. */
export type MeterKind = "cgroup" | "sampled" | "none";

export interface Meters extends Disposable {
  readonly kind: MeterKind;
  open(): Promise<CpuMeter>;
}

/** @param options `cgroup: false` samples even where a control group can be made */
export async function openMeters({ cgroup = true } = {}): Promise<Meters> {
  const hierarchy = cgroup ? await writableHierarchy() : undefined;
  if (hierarchy !== undefined) {
    let last = 0;
    const open = () => groupMeter(hierarchy, `agent-tests-${Deno.pid}-${++last}`);
    return { kind: "cgroup", open, [Symbol.dispose]: () => {} };
  }
  if (Deno.build.os !== "linux") {
    return { kind: "none", open: () => Promise.resolve(noMeter()), [Symbol.dispose]: () => {} };
  }
  const sampler = new Sampler();
  return {
    kind: "sampled",
    open: () => Promise.resolve(sampler.open()),
    [Symbol.dispose]: () => sampler[Symbol.dispose](),
  };
}

/** Knows the process, but none of its descendants. */
function noMeter(): CpuMeter {
  let started: number | undefined;
  const end = () => Promise.resolve(started === undefined ? undefined : kill(started));
  return {
    wrap: (command) => command,
    started: (pid) => {
      started = pid;
    },
    read: () => Promise.resolve(0),
    running: () => Promise.resolve([]),
    kill: end,
    [Symbol.asyncDispose]: end,
  };
}

/** A mounted hierarchy of control groups that accounts CPU time. */
interface Hierarchy {
  /** Folder of this process's own group. */
  readonly folder: string;
  readonly file: string;
  /** Seconds, from the text of the file. */
  seconds(text: string): number;
}

async function writableHierarchy(): Promise<Hierarchy | undefined> {
  const groups = await Deno.readTextFile("/proc/self/cgroup").catch(() => "");
  const v2 = /^0::(\/.*)$/m.exec(groups)?.[1];
  const v1 = /^\d+:(?:[^:]*,)?cpuacct(?:,[^:]*)?:(\/.*)$/m.exec(groups)?.[1];
  const candidates: Hierarchy[] = [];
  if (v2 !== undefined) {
    const seconds = (text: string) => Number(/^usage_usec (\d+)$/m.exec(text)?.[1]) / 1e6;
    candidates.push({ folder: join("/sys/fs/cgroup", v2), file: "cpu.stat", seconds });
  }
  if (v1 !== undefined) {
    const seconds = (text: string) => Number(text) / 1e9;
    candidates.push({ folder: join("/sys/fs/cgroup/cpuacct", v1), file: "cpuacct.usage", seconds });
  }
  for (const candidate of candidates) {
    if (await isWritable(candidate).catch(() => false)) return candidate;
  }
  return undefined;
}

async function isWritable(hierarchy: Hierarchy): Promise<boolean> {
  // A folder that is none of cgroups takes any file.
  await Deno.stat(join(hierarchy.folder, "cgroup.procs"));
  await using meter = await groupMeter(hierarchy, `agent-tests-${Deno.pid}-probe`);
  const [program = "", ...args] = meter.wrap(["true"]);
  const command = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" });
  return (await command.output()).success && await meter.read() > 0;
}

async function groupMeter(hierarchy: Hierarchy, name: string): Promise<CpuMeter> {
  const folder = join(hierarchy.folder, name);
  await Deno.mkdir(folder);
  const members = async () => {
    const text = await Deno.readTextFile(join(folder, "cgroup.procs")).catch(() => "");
    return text.split("\n").filter((line) => line !== "").map(Number);
  };
  return {
    wrap: (command) => ["sh", "-c", 'echo $$ > "$0" && exec "$@"', join(folder, "cgroup.procs"), ...command],
    started: () => {},
    read: async () => hierarchy.seconds(await Deno.readTextFile(join(folder, hierarchy.file))),
    running: async () => commandsOf(await members()),
    kill: async () => (await members()).forEach(kill),
    async [Symbol.asyncDispose]() {
      // A group can be removed when its last process has been reaped.
      for (let tries = 0; tries < 200; tries++) {
        (await members()).forEach(kill);
        if (await Deno.remove(folder).then(() => true, () => false)) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
}

/** Without those that have ended and are not reaped yet. */
async function commandsOf(pids: readonly number[]): Promise<readonly string[]> {
  return (await Promise.all(pids.map(commandOf))).filter((command) => command !== "");
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Milliseconds between two samples. */
const SAMPLE = 200;

/** One process tree that is sampled. */
interface Tree {
  readonly processes: Map<number, ProcessTimes>;
  /** Seconds of processes that ended where no process of the tree could reap them. */
  lost: number;
}

/** Samples /proc for all its meters at once. */
class Sampler implements Disposable {
  readonly #trees = new Set<Tree>();
  readonly #timer = setInterval(() => void this.#sample(), SAMPLE);

  open(): CpuMeter {
    const tree: Tree = { processes: new Map(), lost: 0 };
    this.#trees.add(tree);
    const read = async () => {
      await this.#sample();
      return [...tree.processes.values()].reduce((sum, { seconds }) => sum + seconds, tree.lost);
    };
    const killAll = async () => {
      await this.#sample();
      [...tree.processes.keys()].forEach(kill);
    };
    return {
      wrap: (command) => command,
      started: (pid) => {
        tree.processes.set(pid, { pid, parent: Deno.pid, started: 0, seconds: 0 });
      },
      read,
      running: async () => {
        await this.#sample();
        return commandsOf([...tree.processes.keys()]);
      },
      kill: killAll,
      [Symbol.asyncDispose]: async () => {
        await killAll();
        this.#trees.delete(tree);
      },
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #sample(): Promise<void> {
    const running = await readProcesses();
    for (const tree of this.#trees) update(tree, running);
  }
}

function update(
  tree: Tree,
  running: ReadonlyMap<number, ProcessTimes>,
): void {
  const { processes } = tree;
  for (const [pid, before] of processes) {
    const now = running.get(pid);
    // A process id is used again: its time of start tells.
    if (now !== undefined && (before.started === 0 || before.started === now.started)) continue;
    processes.delete(pid);
    // A parent that reaps its child counts the child's time as its own.
    if (!processes.has(before.parent)) tree.lost += before.seconds;
  }
  // A child may stand before its parent: until no more are found.
  for (let found = true; found;) {
    found = false;
    for (const [pid, process] of running) {
      if (processes.has(pid) || !processes.has(process.parent)) continue;
      processes.set(pid, process);
      found = true;
    }
  }
  for (const [pid, before] of processes) processes.set(pid, running.get(pid) ?? before);
}
