/** What processes cost, as Linux counts it. Source: proc(5). */

/** Clock ticks are hundredths of a second on every Linux that Deno runs on. */
const TICK_MS = 10;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Milliseconds in user mode and in the kernel. */
  readonly own: number;
  /** The same of children that have ended. */
  readonly ended: number;
}

/** Milliseconds of CPU: of a process alone, and of all below it, those that have ended too. */
export interface CpuTime {
  readonly own: number;
  readonly helpers: number;
}

export function cpuTime(pid: number): CpuTime {
  const all = stats();
  const self = all.find((stat) => stat.pid === pid);
  const below = descendants(pid, all);
  const helpers = below.reduce((sum, { own, ended }) => sum + own + ended, self?.ended ?? 0);
  return { own: self?.own ?? NaN, helpers };
}

/** The proportional set size of everything below this process. Megabytes. */
export function helperMegabytes(pid: number): number {
  return megabytes(descendants(pid, stats()).map((stat) => stat.pid));
}

/** Proportional set size of these processes. Megabytes. */
export function megabytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const text = read(pid, "smaps_rollup");
    return sum + Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
  }, 0) / 1_000;
}

function descendants(pid: number, all: readonly Stat[]): readonly Stat[] {
  return all.filter((stat) => stat.parent === pid).flatMap((
    child,
  ) => [child, ...descendants(child.pid, all)]);
}

function stats(): readonly Stat[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter(Number.isInteger)
    .flatMap((pid) => {
      const text = read(pid, "stat");
      // The name, in parentheses, may hold blanks. After it come the state, the parent and, ten fields on, the times.
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
      const [, parent, user = NaN, system = NaN, endedUser = NaN, endedSystem = NaN] = [
        ...fields.slice(0, 2),
        ...fields.slice(11, 15),
      ];
      if (parent === undefined) return [];
      const own = (user + system) * TICK_MS;
      return [{ pid, parent, own, ended: (endedUser + endedSystem) * TICK_MS }];
    });
}

/** Empty if the process is gone. */
function read(pid: number, file: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return "";
  }
}
