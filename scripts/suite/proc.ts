/** Processes of this machine, as /proc shows them. Linux. */

export interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** Clock ticks after the boot; with the id, it names a process for good. */
  readonly started: number;
  /** CPU time, with that of the children it has reaped. */
  readonly seconds: number;
}

/** `getconf CLK_TCK` on every Linux that Deno runs on. */
const TICKS = 100;

/** Those that have ended and are not reaped are left out. */
export async function readProcesses(): Promise<ReadonlyMap<number, ProcessTimes>> {
  const processes = new Map<number, ProcessTimes>();
  const ids = (await Array.fromAsync(Deno.readDir("/proc"))).map(({ name }) => Number(name));
  await Promise.all(
    ids.filter(Number.isInteger).map(async (pid) => {
      const process = parseStat(pid, await read(pid, "stat"));
      if (process !== undefined) processes.set(pid, process);
    }),
  );
  return processes;
}

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function parseStat(pid: number, stat: string): ProcessTimes | undefined {
  // The name, in parentheses, may hold blanks. What follows begins with the state, the third field.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || state === "Z" || state === "X") return undefined;
  const field = (number: number) => Number(fields[number - 4]);
  const ticks = field(14) + field(15) + field(16) + field(17);
  return { pid, parent: field(4), started: field(22), seconds: ticks / TICKS };
}

/** The command line, with blanks between its arguments; empty if the process has ended. */
export async function commandOf(pid: number): Promise<string> {
  return (await read(pid, "cmdline")).replaceAll("\0", " ").trim();
}

/** Empty if the process is gone. */
async function read(pid: number, file: string): Promise<string> {
  return await Deno.readTextFile(`/proc/${pid}/${file}`).catch(() => "");
}
