/** Things that happen one after the other, and who waits for the next of them. */
export class Milestones<T> {
  readonly #all: T[] = [];
  readonly #waiting = new Map<number, PromiseWithResolvers<T>>();
  #asked = 0;

  get all(): readonly T[] {
    return this.#all;
  }

  add(value: T): void {
    this.#waiting.get(this.#all.length)?.resolve(value);
    this.#all.push(value);
  }

  /** The n-th call gets the n-th value, which may have come already. */
  next(): Promise<T> {
    const at = this.#asked++;
    const value = this.#all[at];
    if (value !== undefined) return Promise.resolve(value);
    const waiting = Promise.withResolvers<T>();
    this.#waiting.set(at, waiting);
    return waiting.promise;
  }
}
