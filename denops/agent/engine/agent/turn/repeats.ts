/** Detects repeated calls: skips fresh look-ups, runs doubles of one answer once, and notices loops. */
import { isRecord } from "../../calls/json_schema.ts";
import type { ToolCall } from "../../log/messages.ts";
import type { ParsedArguments } from "../../llm/arguments.ts";
import type { Meaning } from "../permission/meant_by.ts";

/** The user decides on a loop. */
export const LOOP_GUARD = { rule: "loop guard", reason: "the same call comes for the third time in a row" };

/** Iterations after which a look-up may be repeated. */
const REMEMBERED = 2;
/** The same call this many times in a row makes the user decide, whatever the rules say. */
const IN_A_ROW = 3;

export interface ReadCall extends ToolCall, Meaning {
  /** Equal for equivalent calls. */
  readonly signature: string;
}

export class Repeats {
  /** Signature → last iteration. */
  readonly #seen = new Map<string, number>();
  /** The same for calls that are not look-ups. */
  readonly #made = new Map<string, number>();
  /** Every earlier call → whether it was repeated since the last report. */
  readonly #requests = new Map<string, { readonly name: string; isAgain: boolean }>();
  #last = "";
  #row = 0;

  /** True if this look-up ran in the last two iterations and nothing has changed since. */
  isKnown({ tool, signature, fitted }: ReadCall, iteration: number): boolean {
    if (tool?.readOnly !== true) return false;
    if (fitted.ok && isRecord(fitted.value) && tool.answersChange(fitted.value)) return false;
    const before = this.#seen.get(signature);
    return before !== undefined && before < iteration && iteration - before <= REMEMBERED;
  }

  /** True if an earlier call of the same answer writes or runs the same. */
  isDouble({ tool, signature }: ReadCall, iteration: number): boolean {
    return tool?.readOnly === false && this.#made.get(signature) === iteration;
  }

  /** Records a requested call, whether it runs or not. */
  ask({ name, signature }: ReadCall): void {
    this.#requests.set(signature, { name, isAgain: this.#requests.has(signature) });
  }

  /** Names of the calls that were repeated since the last time. */
  takeRepeated(): readonly string[] {
    const again = [...this.#requests.values()].filter(({ isAgain }) => isAgain);
    for (const call of again) call.isAgain = false;
    return [...new Set(again.map(({ name }) => name))];
  }

  /** Records a call that is about to run. */
  note({ tool, signature }: ReadCall, iteration: number): void {
    this.#row = signature === this.#last ? this.#row + 1 : 1;
    this.#last = signature;
    // A change may affect the result of any look-up.
    if (tool?.readOnly === true) this.#seen.set(signature, iteration);
    else {
      this.#seen.clear();
      this.#made.set(signature, iteration);
    }
  }

  /** True if the last call came for the third time in a row. */
  get isLoop(): boolean {
    return this.#row >= IN_A_ROW;
  }
}

/** The order of arguments does not matter. @param text the arguments as written */
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
