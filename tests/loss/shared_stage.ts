/** What the trials of a lane share. The first trial opens it, and so does the next one after a trial that broke down. */
export class SharedStage<T extends AsyncDisposable> implements AsyncDisposable {
  readonly #open: () => Promise<T>;
  #stage: Promise<T> | undefined;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  async play<R>(trial: (stage: T) => Promise<R>): Promise<R> {
    const stage = await (this.#stage ??= this.#open());
    try {
      return await trial(stage);
    } catch (error) {
      // Whatever state its Neovim is in, it is none to go on with.
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stage = await this.#stage?.catch(() => undefined);
    this.#stage = undefined;
    await stage?.[Symbol.asyncDispose]();
  }
}
