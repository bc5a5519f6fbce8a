/** How a process ended, in its own words where it had some. */
import { constants } from "node:os";

/** Bytes of stderr that are kept for a message. */
const STDERR_KEPT = 4_000;

/** One line; never rejects. */
export async function endOf(process: Deno.ChildProcess): Promise<string> {
  let output = "";
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const bytes of process.stderr) {
      output = (output + decoder.decode(bytes, { stream: true })).slice(-STDERR_KEPT);
    }
  })().catch(() => {});
  const status = await process.status;
  await reading;
  const signal = status.signal ?? signalOf(status.code);
  const how = signal === undefined ? `exit code ${status.code}` : `signal ${signal}`;
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const telling = lines.find((line) => /error|cannot|can't|denied|not found/i.test(line)) ?? lines.at(-1);
  return telling === undefined ? how : `${how}: ${telling.slice(0, 300)}`;
}

/** bubblewrap, like a shell, ends with 128 and the number of the signal that ended its child. */
function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

/** The moment in which a dying process is reaped. */
export function pauseForEnd(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), 200));
}
