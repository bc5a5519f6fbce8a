/** Finds the descendants of a process. */
import { openProgram } from "../system/programs.ts";

/** Includes the space after it. */
const LONGEST_PID = 8;
const decoder = new TextDecoder();

/**
 * The process and its descendants, except those that another process has adopted.
 * @param most the search ends after this many
 */
export async function processTree(root: number, most = Infinity): Promise<readonly number[]> {
  return Deno.build.os === "linux" ? childrenFromProc(root, most) : await childrenFromPs(root);
}

/** Synchronous: a fork bomb would outrun a search that waits between its steps. */
function childrenFromProc(root: number, most: number): readonly number[] {
  const found: number[] = [root];
  for (const pid of found) {
    if (found.length > most) break;
    try {
      for (const task of Deno.readDirSync(`/proc/${pid}/task`)) {
        found.push(...listed(`/proc/${pid}/task/${task.name}/children`, most));
      }
    } catch {
      // The process has ended.
    }
  }
  return found;
}

/** Reads somewhat more than `most` entries: for thousands of short-lived processes the kernel is slow. */
function listed(path: string, most: number): readonly number[] {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(8_192);
  let text = "";
  while (text.length < most * LONGEST_PID) {
    const count = file.readSync(bytes);
    if (count === null) break;
    text += decoder.decode(bytes.subarray(0, count));
  }
  return text.split(" ").filter((part) => part !== "").map(Number);
}

async function childrenFromPs(root: number): Promise<readonly number[]> {
  const found: number[] = [root];
  try {
    const { stdout } = await openProgram("process_list", "/bin/ps", {
      args: ["-axo", "pid=,ppid="],
      env: {},
      stderr: "null",
    }).output();
    const pairs = new TextDecoder().decode(stdout).trim().split("\n").map((line) =>
      line.trim().split(/\s+/).map(Number)
    );
    for (const pid of found) {
      for (const [child, parent] of pairs) {
        if (parent === pid && child !== undefined && !found.includes(child)) found.push(child);
      }
    }
  } catch {
    // Without ps only the process itself is known.
  }
  return found;
}

/** @param pids a negative number means the group of that process */
export function signalAll(pids: readonly number[], signal: Deno.Signal): void {
  for (const pid of pids) {
    try {
      Deno.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}

/** Bytes of private memory of these processes. 0 if the system does not report it. */
export function memoryOf(pids: readonly number[]): number {
  if (Deno.build.os !== "linux") return 0;
  return pids.reduce((sum, pid) => sum + ownMemory(pid), 0);
}

function ownMemory(pid: number): number {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
