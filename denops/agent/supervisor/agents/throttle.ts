/** Reads an engine's output no faster than a screen can show it; the rest waits in the engine's process. */
import type { BytePipe } from "../../shared/byte_pipe.ts";

/** Lines and bytes per second: many times the fastest stream of a model. */
const LINES = 3_000;
const BYTES = 32_000_000;
/** Size of a burst, in seconds of the rates. */
const BURST = 2;
const NEWLINE = 10;

export function throttled({ read, write }: BytePipe): BytePipe {
  let credit = BURST;
  let last = performance.now();
  return {
    async read() {
      if (credit < 0) await pause(-credit * 1_000);
      const bytes = await read();
      const now = performance.now();
      credit = Math.min(BURST, credit + (now - last) / 1_000);
      last = now;
      if (bytes !== undefined) credit -= bytes.length / BYTES + linesOf(bytes) / LINES;
      return bytes;
    },
    write,
  };
}

function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, milliseconds)));
}
