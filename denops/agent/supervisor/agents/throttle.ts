/** Reads an engine no faster than a screen could show what it says; until then it waits in its own process. */

/** Lines a second, and bytes: many times what a model's fastest stream is. */
const LINES = 3_000;
const BYTES = 32_000_000;
/** So much may come at once, in seconds of the rates. */
const BURST = 2;
const NEWLINE = 10;

export function throttle(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let credit = BURST;
  let last = performance.now();
  return new TransformStream({
    async transform(bytes, controller) {
      controller.enqueue(bytes);
      const now = performance.now();
      credit = Math.min(BURST, credit + (now - last) / 1_000) - bytes.length / BYTES - linesOf(bytes) / LINES;
      last = now;
      if (credit < 0) await pause(-credit * 1_000);
    },
  });
}

function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, milliseconds)));
}
