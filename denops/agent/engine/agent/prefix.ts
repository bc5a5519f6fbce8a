/** Watches whether each request of a session begins as the one before, and what it costs where it does not. */
import type { Price } from "../../protocol/config.ts";
import type { PrefixBreak, RequestResult } from "../../protocol/requests.ts";
import { firstBreak, lengthOf } from "../context/outline.ts";
import type { Prompt } from "../core/messages.ts";

/** Of English and code. */
const CHARACTERS_A_TOKEN = 4;

export class Prefix {
  readonly #price: Price | undefined;
  #last: { readonly prompt: Prompt; readonly mode: string; readonly model: string } | undefined;
  #broken: RequestResult<"context">["broken"];

  constructor(price: Price | undefined) {
    this.#price = price;
  }

  /** Of the last request that broke it. */
  get broken(): Pick<RequestResult<"context">, "broken"> {
    return this.#broken === undefined ? {} : { broken: this.#broken };
  }

  /** @param mode of the session @param model that is asked: each has a cache of its own */
  note(prompt: Prompt, mode: string, model: string): void {
    const last = this.#last;
    this.#last = { prompt, mode, model };
    if (last === undefined) return;
    const found = firstBreak(last.prompt, prompt);
    if (found === undefined && last.model === model) return;
    const broken: PrefixBreak = last.model === model && found !== undefined
      ? { ...found, reason: last.mode === mode ? found.reason : `mode ${mode} instead of ${last.mode}` }
      : {
        where: "the beginning",
        reason: `model ${model} instead of ${last.model}`,
        kept: 0,
        sent: lengthOf(prompt),
      };
    const cost = this.#costOf(broken.sent - broken.kept);
    this.#broken = { ...broken, ...(cost === undefined ? {} : { cost }) };
  }

  /** What so many characters cost more than from the cache. */
  #costOf(characters: number): number | undefined {
    if (this.#price === undefined) return undefined;
    const { input, cached_read = input, cached_write = input } = this.#price;
    return characters / CHARACTERS_A_TOKEN * (Math.max(input, cached_write) - cached_read) / 1_000_000;
  }
}
