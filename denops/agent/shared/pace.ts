/**
 * Limits the rate of updates at their source, with one timer: the first piece passes at once, later ones
 * together, at most every 32 ms.
 */

const INTERVAL_MS = 32;

export interface PaceClock {
  now(): number;
  /** @returns a function that cancels the timer */
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

  /** @param pass passes the pending pieces on, and never throws */
  constructor(pass: () => void, clock = realClock) {
    this.#pass = pass;
    this.#clock = clock;
  }

  /** A piece has arrived. */
  heard(): void {
    if (this.#cancelTimer !== undefined) return;
    const wait = this.#last + INTERVAL_MS - this.#clock.now();
    if (wait <= 0) this.flush();
    else this.#cancelTimer = this.#clock.setTimer(() => this.flush(), wait);
  }

  /** Passes pending pieces on now, so that the next update does not overtake them. */
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
