/** The processes that a process has started, and theirs. */

/** The process and all below it; those that have been handed to another parent are not found. */
export async function processTree(root: number): Promise<readonly number[]> {
  const children = Deno.build.os === "linux" ? childrenFromProc : childrenFromPs;
  return await children(root);
}

async function childrenFromProc(root: number): Promise<readonly number[]> {
  const found: number[] = [root];
  for (const pid of found) {
    try {
      for await (const task of Deno.readDir(`/proc/${pid}/task`)) {
        const text = await Deno.readTextFile(`/proc/${pid}/task/${task.name}/children`);
        found.push(...text.trim().split(" ").filter((part) => part !== "").map(Number));
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

async function childrenFromPs(root: number): Promise<readonly number[]> {
  const found: number[] = [root];
  try {
    const { stdout } = await new Deno.Command("ps", { args: ["-axo", "pid=,ppid="], stderr: "null" })
      .output();
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

/** @param pids a negative one is the group of that process */
export function signalAll(pids: readonly number[], signal: Deno.Signal): void {
  for (const pid of pids) {
    try {
      Deno.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Bytes that these processes have to themselves. 0 where the system does not say. */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  if (Deno.build.os !== "linux") return 0;
  const own = pids.map(async (pid) => {
    const text = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
  });
  return (await Promise.all(own)).reduce((sum, bytes) => sum + bytes, 0);
}
