/** Divides long work into short slices, so that the engine's other work never waits. */

/** Longest work without a pause, in milliseconds. */
const SLICE_MS = 8;

/** Pause after a slice in the background, as a multiple of the slice: a quarter of a core. */
const REST = 3;

export class Slices {
  #since = performance.now();
  readonly #signal: AbortSignal;
  readonly #isUrgent: () => boolean;

  /** @param isUrgent whether somebody waits for the work: then it pauses only for other work */
  constructor(signal: AbortSignal, isUrgent: () => boolean) {
    this.#signal = signal;
    this.#isUrgent = isUrgent;
  }

  /** Call it between short steps. @throws if the signal is aborted */
  async next(): Promise<void> {
    const spent = performance.now() - this.#since;
    if (spent >= SLICE_MS) {
      const wait = this.#isUrgent() ? 0 : spent * REST;
      await new Promise((resolve) => setTimeout(resolve, wait));
      this.#since = performance.now();
    }
    this.#signal.throwIfAborted();
  }

  /** Call it after a wait that cost nothing. */
  restart(): void {
    this.#since = performance.now();
  }
}
