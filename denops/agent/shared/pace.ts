/**
 * The one timer between whoever says something and the screen, at the source of what is said: the first piece passes at
 * once, later ones together, at most every 32 ms.
 */

const INTERVAL_MS = 32;

export interface PaceClock {
  now(): number;
  /** @returns what cancels it */
  setTimer(run: () => void, milliseconds: number): () => void;
}

const realClock: PaceClock = {
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
  #cancelTimer: (() => void) | undefined;

  /** @param pass passes on what has come, and throws nothing */
  constructor(pass: () => void, clock = realClock) {
    this.#pass = pass;
    this.#clock = clock;
  }

  /** Something has come. */
  heard(): void {
    if (this.#cancelTimer !== undefined) return;
    const wait = this.#last + INTERVAL_MS - this.#clock.now();
    if (wait <= 0) this.flush();
    else this.#cancelTimer = this.#clock.setTimer(() => this.flush(), wait);
  }

  /** Passes on what has come now: what comes next must not overtake it, or somebody waits. */
  flush(): void {
    this[Symbol.dispose]();
    this.#last = this.#clock.now();
    this.#pass();
  }

  [Symbol.dispose](): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
