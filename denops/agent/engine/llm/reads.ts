/** The bytes of an answer, as fast as they come at first, then together: most servers send one packet for each token. */
import { Pace } from "../../protocol/pace.ts";

/** Bytes that may wait to be taken. */
const MOST_WAITING = 100_000;

export class Reads implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #heard: () => void;
  readonly #pace = new Pace(() => this.#wake?.());
  #isPaced = false;
  #pieces: Uint8Array[] = [];
  #waiting = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #taken: (() => void) | undefined;

  /** @param heard called for each read */
  constructor(body: ReadableStream<Uint8Array>, heard: () => void) {
    this.#reader = body.getReader();
    this.#heard = heard;
    this.#read();
  }

  /** From here on nobody waits for each piece by itself. */
  slowDown(): void {
    this.#isPaced = true;
  }

  /** What has come since the last call, one piece at least; undefined at the end. @throws what has broken the body off */
  async next(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#end === undefined && (this.#isPaced || this.#pieces.length === 0)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#pieces.length > 0) this.#pace.heard();
      });
      this.#wake = undefined;
    }
    const pieces = this.#pieces;
    if (pieces.length > 0) {
      this.#pieces = [];
      this.#waiting = 0;
      this.#taken?.();
      return pieces;
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pace[Symbol.dispose]();
    this.#taken?.();
    await this.#reader.cancel().catch(() => {});
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        this.#heard();
        this.#pieces.push(value);
        this.#waiting += value.length;
        if (this.#isPaced) this.#pace.heard();
        else this.#wake?.();
        if (this.#waiting > MOST_WAITING) await new Promise<void>((resolve) => this.#taken = resolve);
      }
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    // Who waits for the end need not wait for the clock.
    this.#wake?.();
  }
}
