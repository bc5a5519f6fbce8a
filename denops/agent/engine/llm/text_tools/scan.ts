/** The calls in an answer's text, and what of it may be shown while it comes. */
import type { Grammar } from "./grammar.ts";
import { TOP } from "./layout.ts";
import { leadOf } from "./lead.ts";
import { Scanner } from "./scanner.ts";
import { isUnread, type TextCall } from "./tools.ts";

export interface Extracted {
  readonly calls: readonly TextCall[];
  /** The text without them, and without the white space before each. */
  readonly rest: string;
  /** All of the text, but for results of the calls that the model has made up itself, and for calls that come again. */
  readonly written: string;
  /** It has the same call again and again: of those it is the first alone, and what follows is of no use. */
  readonly isLoop: boolean;
  /** A call that stands by itself and is not made, as words follow or announce it. */
  readonly shownCall: TextCall | undefined;
}

/** The calls in a whole answer. Linear in its length; never throws. */
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
 * The tool of a call that an answer ends in without making it: in a thought, as text of a model that has calls of its own,
 * or in a fence. Of a model that calls in its text also one that has words behind it.
 */
export function shownTool(text: string, grammar: Grammar, callsInText: boolean): string | undefined {
  const { calls, shownCall } = extract(text, grammar);
  const [call = callsInText ? shownCall ?? callInFence(text, grammar) : undefined] = calls;
  return call === undefined || isUnread(call.arguments) ? undefined : call.name;
}

const FENCE = /^\s*(?:`{3,}|~{3,})[^`]*$/;

/** Of the fence at the end, unless it is announced as an example. */
function callInFence(text: string, grammar: Grammar): TextCall | undefined {
  const lines = text.trimEnd().split("\n");
  if (FENCE.test(lines.at(-1) ?? "")) lines.pop();
  const open = lines.findLastIndex((line) => FENCE.test(line));
  const before = lines.slice(0, Math.max(0, open)).findLast((line) => line.trim() !== "") ?? "";
  return open === -1 || leadOf(before) === "shown"
    ? undefined
    : extract(lines.slice(open + 1).join("\n"), grammar).calls[0];
}

/** Fewer of the same call, one after the other, may be a slip; a model that writes more does not stop by itself. */
const TOO_MANY = 5;

/** The first of too many of the same in a row. */
function firstOfSame(calls: readonly TextCall[]): TextCall | undefined {
  const isSame = (one: TextCall, other: TextCall | undefined) =>
    one.name === other?.name && one.arguments === other.arguments;
  return calls.find((call, at) =>
    calls.length >= at + TOO_MANY && calls.slice(at, at + TOO_MANY).every((other) => isSame(call, other))
  );
}

/** Of a call that is coming: it is looked at again when it has grown by one. */
const PIECES = 16;
/** The same of more characters than these of which nothing is decided: lines and white space without an end. */
const UNDECIDED = 8_000;

/** What of an answer that is still coming may be shown: it stays so, whatever comes. */
export class Partial {
  readonly #grammar: Grammar;
  /** From where on it is looked at: what is before is decided. */
  #text = "";
  #layout = TOP;
  /** Characters shown of it. */
  #visibleLength = 0;
  #writing: { readonly index: number; readonly text: string } | undefined;
  #isOver = false;
  /** Not looked at again before it has so many characters. */
  #next = 0;

  constructor(grammar: Grammar) {
    this.#grammar = grammar;
  }

  /** The call that is coming, if it is one for sure when it ends well: which of the answer's, and what has come of it. */
  get writing(): { readonly index: number; readonly text: string } | undefined {
    return this.#writing;
  }

  /** After its calls the model makes up their results, or writes one again and again: nothing that comes is of use. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds a piece. @returns what may be shown now and was not before */
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
    // White space before a call is not shown, and a call may follow.
    const certain = this.#text.slice(0, frozen).trimEnd();
    const news = certain.slice(this.#visibleLength);
    // What has been shown is not taken back, and not shown again.
    this.#visibleLength = Math.max(this.#visibleLength, certain.length);
    // A long call is not read anew for each of its pieces, nor what is undecided for long.
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
