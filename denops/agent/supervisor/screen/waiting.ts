/** Requests that wait for somebody on the other side of Neovim: approvals and questions to the editor. */

/** Each waiting request is settled once; an answer that comes twice or too late does nothing. */
export class Waiting<T> {
  readonly #open = new Map<number, { readonly owner: string; settle(value: T): void }>();

  /** @param owner whose end settles the request, see {@link settleAll} */
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

  /** The requests of this owner, all answered alike. */
  settleAll(owner: string, value: T): readonly number[] {
    const requests = [...this.#open].filter(([, waiting]) => waiting.owner === owner).map(([request]) =>
      request
    );
    for (const request of requests) this.settle(request, value);
    return requests;
  }
}
