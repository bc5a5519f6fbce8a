/**
 * Finds the calls at the end of an answer. A model stops after its calls: a call that words follow, or that
 * is in code, a quotation or a list, is quoted, not made.
 */
import { Cursor } from "../../../shared/text/cursor.ts";
import { isEndMark } from "../end_mark.ts";
import { THOUGHTS } from "../thoughts.ts";
import { type Grammar, RESULTS } from "./grammar.ts";
import { afterLine, afterWords, type Layout, shownAs, TOP } from "./layout.ts";
import type { TextCall } from "./tools.ts";

export interface Span {
  readonly begin: number;
  readonly end: number;
  readonly calls: readonly TextCall[];
}

export interface Scan {
  /** The calls at the current end of the text. */
  readonly row: readonly Span[];
  /** Text from here on is not certain yet. */
  readonly frozen: number | undefined;
  /** The beginning of a call with unambiguous marks. */
  readonly writing: number | undefined;
  /** The beginning of made-up results. */
  readonly madeUp: number | undefined;
  /** A call on its own at the top level that words follow. */
  readonly shownCall: TextCall | undefined;
  /** Text from here on can be scanned separately, starting with `layout`. */
  readonly decided: number;
  readonly layout: Layout;
}

/** Between calls. */
const SEPARATORS = /[\s;,]*/y;
/** At the beginning of a line. */
const INDENT = /[ \t]*/y;
/** Stop tokens that servers leave after calls. */
const STOP =
  /<\|close\|>message<\|sep\|>|<[|｜][^|｜<>\n]{1,40}[|｜]>|<\/(?:s|longcat_s)>|<(?:end_of_turn|end_of_sentence|seed:eos|SPECIAL_\d+|turn\||channel\||\|tool_response)>|\[e~\[/y;
/** An incomplete stop token. */
const CUT_STOP = /^(?:<[^<>\n]{0,40}|\[e?~?)$/;
/** How often the whole text may be read. */
const PATIENCE = 20;

export class Scanner {
  readonly #text: string;
  readonly #grammar: Grammar;
  readonly #isWhole: boolean;
  readonly #cursor: Cursor;
  #layout: Layout;
  #row: Span[] = [];
  #decided: { readonly at: number; readonly layout: Layout };
  /** Position of the next mark that counts anywhere. */
  #anywhere = -1;
  #frozen: number | undefined;
  #writing: number | undefined;
  #madeUp: number | undefined;
  #shownCall: TextCall | undefined;

  /** @param layout the context of the text's beginning, possibly in mid-line */
  constructor(text: string, grammar: Grammar, isWhole: boolean, layout: Layout = TOP) {
    this.#text = text;
    this.#grammar = grammar;
    this.#isWhole = isWhole;
    this.#cursor = new Cursor(text);
    this.#layout = layout;
    this.#decided = { at: 0, layout };
  }

  run(): Scan {
    let at = this.#begin();
    while (at < this.#text.length && this.#isOpen) at = this.#line(at);
    const [first] = this.#row;
    if (!this.#isWhole && first !== undefined) this.#frozen = first.begin;
    return {
      row: this.#row,
      frozen: this.#isWhole ? undefined : this.#frozen,
      writing: this.#writing,
      madeUp: this.#madeUp,
      shownCall: this.#shownCall,
      decided: this.#decided.at,
      layout: this.#decided.layout,
    };
  }

  #begin(): number {
    const { thought, head } = this.#layout;
    if (thought !== undefined) return this.#inThought(0, thought);
    // Within a line the first character was already scanned.
    return head === "" ? 0 : this.#words(0, 1);
  }

  get #isOpen(): boolean {
    return this.#frozen === undefined && this.#madeUp === undefined;
  }

  /** Reads to the end of a line. @returns the beginning of the next one */
  #line(begin: number): number {
    let at = begin;
    for (let mark = this.#nextMark(at); mark !== undefined; mark = this.#nextMark(at)) {
      this.#words(at, mark);
      at = this.#result(mark) ?? this.#thought(mark) ?? this.#call(mark) ?? this.#words(mark, mark + 1);
      if (!this.#isOpen || at >= this.#text.length) return at;
    }
    const end = this.#lineEnd(at);
    if (end === this.#text.length) return this.#lastLine(at);
    // The mark may continue on the next line.
    const cut = end === this.#text.length - 1 ? this.#cut(at) : this.#text.length;
    if (cut < end) return this.#frozen = this.#words(at, cut);
    this.#words(at, end);
    this.#layout = afterLine(this.#layout);
    this.#decide(end + 1);
    return end + 1;
  }

  /** Reads the last, possibly incomplete line. */
  #lastLine(from: number): number {
    const { length } = this.#text;
    if (this.#row.length > 0 && this.#isBetween(from, length)) return length;
    const cut = this.#cut(from);
    const isSure = this.#row.length === 0 && cut - 1 > from && !/`/.test(this.#text.slice(cut - 2, cut));
    let at = isSure ? this.#words(from, cut - 1) : from;
    if (isSure && this.#layout.head !== "") this.#decide(at);
    at = this.#words(at, cut);
    return cut < length ? this.#frozen = cut : length;
  }

  #lineEnd(from: number): number {
    const end = this.#cursor.from(from).find("\n");
    return end === -1 ? this.#text.length : end;
  }

  /** Words end a row of calls. @returns `to` */
  #words(from: number, to: number): number {
    if (this.#row.length > 0 && !this.#isBetween(from, to)) {
      this.#shownCall = this.#row[0]?.calls[0];
      this.#row = [];
    }
    if (this.#row.length === 0) this.#layout = afterWords(this.#layout, this.#text.slice(from, to));
    return to;
  }

  /** Whether the words between two calls do not matter, such as the end mark. */
  #isBetween(from: number, to: number): boolean {
    const isEnd = !this.#isWhole && to === this.#text.length;
    const rest = this.#text.slice(Math.min(to, this.#between(from)), to);
    return rest === "" || isEndMark(rest, isEnd) || (isEnd && CUT_STOP.test(rest));
  }

  /** Skips separators and stop tokens up to the next call or words. */
  #between(from: number): number {
    for (let at = from;;) {
      at += this.#matched(SEPARATORS, at);
      const isMark = this.#grammar.marksAt(this.#text, at).some(({ text }) => text.length > 1);
      const stop = isMark ? 0 : this.#matched(STOP, at);
      if (stop === 0) return at;
      at += stop;
    }
  }

  #matched(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0].length ?? 0;
  }

  /** @returns the position after the call; undefined if none begins here */
  #call(at: number): number | undefined {
    for (const { syntax, atLine } of this.#grammar.marksAt(this.#text, at)) {
      if (syntax === undefined || (atLine && !this.#isAtLine)) continue;
      const cursor = this.#cursor.from(at);
      const calls = syntax.read(cursor, this.#grammar.tools);
      if (cursor.metEnd && !this.#isWhole) {
        if (syntax.weak !== true && this.#shownAs() === undefined) this.#writing = at;
        return this.#frozen = at;
      }
      if (calls === undefined) continue;
      const shownAs = this.#shownAs();
      const isQuoted = this.#grammar.isQuoted(this.#text.slice(at, cursor.at));
      if (shownAs === "announced" && !isQuoted) this.#shownCall = calls[0];
      if (shownAs !== undefined || isQuoted) this.#row = [];
      // Drop the separator before it.
      else this.#row.push({ begin: this.#row.at(-1)?.end ?? at, end: cursor.at, calls });
      return cursor.at;
    }
    return undefined;
  }

  #shownAs(): ReturnType<typeof shownAs> {
    return this.#row.length === 0 ? shownAs(this.#layout) : undefined;
  }

  /** Reads a thought in the middle of an answer. @returns the position after its opening mark */
  #thought(at: number): number | undefined {
    const { fence, ticks } = this.#layout;
    const found = [...THOUGHTS].find(([open]) => this.#text.startsWith(open, at));
    if (found === undefined || fence !== undefined || ticks > 0) return undefined;
    const [open, thought] = found;
    this.#row = [];
    this.#layout = { ...this.#layout, thought };
    return this.#inThought(at + open.length, thought);
  }

  /** @returns the position after the thought */
  #inThought(from: number, close: string): number {
    const end = this.#cursor.from(from).find(close);
    if (end === -1) {
      this.#decide(Math.max(from, this.#text.length - close.length));
      return this.#text.length;
    }
    const { thought: _, ...layout } = this.#layout;
    this.#layout = layout;
    return end + close.length;
  }

  /** Results after calls are made up, and so is the rest of the text. */
  #result(at: number): number | undefined {
    if (this.#row.length === 0 || !RESULTS.some((text) => this.#text.startsWith(text, at))) return undefined;
    return this.#madeUp = at;
  }

  /** The next mark on the line or after the previous call. */
  #nextMark(from: number): number | undefined {
    if (this.#cursor.work > PATIENCE * this.#text.length || this.#layout.fence !== undefined) {
      return undefined;
    }
    if (this.#isAtLine) {
      const at = this.#row.length > 0 ? this.#between(from) : from + this.#matched(INDENT, from);
      const isEnd = this.#row.length > 0 && this.#isBetween(at, this.#lineEnd(at));
      if (!isEnd && this.#grammar.marksAt(this.#text, at).length > 0) return at;
    }
    if (this.#anywhere < from) {
      this.#anywhere = this.#cursor.from(from).findOne(this.#grammar.anywhere)?.at ?? this.#text.length;
    }
    return this.#anywhere < this.#lineEnd(from) ? this.#anywhere : undefined;
  }

  /** Whether only white space or calls precede on the line. */
  get #isAtLine(): boolean {
    return this.#row.length > 0 || this.#layout.head.trim() === "";
  }

  /** The beginning of an incomplete mark at the end of the text; otherwise the end. */
  #cut(from: number): number {
    const { length } = this.#text;
    if (this.#isWhole || this.#layout.fence !== undefined) return length;
    for (let at = Math.max(from, length - this.#grammar.longest + 1); at < length; at++) {
      const cut = this.#grammar.isCut(this.#text, at);
      if (cut === "line" ? this.#isLineBegin(from, at) : cut) return at;
    }
    return length;
  }

  /** Whether only white space, or separators between calls, precede on the line. */
  #isLineBegin(from: number, at: number): boolean {
    if (this.#row.length > 0) return this.#between(from) >= at;
    return this.#isAtLine && this.#text.slice(from, at).trim() === "";
  }

  #decide(at: number): void {
    if (this.#row.length === 0) this.#decided = { at, layout: this.#layout };
  }
}
