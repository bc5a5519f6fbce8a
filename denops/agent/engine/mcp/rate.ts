/** Limits how many messages a second are processed. */

const MOST_A_SECOND = 200;
const SECOND_MS = 1_000;

export class Rate {
  #since = 0;
  #count = 0;

  /** Whether one more may be processed now. */
  takes(): boolean {
    const now = performance.now();
    if (now - this.#since >= SECOND_MS) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count <= MOST_A_SECOND;
  }

  get isOver(): boolean {
    return this.#count > MOST_A_SECOND && performance.now() - this.#since < SECOND_MS;
  }
}
