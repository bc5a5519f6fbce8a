/** Watches whether each request of a session begins as the one before, and what it costs where it does not. */
import type { Price } from "../../protocol/config.ts";
import type { RequestResult } from "../../protocol/requests.ts";
import { firstBreak } from "../context/outline.ts";
import type { Prompt } from "../core/messages.ts";

/** Of English and code. */
const CHARACTERS_A_TOKEN = 4;

export class Prefix {
  readonly #price: Price | undefined;
  #last: Prompt | undefined;
  #broken: RequestResult<"context">["broken"];

  constructor(price: Price | undefined) {
    this.#price = price;
  }

  /** Of the last request that broke it. */
  get broken(): Pick<RequestResult<"context">, "broken"> {
    return this.#broken === undefined ? {} : { broken: this.#broken };
  }

  note(prompt: Prompt): void {
    const found = this.#last === undefined ? undefined : firstBreak(this.#last, prompt);
    this.#last = prompt;
    if (found === undefined) return;
    const cost = this.#costOf(found.sent - found.kept);
    this.#broken = { ...found, ...(cost === undefined ? {} : { cost }) };
  }

  /** What so many characters cost more than from the cache. */
  #costOf(characters: number): number | undefined {
    if (this.#price === undefined) return undefined;
    const { input, cached_read = input, cached_write = input } = this.#price;
    return characters / CHARACTERS_A_TOKEN * (Math.max(input, cached_write) - cached_read) / 1_000_000;
  }
}
