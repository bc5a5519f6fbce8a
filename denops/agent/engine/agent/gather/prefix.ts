/** Checks that each request extends the one before, and estimates the cost if it does not. */
import type { Price } from "../../../protocol/config.ts";
import type { PrefixBreak, RequestResult } from "../../../protocol/requests.ts";
import { firstBreak, lengthOf } from "../../context/outline.ts";
import type { Folds } from "../../context/folding/folds.ts";
import type { RulesFile } from "../../context/project.ts";
import type { Prompt } from "../../log/model_request.ts";

/** For English and code. */
const CHARACTERS_A_TOKEN = 4;

/** Deliberate changes of an earlier part. */
export interface Causes {
  /** The model's name; each model has its own cache. */
  readonly model: string;
  readonly folds: Folds;
  /** Ids of parts that the user dropped. */
  readonly dropped: ReadonlySet<string>;
  readonly rules: readonly RulesFile[];
}

interface Sent {
  readonly prompt: Prompt;
  readonly causes: Causes;
}

export class Prefix {
  #last: Sent | undefined;
  #broken: RequestResult<"context">["broken"];

  /** The last request that broke the prefix. */
  get broken(): Pick<RequestResult<"context">, "broken"> {
    return this.#broken === undefined ? {} : { broken: this.#broken };
  }

  /** @param causes the current ones @param price of the model */
  note(prompt: Prompt, causes: Causes, price: Price | undefined): void {
    const last = this.#last;
    this.#last = { prompt, causes };
    const found = last && breakOf(last, prompt, causes);
    if (found === undefined) return;
    const cost = costOf(found.sent - found.kept, price);
    this.#broken = { ...found, ...(cost === undefined ? {} : { cost }) };
  }
}

/** The additional cost of sending characters uncached. */
function costOf(characters: number, price: Price | undefined): number | undefined {
  if (price === undefined) return undefined;
  const { input, cached_read = input, cached_write = input } = price;
  return characters / CHARACTERS_A_TOKEN * (Math.max(input, cached_write) - cached_read) / 1_000_000;
}

function breakOf(
  { prompt: before, causes: were }: Sent,
  prompt: Prompt,
  now: Causes,
): PrefixBreak | undefined {
  if (were.model !== now.model) {
    const reason = `model ${now.model} instead of ${were.model}`;
    return { where: "the beginning", reason, kept: 0, sent: lengthOf(prompt) };
  }
  const found = firstBreak(before, prompt);
  if (found === undefined) return undefined;
  return found.where.startsWith("tool ") ? found : { ...found, reason: causeOf(were, now) ?? found.reason };
}

function causeOf(before: Causes, now: Causes): string | undefined {
  const causes = [
    ...before.folds === now.folds ? [] : [now.folds.undone ? "a fold was taken back" : "folded"],
    ...now.dropped.difference(before.dropped).size > 0 ? ["dropped by you"] : [],
    ...before.dropped.difference(now.dropped).size > 0 ? ["brought back by you"] : [],
    ...areSame(before.rules, now.rules) ? [] : ["files of rules were read anew"],
  ];
  return causes.length === 0 ? undefined : causes.join("; ");
}

function areSame(some: readonly RulesFile[], others: readonly RulesFile[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}
