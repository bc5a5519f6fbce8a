/** Finds the calls in an answer's text, and the text that can be shown while it streams. */
import type { Grammar } from "./grammar.ts";
import { TOP } from "./layout.ts";
import { leadOf } from "./lead.ts";
import { Scanner } from "./scanner.ts";
import { isUnread, type TextCall } from "./tools.ts";

export interface Extracted {
  readonly calls: readonly TextCall[];
  /** The text without calls and the white space before them. */
  readonly rest: string;
  /** The text without made-up results and repeated calls. */
  readonly written: string;
  /** The model repeats one call. Only the first is used, and the rest of the text is dropped. */
  readonly isLoop: boolean;
  /** A call on its own that is not made, because words follow or announce it. */
  readonly shownCall: TextCall | undefined;
}

/** Extracts the calls of a complete answer. Linear in its length; never throws. */
export function extract(text: string, grammar: Grammar): Extracted {
  const { row, madeUp, shownCall } = new Scanner(text, grammar, true).run();
  const calls = row.flatMap(({ calls }) => calls);
  const first = firstOfSame(calls);
  const end = first === undefined ? madeUp : row.find((span) => span.calls.includes(first))?.end;
  const begin = row[0]?.begin;
  return {
    calls: first === undefined ? calls : calls.slice(0, calls.indexOf(first) + 1),
    rest: begin === undefined ? text : text.slice(0, begin).trimEnd(),
    written: text.slice(0, end),
    isLoop: first !== undefined,
    shownCall,
  };
}

/**
 * The tool of a quoted call at the end of an answer: in a thought, in a fence, or in the text of a model with
 * native calls. If the model writes calls in text, words may also follow the call.
 */
export function shownTool(text: string, grammar: Grammar, callsInText: boolean): string | undefined {
  const { calls, shownCall } = extract(text, grammar);
  const [call = callsInText ? shownCall ?? callInFence(text, grammar) : undefined] = calls;
  return call === undefined || isUnread(call.arguments) ? undefined : call.name;
}

const FENCE = /^\s*(?:`{3,}|~{3,})[^`]*$/;

/** The call in the fence at the end, unless it is announced as an example. */
function callInFence(text: string, grammar: Grammar): TextCall | undefined {
  const lines = text.trimEnd().split("\n");
  if (FENCE.test(lines.at(-1) ?? "")) lines.pop();
  const open = lines.findLastIndex((line) => FENCE.test(line));
  const before = lines.slice(0, Math.max(0, open)).findLast((line) => line.trim() !== "") ?? "";
  return open === -1 || leadOf(before) === "shown"
    ? undefined
    : extract(lines.slice(open + 1).join("\n"), grammar).calls[0];
}

/** A few repetitions may be a slip. A model that writes more does not stop. */
const TOO_MANY = 5;

/** The first of too many equal calls in a row. */
function firstOfSame(calls: readonly TextCall[]): TextCall | undefined {
  const isSame = (one: TextCall, other: TextCall | undefined) =>
    one.name === other?.name && one.arguments === other.arguments;
  return calls.find((call, at) =>
    calls.length >= at + TOO_MANY && calls.slice(at, at + TOO_MANY).every((other) => isSame(call, other))
  );
}

/** An incomplete call is read again when it has grown by this fraction. */
const PIECES = 16;
/** Undecided text that is longer than this, such as endless white space, is read less often. */
const UNDECIDED = 8_000;

/** The part of a streaming answer that can be shown and never changes afterwards. */
export class Partial {
  readonly #grammar: Grammar;
  /** The undecided text. */
  #text = "";
  #layout = TOP;
  /** Number of its characters that were shown. */
  #visibleLength = 0;
  #writing: { readonly index: number; readonly text: string } | undefined;
  #isOver = false;
  /** The length at which it is read again. */
  #next = 0;

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
  }

  /** The call being written, if its marks are unambiguous: its index and its text so far. */
  get writing(): { readonly index: number; readonly text: string } | undefined {
    return this.#writing;
  }

  /** Whether the rest is useless: made-up results, or endless repetitions of a call. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds a piece. @returns the text that can be shown since then */
  add(piece: string): string {
    this.#text += piece;
    if (this.#text.length < this.#next) return "";
    const scanner = new Scanner(this.#text, this.#grammar, false, this.#layout);
    const { row, frozen, writing, madeUp, decided, layout } = scanner.run();
    const calls = row.flatMap(({ calls }) => calls);
    this.#isOver = madeUp !== undefined || firstOfSame(calls) !== undefined;
    this.#writing = writing === undefined
      ? undefined
      : { index: calls.length, text: this.#text.slice(writing) };
    // Hold white space, because a call may follow it.
    const certain = this.#text.slice(0, frozen).trimEnd();
    const news = certain.slice(this.#visibleLength);
    // Never take back shown text, and never show it twice.
    this.#visibleLength = Math.max(this.#visibleLength, certain.length);
    // Do not read a long call or long undecided text again for each piece.
    const unread = this.#text.length - (frozen ?? decided + UNDECIDED);
    if (decided > 0 && decided <= this.#visibleLength) {
      this.#visibleLength -= decided;
      this.#text = this.#text.slice(decided);
      this.#layout = layout;
    }
    this.#next = unread > 0 ? this.#text.length + unread / PIECES : 0;
    return news;
  }
}
