/**
 * The one timer between a model and the screen, at the source of what is said: the first piece passes at once, later
 * ones together, at most every 32 ms. Whatever else happens passes them on first.
 */

const INTERVAL_MS = 32;
/** The first text of a message waits for this many word characters, so that "**Wh" never flashes; later ones for one. */
const FIRST_TEXT = 8;
const WORD = /[\p{L}\p{N}_]/gu;

export interface PaceClock {
  now(): number;
  /** @returns what cancels it */
  setTimer(run: () => void, milliseconds: number): () => void;
}

export const realClock: PaceClock = {
  now: () => performance.now(),
  setTimer(run, milliseconds) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

export class Pace implements Disposable {
  readonly #pass: () => void;
  readonly #clock: PaceClock;
  #last = -Infinity;
  /** Word characters that the next piece still needs. */
  #missing = FIRST_TEXT;
  #cancelTimer: (() => void) | undefined;

  /** @param pass on what has come; throws nothing */
  constructor(pass: () => void, clock = realClock) {
    this.#pass = pass;
    this.#clock = clock;
  }

  /** Something has come. @param text of a message; undefined if it need not be long enough to be read */
  heard(text?: string): void {
    if (text === undefined) this.#missing = 0;
    if (this.#missing > 0) this.#missing -= text?.match(WORD)?.length ?? 0;
    if (this.#missing > 0 || this.#cancelTimer !== undefined) return;
    const wait = this.#last + INTERVAL_MS - this.#clock.now();
    if (wait <= 0) this.flush();
    else this.#cancelTimer = this.#clock.setTimer(() => this.flush(), wait);
  }

  /** Passes on what has come, be it long enough or not. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#last = this.#clock.now();
    this.#missing = 1;
    this.#pass();
  }

  [Symbol.dispose](): void {
    this.#cancelTimer?.();
  }
}
