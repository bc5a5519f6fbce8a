/** Requests the title of a session: once, after the first turn that ends normally. */
import { firstTitle } from "../log/title.ts";
import { type MessageEntry, wordsOf } from "../log/entries.ts";
import { type Mode, MODES } from "../context/modes.ts";
import type { UserMessage } from "../log/events.ts";
import type { Measured, Meter, MeteredModel } from "../agent/turn/meter.ts";
import type { Runner, TurnEnd } from "../agent/turn/runner.ts";

interface TitlingPorts {
  /** The option `title`. */
  readonly wanted: boolean;
  readonly runner: Pick<Runner, "title">;
  mode(): Mode;
  /** Replaces the title if it is still `known`; otherwise returns false. */
  retitle(known: string, title: string): boolean;
  readonly meter: Pick<Meter, "count">;
  model(): MeteredModel;
  /** The number of the last turn. */
  turn(): number;
  /** The session has a new title. */
  titled(title: string): void;
}

export class Titling {
  readonly #ports: TitlingPorts;
  readonly #closing = new AbortController();
  #asking: Promise<void> = Promise.resolve();
  #done: boolean;

  constructor(ports: TitlingPorts, done: boolean) {
    this.#ports = ports;
    this.#done = done;
  }

  /** A title was already requested, in this process or another. */
  get done(): boolean {
    return this.#done;
  }

  /** True once, if a title should be requested after this turn. */
  take(end: TurnEnd): boolean {
    const { wanted, runner } = this.#ports;
    if (this.#done || !wanted || runner.title === undefined || end.type !== "stopped") return false;
    this.#done = end.reason !== "cancelled" && end.reason !== "refused";
    return this.#done;
  }

  /** Requests a title in the background. */
  ask(prompt: UserMessage, history: readonly MessageEntry[]): void {
    this.#asking = this.#ask(prompt, history).catch(() => {
      // The first line of the question stays the title.
    });
  }

  /** Cancels the current request, and all later ones. */
  stop(): void {
    this.#closing.abort();
  }

  /** Resolves when the current request has ended. */
  get settled(): Promise<void> {
    return this.#asking;
  }

  async #ask(prompt: UserMessage, history: readonly MessageEntry[]): Promise<void> {
    const { runner } = this.#ports;
    const question = wordsOf(prompt);
    const answer = history.findLast((entry) => entry.type === "assistant_message")?.text ?? "";
    // A title from the user takes precedence.
    const known = firstTitle(wordsOf(history.find((entry) => entry.type === "user_message") ?? prompt));
    const exchange = { question, answer, mode: this.#ports.mode() };
    const { meter, model, turn } = this.#ports;
    const of = { turn: turn(), model: model() };
    const count = (measured: Measured) => meter.count(measured, MODES.title, [], of);
    const title = await runner.title?.(exchange, count, this.#closing.signal);
    if (title !== undefined && this.#ports.retitle(known, title)) this.#ports.titled(title);
  }
}
