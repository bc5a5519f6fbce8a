/**
 * Finds the calls in an answer's text. Marks that only calls have count wherever they stand; what other texts look like
 * too counts where the answer begins or ends with it, for a model stops after its call: an example has words around it.
 * Code in fences and thoughts hold no calls, unless the answer ends in them.
 */
import { Cursor } from "./cursor.ts";
import { isEndMark } from "../end_mark.ts";
import { THOUGHTS } from "../thoughts.ts";
import { FENCES, type Grammar, RESULTS } from "./grammar.ts";
import type { TextCall } from "./tools.ts";

/** What of the text before decides about what follows. */
export interface State {
  readonly hasProse: boolean;
  readonly hasCalls: boolean;
  /** No line begins where it does. */
  readonly isInLine: boolean;
  /** Nor a word. */
  readonly isInWord: boolean;
  /** It is in a fence or a thought, up to this text. */
  readonly inside: Inside | undefined;
}

interface Inside {
  readonly end: string;
  /** Stands behind the calls with which an answer ends in it. */
  readonly close: string;
}

export interface Span {
  readonly begin: number;
  readonly end: number;
  readonly calls: readonly TextCall[];
}

export const NOTHING: State = {
  ...{ hasProse: false, hasCalls: false, isInLine: false, isInWord: false },
  inside: undefined,
};

const FENCE = /(`{3,}|~{3,})([^\n`]*)\n/y;
const CALLS_IN = /^(?:json\w*|tool\w*|function\w*|xml|action)?$/i;
const AS_AN_EXAMPLE = /\b(?:example|e\.g\.|for instance|such as|would look|looks like)/i;
/** Characters of the line before a fence. */
const LINE = 300;
/** What stands between calls that follow each other. */
const BLANK = /[^\s;,]/g;
/** White space before what stands at the beginning of a line. */
const INDENT = 40;
const INDENTED = new RegExp(`[ \\t;,]{0,${INDENT}}`, "y");
/** How often the text may be read over. */
const PATIENCE = 20;

export class Scanner {
  readonly #text: string;
  readonly #grammar: Grammar;
  readonly #isWhole: boolean;
  readonly #cursor: Cursor;
  readonly #spans: Span[] = [];
  /** Calls in a row that count if the answer begins or ends with them. */
  #pending: Span[] = [];
  #hasProse: boolean;
  readonly #hadCalls: boolean;
  /** What is before is decided. */
  #decided = 0;
  readonly #before: State;
  /** What is known of the last line that was decided about. */
  #line = { begin: 0, looked: 0 };
  /** Where the last thing ends that is more than words: it is looked at as one. */
  #solid = 0;
  /** Where it ends that `#decided` is in. */
  #inside: Inside | undefined;
  /** Where the next mark stands that counts anywhere. */
  #anywhere = -1;
  #frozen: number | undefined;
  #writing: number | undefined;
  #isOpenWeak = false;
  #isOver = false;

  /** @param before of the text before, which is not here */
  constructor(text: string, grammar: Grammar, isWhole: boolean, before: State = NOTHING) {
    this.#text = text;
    this.#grammar = grammar;
    this.#isWhole = isWhole;
    this.#cursor = new Cursor(text);
    this.#hasProse = before.hasProse;
    this.#hadCalls = before.hasCalls;
    this.#before = before;
  }

  /**
   * `frozen`: what comes from there on is not certain yet. `decided`: what comes from there on can be looked at alone,
   * with `state`.
   */
  run(): {
    readonly spans: readonly Span[];
    /** In them, and those that are calls if the answer ends there. */
    readonly calls: readonly TextCall[];
    readonly frozen: number | undefined;
    readonly decided: number;
    readonly state: State;
    /** Where a call begins that marks of calls alone have. */
    readonly writing: number | undefined;
    /** What comes is made up, whatever it is. */
    readonly isOver: boolean;
  } {
    for (let at = this.#begin(); at !== -1;) at = this.#step(at);
    const [first] = this.#pending;
    const calls = [...this.#spans, ...this.#pending].flatMap(({ calls }) => calls);
    if (this.#isWhole) this.#spans.push(...this.#pending);
    else if (first !== undefined) this.#frozen = first.begin;
    const [last = "", next = ""] = this.#text.slice(Math.max(0, this.#decided - 1));
    const state = {
      ...{ hasProse: this.#hasProse, hasCalls: this.#hasCalls, inside: this.#inside },
      ...{ isInLine: this.#decided > 0 && last !== "\n", isInWord: /\w/.test(last) && /\w/.test(next) },
    };
    return {
      spans: this.#spans,
      calls,
      frozen: this.#isWhole ? undefined : this.#frozen,
      decided: this.#pending.length > 0 ? 0 : this.#decided,
      state,
      writing: this.#writing,
      isOver: this.#isOver,
    };
  }

  get #hasCalls(): boolean {
    return this.#hadCalls || this.#spans.length + this.#pending.length > 0;
  }

  /** @returns where marks are looked for first */
  #begin(): number {
    const { inside, isInWord } = this.#before;
    if (inside !== undefined) return this.#insideOf(0, inside);
    if (!isInWord) return 0;
    const [{ length }] = /^\w*/.exec(this.#text) ?? [""];
    this.#decide(0, length);
    return length;
  }

  /** Notes where nothing has to be known of what is before: in words, with a line or so of them before what follows. */
  #decide(from: number, to: number): void {
    this.#inside = undefined;
    const words = this.#text.slice(0, to).trimEnd().length;
    const line = this.#lineOf(words);
    const word = from + LINE + this.#text.slice(from + LINE, Math.max(0, to - LINE) + 1).lastIndexOf(" ") + 1;
    if (line > Math.min(from, Math.max(this.#decided, this.#solid - 1))) this.#decided = line;
    else if (word > from + LINE) this.#decided = word;
    else if (to - from > 2 * LINE && /^\w\w/.test(this.#text.slice(to - LINE - 1))) this.#decided = to - LINE;
  }

  /** Where the line begins that ends at a place; places rise, so that nothing is looked at twice. */
  #lineOf(end: number): number {
    const at = this.#text.slice(this.#line.looked, end).lastIndexOf("\n");
    this.#line = {
      begin: at === -1 ? this.#line.begin : this.#line.looked + at + 1,
      looked: Math.max(this.#line.looked, end),
    };
    return this.#line.begin;
  }

  /** Goes on from `at`. @returns where to go on, -1 at the end */
  #step(at: number): number {
    const mark = this.#nextMark(at);
    const end = mark ?? this.#cut(at);
    if (!this.#isBlank(at, end)) {
      this.#prose();
      if (!this.#isWhole) this.#decide(at, end);
    }
    if (mark === undefined) return end < this.#text.length ? this.#freeze(end) : -1;
    const after = this.#fence(mark) ?? this.#thought(mark) ?? this.#result(mark) ?? this.#call(mark);
    if (after !== undefined) return this.#solid = after;
    this.#prose();
    return mark + 1;
  }

  #call(at: number): number | undefined {
    const span = this.#read(at);
    if (span === undefined) return undefined;
    if (span === "open") {
      if (this.#pending.length === 0 && !this.#isOpenWeak) this.#writing = at;
      return this.#freeze(at);
    }
    if (span.isWeak) {
      if (this.#pending.length === 0 && this.#isExample(at)) return undefined;
      this.#pending.push(this.#inRow(span));
    } else {
      this.#spans.push(...this.#pending, span);
      this.#pending = [];
    }
    return span.end;
  }

  /** What parts it from the one before it is of no use to anybody. */
  #inRow(span: Span): Span {
    return { ...span, begin: this.#pending.at(-1)?.end ?? span.begin };
  }

  /** What stands at a mark; "open" if more of the text could change what it is. */
  #read(at: number): (Span & { readonly isWeak: boolean }) | "open" | undefined {
    if (/["'`]/.test(this.#text[at - 1] ?? "")) return undefined;
    for (const { syntax, atLine } of this.#grammar.marksAt(this.#text, at)) {
      if (syntax === undefined || (atLine && !this.#isAtLine(at))) continue;
      const cursor = this.#cursor.from(at);
      const calls = syntax.read(cursor, this.#grammar.tools);
      this.#isOpenWeak = syntax.weak === true;
      if (cursor.metEnd && !this.#isWhole) return "open";
      if (calls === undefined || this.#grammar.isQuoted(this.#text.slice(at, cursor.at))) continue;
      return { begin: at, end: cursor.at, calls, isWeak: syntax.weak === true };
    }
    return undefined;
  }

  #freeze(at: number): -1 {
    this.#frozen = at;
    return -1;
  }

  /** Words between or after calls. */
  #prose(): void {
    if (!this.#hasProse) this.#spans.push(...this.#pending);
    this.#pending = [];
    this.#hasProse = true;
  }

  /** A fence that holds calls and nothing else counts as weak ones; what another one holds is code. */
  #fence(at: number): number | undefined {
    if (!FENCES.some((fence) => this.#text.startsWith(fence, at)) || !this.#isAtLine(at)) return undefined;
    FENCE.lastIndex = at;
    const [head, ticks = "", info = ""] = FENCE.exec(this.#text) ?? [];
    if (head === undefined) {
      return this.#text.includes("\n", at) || this.#isWhole ? undefined : this.#freeze(at);
    }
    const inside = at + head.length;
    if (CALLS_IN.test(info.trim()) && !this.#isExample(at)) {
      const span = this.#fenced(at, inside, ticks);
      if (span === "open") return this.#freeze(at);
      if (span !== undefined) {
        this.#pending.push(this.#inRow(span));
        return span.end;
      }
    }
    this.#prose();
    return this.#insideOf(inside - 1, { end: `\n${ticks}`, close: "" });
  }

  /** In a fence or a thought. @returns behind it */
  #insideOf(begin: number, inside: Inside): number {
    const at = this.#cursor.from(begin).find(inside.end);
    const after = at + inside.end.length;
    // A thought is no prose: an answer may end in it.
    const isLast = at === -1 || (inside.close !== "" && this.#isBlank(after, this.#text.length));
    if (!isLast) return after;
    // What could be the mark of the end may be the beginning of anything.
    const next = at === -1 || this.#isWhole ? this.#text.length : this.#blankTo(after);
    return next < this.#text.length ? this.#freeze(next) : this.#tail(begin, inside);
  }

  #fenced(begin: number, inside: number, ticks: string): Span | "open" | undefined {
    const calls: TextCall[] = [];
    let at = inside;
    for (;;) {
      at = this.#blankTo(at);
      if (at >= this.#text.length && !this.#isWhole) return "open";
      const isEnd = at >= this.#text.length || this.#text.startsWith(ticks, at);
      if (isEnd && calls.length > 0) {
        return { begin, end: Math.min(this.#text.length, at + ticks.length), calls };
      }
      const span = isEnd ? undefined : this.#read(at);
      if (span === undefined && !this.#isWhole && this.#isCutMark(at)) return "open";
      if (span === undefined || span === "open") return span;
      calls.push(...span.calls);
      at = span.end;
    }
  }

  #thought(at: number): number | undefined {
    const open = [...THOUGHTS.keys()].find((open) => this.#text.startsWith(open, at));
    if (open === undefined) return undefined;
    const close = THOUGHTS.get(open) ?? "";
    // What it thinks is no prose: an answer may begin after it.
    return this.#insideOf(at + open.length, { end: close, close });
  }

  /** To the end of the text, where only the calls count with which it ends. @param close may stand behind them */
  #tail(begin: number, inside: Inside): -1 {
    let row: Span[] = [];
    let at = begin;
    for (let mark = this.#nextMark(at); mark !== undefined; mark = this.#nextMark(at)) {
      const span = this.#read(mark);
      if (!this.#isWhole && span !== undefined) return this.#decideInside(begin, mark, inside);
      if (span === undefined || span === "open") {
        row = [];
        at = mark + 1;
      } else {
        if (!this.#isBlank(row.at(-1)?.end ?? mark, mark)) row = [];
        row.push(span);
        at = span.end;
      }
    }
    if (!this.#isWhole) {
      return this.#decideInside(begin, this.#cut(at), inside);
    }
    const { close } = inside;
    const last = row.at(-1);
    if (last === undefined) return -1;
    const next = this.#blankTo(last.end);
    const end = close !== "" && this.#text.startsWith(close, next)
      ? this.#blankTo(next + close.length)
      : next;
    if (end >= this.#text.length) this.#spans.push(...this.#pending.splice(0), ...row);
    return -1;
  }

  /** What comes from `to` on is not certain. */
  #decideInside(begin: number, to: number, inside: Inside): -1 {
    // The line break before it may be the beginning of the end.
    const end = this.#cursor.from(begin).find(inside.end);
    const line = this.#text.lastIndexOf("\n", (end === -1 ? to : Math.min(to, end)) - 1);
    if (line > begin) {
      this.#decided = line;
      this.#inside = inside;
    }
    return to < this.#text.length ? this.#freeze(to) : -1;
  }

  /** After calls it is made up, and with it all that follows. */
  #result(at: number): -1 | undefined {
    const isResult = RESULTS.some((text) => this.#text.startsWith(text, at));
    if (!isResult || !this.#hasCalls) return undefined;
    this.#isOver = true;
    if (!this.#isWhole) return this.#freeze(this.#pending[0]?.begin ?? at);
    this.#spans.push(...this.#pending.splice(0), { begin: at, end: this.#text.length, calls: [] });
    return -1;
  }

  /** Where the next mark stands. */
  #nextMark(from: number): number | undefined {
    if (this.#cursor.work > PATIENCE * this.#text.length) return undefined;
    if (this.#anywhere < from) {
      this.#anywhere = this.#cursor.from(from).findOne(this.#grammar.anywhere)?.at ?? this.#text.length;
    }
    const anywhere = this.#anywhere;
    for (
      let line = this.#isAtLine(from) ? from : this.#lineAfter(from);
      line < anywhere;
      line = this.#lineAfter(line)
    ) {
      const at = this.#indentTo(line);
      if (at < anywhere && this.#grammar.marksAt(this.#text, at).some(({ atLine }) => atLine)) return at;
    }
    return anywhere < this.#text.length ? anywhere : undefined;
  }

  #lineAfter(at: number): number {
    const end = this.#text.indexOf("\n", at);
    return end === -1 ? this.#text.length : end + 1;
  }

  #indentTo(line: number): number {
    INDENTED.lastIndex = line;
    return line + (INDENTED.exec(this.#text)?.[0].length ?? 0);
  }

  /** Where a mark begins that the text's end cuts off; the end, if none does. */
  #cut(from: number): number {
    const { length } = this.#text;
    if (this.#isWhole) return length;
    for (let at = Math.max(from, length - this.#grammar.longest + 1); at < length; at++) {
      if (this.#isCutMark(at)) return at;
    }
    return length;
  }

  #isCutMark(at: number): boolean {
    const cut = this.#grammar.isCut(this.#text, at);
    return cut === "line" ? this.#isAtLine(at) : cut;
  }

  /** White space alone before it on its line; calls and thoughts end a line too. */
  #isAtLine(at: number): boolean {
    let begin = at;
    while (begin > at - INDENT && /[ \t;,]/.test(this.#text[begin - 1] ?? "")) begin -= 1;
    if (begin === 0) return !this.#before.isInLine;
    if (this.#text[begin - 1] === "\n") return true;
    const last = this.#pending.at(-1) ?? this.#spans.at(-1);
    return last?.end === begin || this.#text.endsWith("think>", begin);
  }

  #isExample(at: number): boolean {
    const before = this.#text.slice(Math.max(0, at - LINE), at).trimEnd();
    return AS_AN_EXAMPLE.test(before.slice(before.lastIndexOf("\n") + 1));
  }

  #blankTo(from: number): number {
    BLANK.lastIndex = from;
    return BLANK.exec(this.#text)?.index ?? this.#text.length;
  }

  /** A model that has called may say that it is done. */
  #isBlank(from: number, to: number): boolean {
    const begin = this.#blankTo(from);
    return begin >= to || isEndMark(this.#text.slice(begin, to), !this.#isWhole && to === this.#text.length);
  }
}
