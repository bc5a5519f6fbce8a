/**
 * The messages that a view is made of: those of the newest turns. What is certain to exceed the model's window is left
 * out, in large steps and whole turns, so that the bytes before stay the same from request to request.
 */
import type { MessageEntry } from "../core/entries.ts";
import type { Store } from "../core/ports.ts";

/** No text has more characters a token on average: what is longer fits into no window. */
const CHARACTERS_A_TOKEN = 8;

export interface WindowOptions {
  readonly store: Pick<Store, "messages" | "sizes" | "turn">;
  readonly session: string;
  /** Tokens that fit. */
  window(): number;
}

export class HistoryWindow {
  readonly #options: WindowOptions;
  #messages: MessageEntry[] = [];
  #first = 1;
  /** As it was when the user was told last. */
  #told = 1;
  #lost = false;

  /** @param first the first turn that was sent when the session was left; undefined for a new one */
  constructor(options: WindowOptions, first: number | undefined) {
    this.#options = options;
    if (first === undefined) return;
    this.#first = this.#told = first;
    this.#first = this.#begin();
    this.#read();
  }

  /** The first turn of which the messages are. */
  get first(): number {
    return this.#first;
  }

  get messages(): readonly MessageEntry[] {
    return this.#messages;
  }

  push(messages: readonly MessageEntry[]): void {
    this.#messages.push(...messages);
  }

  /** To be called between turns. @returns what is news: turns were left out, messages that were read cannot be */
  slide(): { readonly slid: boolean; readonly lost: boolean } {
    const first = this.#begin();
    if (first !== this.#first) {
      this.#first = first;
      this.#read();
    }
    const news = { slid: first !== this.#told, lost: this.#lost };
    this.#told = first;
    this.#lost = false;
    return news;
  }

  #read(): void {
    const { store, session } = this.#options;
    this.#messages = [...store.messages(session, { first: this.#first })];
    this.#lost ||= this.#messages.some((message) =>
      message.type === "control_note" && message.reason === "unreadable"
    );
  }

  /** The turn to begin with: the newest ones that take half of the room, once all of them take more than it. */
  #begin(): number {
    const { store, session, window } = this.#options;
    const most = window() * CHARACTERS_A_TOKEN;
    const sizes = [...store.sizes(session, this.#first)];
    let sum = sizes.reduce((all, [, size]) => all + size, 0);
    if (sum <= most) return this.#first;
    for (const [turn, size] of sizes.slice(0, -1)) {
      sum -= size;
      if (sum <= most / 2) return turn + 1;
    }
    return sizes.at(-1)?.[0] ?? this.#first;
  }
}
