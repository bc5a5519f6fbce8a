/**
 * Calls that come again: what was just looked up is not looked up again, what one answer asks for twice is done once,
 * and a loop is noticed.
 */
import { isRecord } from "../../calls/json_schema.ts";
import type { ToolCall } from "../../log/messages.ts";
import type { ParsedArguments } from "../../llm/arguments.ts";
import type { Meaning } from "../permission/meant_by.ts";

/** Iterations after which a look-up may be repeated. */
const REMEMBERED = 2;
/** The same call this many times in a row asks a person, whatever the rules. */
const IN_A_ROW = 3;

export interface ReadCall extends ToolCall, Meaning {
  /** The same for calls that ask for the same. */
  readonly signature: string;
}

export class Repeats {
  /** Signature → iteration of the last time. */
  readonly #seen = new Map<string, number>();
  /** Of calls that are no look-ups. */
  readonly #made = new Map<string, number>();
  /** Every call of before → whether it has come again since that was told last. */
  readonly #requests = new Map<string, { readonly name: string; isAgain: boolean }>();
  #last = "";
  #row = 0;

  /** True if this look-up was made in one of the last two iterations and nothing was changed since. */
  isKnown({ tool, signature, fitted }: ReadCall, iteration: number): boolean {
    if (tool?.readOnly !== true) return false;
    if (fitted.ok && isRecord(fitted.value) && tool.answersChange(fitted.value)) return false;
    const before = this.#seen.get(signature);
    return before !== undefined && before < iteration && iteration - before <= REMEMBERED;
  }

  /** True if the same answer has a call before it that writes or runs the same. */
  isDouble({ tool, signature }: ReadCall, iteration: number): boolean {
    return tool?.readOnly === false && this.#made.get(signature) === iteration;
  }

  /** Notes a call that is asked for, be it run or not. */
  ask({ name, signature }: ReadCall): void {
    this.#requests.set(signature, { name, isAgain: this.#requests.has(signature) });
  }

  /** Names of the calls that have come again since this was asked last. */
  takeRepeated(): readonly string[] {
    const again = [...this.#requests.values()].filter(({ isAgain }) => isAgain);
    for (const call of again) call.isAgain = false;
    return [...new Set(again.map(({ name }) => name))];
  }

  /** Notes a call that is about to be run. */
  note({ tool, signature }: ReadCall, iteration: number): void {
    this.#row = signature === this.#last ? this.#row + 1 : 1;
    this.#last = signature;
    // Whatever changes something may change the answer of any look-up.
    if (tool?.readOnly === true) this.#seen.set(signature, iteration);
    else {
      this.#seen.clear();
      this.#made.set(signature, iteration);
    }
  }

  /** True if the call noted last came for the third time in a row. */
  get isLoop(): boolean {
    return this.#row >= IN_A_ROW;
  }
}

/** Arguments in another order are the same call. @param text as they were written */
export function signatureOf(name: string, text: string, args: ParsedArguments): string {
  return `${name} ${args.ok ? JSON.stringify(sorted(args.value)) : text}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, item]) => [key, sorted(item)]),
  );
}
