/** Describes how a process ended, with its error output if it has any. */
import { constants } from "node:os";

/** Bytes of stderr in a message. */
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

/** Like a shell, bubblewrap exits with 128 plus the number of the signal that ended its child. */
function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

/** Waits for the moment in which a dying process is reaped. */
export function pauseForEnd(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), 200));
}
