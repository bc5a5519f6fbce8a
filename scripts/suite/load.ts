/** Processes that compute and do nothing else, so that tests run as on a busy machine. */

/** Each ends with this process, however this one ends. */
const BUSY = 'while kill -0 "$0" 2>/dev/null; do n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done; done';

export function runLoad(count: number): Disposable {
  const command = new Deno.Command("sh", { args: ["-c", BUSY, String(Deno.pid)], stdin: "null" });
  const processes = Array.from({ length: count }, () => command.spawn());
  return { [Symbol.dispose]: () => processes.forEach((process) => process.kill("SIGKILL")) };
}
