/** The calls in an answer's text, and what of it may be shown while it comes. */
import type { Grammar } from "./grammar.ts";
import { NOTHING, Scanner, type Span } from "./scanner.ts";
import type { TextCall } from "./tools.ts";

export interface Extracted {
  readonly calls: readonly TextCall[];
  /** The text without them, and without the white space before each. */
  readonly rest: string;
  /** All of the text, but for results of the calls that the model has made up itself, and for calls that come again. */
  readonly written: string;
  /** It has the same call again and again: of those it is the first alone, and what follows is of no use. */
  readonly isLoop: boolean;
}

/** The calls in a whole answer. Linear in its length; never throws. */
export function extract(text: string, grammar: Grammar): Extracted {
  const { spans } = new Scanner(text, grammar, true).run();
  const madeUp = spans.find(({ calls }) => calls.length === 0)?.begin;
  const calls = spans.flatMap(({ calls }) => calls);
  const first = firstOfSame(calls);
  const isLoop = first !== undefined;
  const end = isLoop ? spans.find((span) => span.calls.includes(first))?.end : madeUp;
  return {
    calls: isLoop ? calls.slice(0, calls.indexOf(first) + 1) : calls,
    rest: without(spans, text),
    written: text.slice(0, end),
    isLoop,
  };
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
  #state = NOTHING;
  /** Characters shown of it. */
  #shown = 0;
  /** Calls in what is before, and the last of them. */
  #calls = 0;
  #lastCalls: readonly TextCall[] = [];
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
    const { spans, calls, frozen, decided, state, writing, isOver } = new Scanner(
      this.#text,
      this.#grammar,
      false,
      this.#state,
    )
      .run();
    const { length } = this.#text;
    this.#isOver = isOver || firstOfSame([...this.#lastCalls, ...calls]) !== undefined;
    this.#writing = writing === undefined ? undefined : {
      index: this.#calls + callsIn(spans),
      text: this.#text.slice(writing),
    };
    // White space before a call is not shown, and a call may follow.
    const certain = without(spans, this.#text.slice(0, frozen)).trimEnd();
    const news = certain.slice(this.#shown);
    // What has been shown is not taken back, and not shown again.
    this.#shown = Math.max(this.#shown, certain.length);
    const past = spans.filter(({ end }) => end <= decided);
    const before = without(past, this.#text.slice(0, decided)).length;
    if (decided > 0 && before <= this.#shown) {
      this.#shown -= before;
      this.#calls += callsIn(past);
      this.#lastCalls = [...this.#lastCalls, ...past.flatMap(({ calls }) => calls)].slice(1 - TOO_MANY);
      this.#text = this.#text.slice(decided);
      this.#state = state;
    }
    // A long call is not read anew for each of its pieces, nor what is undecided for long.
    const left = this.#text.length;
    const unread = frozen === undefined ? left - UNDECIDED : length - frozen;
    this.#next = unread > 0 ? left + unread / PIECES : 0;
    return news;
  }
}

function callsIn(spans: readonly Span[]): number {
  return spans.reduce((sum, { calls }) => sum + calls.length, 0);
}

function without(spans: readonly Span[], text: string): string {
  let rest = "";
  let at = 0;
  for (const { begin, end } of spans) {
    rest += text.slice(at, begin).trimEnd();
    at = end;
  }
  return rest + text.slice(at);
}
