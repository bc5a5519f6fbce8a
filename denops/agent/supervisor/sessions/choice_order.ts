/** The user's choices for a session, carried out one after the other and between two messages. */

/** A turn that is about to be sent to the engine. */
export interface NextTurn {
  /** Resolves when all earlier choices are carried out. */
  readonly choices: Promise<void>;
  /** Call it once the engine has the message, or will not get it: later choices are carried out. */
  sent(): void;
}

export class ChoiceOrder {
  /** Never rejects. */
  #last: Promise<void> = Promise.resolve();
  /** Counts the quick choices since the last message. */
  #quick = { count: 0 };

  /** Resolves when all choices are carried out. */
  get done(): Promise<void> {
    return this.#last;
  }

  /** Rejects as the choice does. */
  async add(choice: () => Promise<void>): Promise<void> {
    const done = this.#last.then(choice);
    this.#last = done.catch(() => {});
    await done;
  }

  /** Skips the choice if another quick one follows before it is carried out. */
  async addQuick(choice: () => Promise<void>): Promise<void> {
    const quick = this.#quick;
    const number = ++quick.count;
    await this.add(async () => {
      if (number === quick.count) await choice();
    });
  }

  /** Choices after this call apply to the next message. */
  beginTurn(): NextTurn {
    const { promise, resolve } = Promise.withResolvers<void>();
    const choices = this.#last;
    this.#last = choices.then(() => promise);
    this.#quick = { count: 0 };
    return { choices, sent: resolve };
  }
}
