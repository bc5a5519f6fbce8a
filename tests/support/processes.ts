/** The processes of one test, found by a mark that only they carry. Linux. */
import type { ChildNvim } from "./nvim.ts";
import { waitUntil } from "./project.ts";

export interface RunningProcess {
  readonly pid: number;
  /** The command line, with blanks between its arguments. */
  readonly command: string;
}

/** The engine's module or bundle, at the end of an argument. */
export const ENGINE = /\/engine\/main\.(ts|js)(?= |$)/;

/** Processes of which the command line or the environment holds one of the marks. */
export function marked(...marks: readonly string[]): Promise<readonly RunningProcess[]> {
  const found: RunningProcess[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === Deno.pid) continue;
    const command = read(pid, "cmdline");
    // It has ended, or is one of the kernel's.
    if (command === "") continue;
    const text = command + read(pid, "environ");
    const carries = marks.some((mark) => text.includes(mark));
    if (carries && !isZombie(pid)) found.push({ pid, command: command.replaceAll("\0", " ") });
  }
  return Promise.resolve(found);
}

/** Waits until there are such processes, and no fewer than this. */
export function waitForMarked(marks: readonly string[], atLeast: number): Promise<readonly RunningProcess[]> {
  return waitUntil(`${atLeast} processes`, async () => {
    const found = await marked(...marks);
    return found.length >= atLeast ? found : undefined;
  });
}

/** Waits until none is left. */
export async function waitForNone(marks: readonly string[]): Promise<void> {
  let left: readonly RunningProcess[] = [];
  await waitUntil(() => `these to end:\n${left.map(({ command }) => command).join("\n")}`, async () => {
    left = await marked(...marks);
    return left.length === 0;
  });
}

/** Undefined for a process that has ended. */
export function parentOf(pid: number): Promise<number | undefined> {
  const stat = read(pid, "stat");
  const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  return Promise.resolve(stat === "" ? undefined : parent);
}

/** Seconds since a process was started. */
export async function age(pid: number): Promise<number> {
  const stat = read(pid, "stat");
  // The name, in parentheses, may hold blanks; the start is the 22nd field, in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [uptime = "0"] = (await Deno.readTextFile("/proc/uptime")).split(" ");
  return Number(uptime) - Number(fields[19]) / 100;
}

function isZombie(pid: number): boolean {
  const stat = read(pid, "stat");
  return stat === "" || stat[stat.lastIndexOf(")") + 2] === "Z";
}

/**
 * Empty if the process is gone, or somebody else's. Tests look at all processes again and again, and a file of /proc
 * takes far less time than a thread's turn.
 */
function read(pid: number, file: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return "";
  }
}

/** Does something while Neovim's supervisor, a process of its own, sleeps. */
export async function whileSupervisorSleeps(nvim: ChildNvim, act: () => Promise<void>): Promise<void> {
  const pid = await nvim.lua<number>(
    `return vim.fn.jobpid(require("agent.host").all()[1].process.channel)`,
  );
  Deno.kill(pid, "SIGSTOP");
  try {
    await act();
  } finally {
    Deno.kill(pid, "SIGCONT");
  }
}

/** Does something while all processes that Neovim's supervisor has started sleep. */
export async function whileEnginesSleep(nvim: ChildNvim, act: () => Promise<void>): Promise<void> {
  const pids = await nvim.lua<number[]>(`
    local found = { vim.fn.jobpid(require("agent.host").all()[1].process.channel) }
    for _, pid in ipairs(found) do
      vim.list_extend(found, vim.api.nvim_get_proc_children(pid))
    end
    return vim.list_slice(found, 2)`);
  const signal = (name: Deno.Signal) => {
    for (const pid of pids) {
      try {
        Deno.kill(pid, name);
      } catch (error) {
        // A short-lived process has ended meanwhile.
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  };
  signal("SIGSTOP");
  try {
    await act();
  } finally {
    signal("SIGCONT");
  }
}
