/** Stops all processes of a program for a moment. Source: signal(7), proc_pid_stat(5). */
import { processTree, signalAll } from "../commands/process_tree.ts";

const LONGEST_MS = 5_000;
const PAUSE_MS = 5;

/** Stopped, traced, ended: none of these runs. */
const STILL = "TtZX";
/**
 * A process that starts another one waits without interruption until that one runs its program, and that one may be stopped.
 * Both stops are pending then. A write to a file ends sooner.
 */
const WAITING = "D";
const LONGEST_WRITE_MS = 500;

/**
 * Runs the work while none of the program's processes does. For consistency, not for safety: the kernel can continue a
 * process, for example when a folder changes, see F_SETSIG and F_NOTIFY in fcntl(2).
 * @throws {Error} one line, if they cannot be stopped
 */
export async function whileStopped<T>({ pid }: Deno.ChildProcess, work: () => Promise<T>): Promise<T> {
  const stopped = new Set<number>();
  try {
    await stop(pid, stopped);
    return await work();
  } finally {
    signalAll([...stopped], "SIGCONT");
  }
}

async function stop(pid: number, stopped: Set<number>): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  /** When each was first seen waiting. */
  const waiting = new Map<number, number>();
  const runs = (one: number) => {
    const states = statesOf(one).filter((state) => !STILL.includes(state));
    if (states.length === 0) return false;
    if (!states.every((state) => state === WAITING)) waiting.delete(one);
    return performance.now() - waiting.getOrInsert(one, performance.now()) < LONGEST_WRITE_MS;
  };
  // A process that ran while the tree was read may have started another one.
  for (let quiet = 0; quiet < 2;) {
    const running = (await processTree(pid)).filter(runs);
    quiet = running.length === 0 ? quiet + 1 : 0;
    for (const one of running) stopped.add(one);
    signalAll(running, "SIGSTOP");
    if (performance.now() > until) throw new Error("its processes cannot be stopped");
    if (running.length > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Of its threads. */
function statesOf(pid: number): readonly string[] {
  try {
    return Array.from(
      Deno.readDirSync(`/proc/${pid}/task`),
      ({ name }) => stateOf(`/proc/${pid}/task/${name}/stat`),
    );
  } catch {
    // It has ended.
    return [];
  }
}

/** The program's name, between parentheses, may contain any character. */
function stateOf(file: string): string {
  try {
    const text = Deno.readTextFileSync(file);
    return text.slice(text.lastIndexOf(")") + 2, text.lastIndexOf(")") + 3);
  } catch {
    return "X";
  }
}
