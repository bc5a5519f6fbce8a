/** Standard output, whose reader may go away. */

export class Output {
  readonly #onFailure: (error: unknown) => void;
  #isBroken = false;

  /** @param onFailure called once, when nothing can be written any more */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  write(text: string): void {
    if (this.#isBroken) return;
    try {
      writeAll(Deno.stdout, text);
    } catch (error) {
      this.#isBroken = true;
      this.#onFailure(error);
    }
  }
}

/** Writes to standard error, where a reader that is gone does not matter. */
export function writeError(text: string): void {
  try {
    writeAll(Deno.stderr, text);
  } catch {
    // Nobody reads it.
  }
}

/** Pause before a full pipe is tried again. */
const PAUSE_MS = 5;

/** @throws {Error} if nobody can read it */
function writeAll(stream: typeof Deno.stdout, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += stream.writeSync(bytes.subarray(at));
    } catch (error) {
      // Another program that shares the pipe has made it non-blocking.
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
