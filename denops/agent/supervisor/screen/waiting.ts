/** Requests that wait for an answer from Neovim: approvals and questions to the editor. */

/** Each waiting request is settled once; a second or late answer does nothing. */
export class Waiting<T> {
  readonly #open = new Map<number, { readonly owner: string; settle(value: T): void }>();

  /** @param owner its end settles the request, see {@link settleAll} */
  add(request: number, owner: string): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#open.set(request, { owner, settle: resolve });
    return promise;
  }

  /** True if the request was still waiting. */
  settle(request: number, value: T): boolean {
    const waiting = this.#open.get(request);
    this.#open.delete(request);
    waiting?.settle(value);
    return waiting !== undefined;
  }

  /** Settles all requests of this owner with the same answer. */
  settleAll(owner: string, value: T): readonly number[] {
    const requests = [...this.#open].filter(([, waiting]) => waiting.owner === owner).map(([request]) =>
      request
    );
    for (const request of requests) this.settle(request, value);
    return requests;
  }
}
