/**
 * Reads an answer's bytes, immediately at first, later in batches: most servers send one packet per token.
 */
import { Pace } from "../../shared/pace.ts";

/** Bytes of one read at most. */
const LARGEST_READ = 16_384;
/** Bytes that may be buffered. */
const MOST_WAITING = 16 * LARGEST_READ;

export class Reads implements AsyncDisposable {
  /** Reads into one buffer: a default reader allocates 64 KiB for each token. */
  readonly #reader: ReadableStreamBYOBReader;
  readonly #heard: () => void;
  readonly #pace = new Pace(() => this.#wake?.());
  readonly #waiting = new Uint8Array(MOST_WAITING);
  #size = 0;
  #isPaced = false;
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #taken: (() => void) | undefined;

  /** @param heard called for each read */
  constructor(body: ReadableStream<Uint8Array>, heard: () => void) {
    this.#reader = body.getReader({ mode: "byob" });
    this.#heard = heard;
    this.#read();
  }

  /** Batches the reads from here on. */
  slowDown(): void {
    this.#isPaced = true;
  }

  /** Returns the bytes since the last call, never empty; undefined at the end. @throws network errors */
  async next(): Promise<Uint8Array | undefined> {
    const waits = this.#size === 0 || (this.#isPaced && !this.#isFull);
    if (this.#end === undefined && waits) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#size > 0) this.#pace.heard();
      });
      this.#wake = undefined;
    }
    if (this.#size > 0) {
      const bytes = this.#waiting.slice(0, this.#size);
      this.#size = 0;
      this.#taken?.();
      return bytes;
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return undefined;
  }

  /** Reading pauses while the buffer is full. */
  get #isFull(): boolean {
    return this.#size + LARGEST_READ > MOST_WAITING;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pace[Symbol.dispose]();
    this.#taken?.();
    await this.#reader.cancel().catch(() => {});
  }

  async #read(): Promise<void> {
    try {
      let buffer = new Uint8Array(LARGEST_READ);
      for (;;) {
        const { done, value } = await this.#reader.read(buffer);
        if (done) break;
        this.#heard();
        this.#waiting.set(value, this.#size);
        this.#size += value.length;
        buffer = new Uint8Array(value.buffer);
        if (this.#isFull) this.#pace.flush();
        else if (this.#isPaced) this.#pace.heard();
        else this.#wake?.();
        if (this.#isFull) {
          await new Promise<void>((resolve) => this.#taken = resolve);
        }
      }
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    // At the end, do not wait for the next batch.
    this.#wake?.();
  }
}
