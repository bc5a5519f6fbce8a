/** Detects the end of a process that is not our child. */
import process from "node:process";

/** Calls `ended` once, at most `interval` milliseconds after the process ends. */
export function watchProcess(pid: number, interval: number, ended: () => void): void {
  const timer = setInterval(() => {
    if (isAlive(pid)) return;
    clearInterval(timer);
    ended();
  }, interval);
  Deno.unrefTimer(Number(timer));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Without permission to signal it, the process still exists.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
