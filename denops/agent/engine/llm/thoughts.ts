/**
 * Extracts thoughts that a server has left in an answer's text. A mark counts at the beginning of the answer
 * or right after another thought: an answer about such marks has other words first. A closing mark whose
 * opening mark was swallowed by the server's template counts at the edge of a line, outside of code. Pure,
 * apart from the deltas that it yields.
 */
import type { ModelEvent } from "./client.ts";
import { Harmony } from "./harmony.ts";
import type { Delta } from "./wire/wire.ts";

/**
 * Opening mark → closing mark. Sources: the templates of DeepSeek, Qwen, GLM, Kimi, Magistral, Seed-OSS,
 * Command A and Gemma 4, Apertus, LongCat, MiniMax M3, ollama's model/parsers, vLLM's reasoning parsers.
 */
export const THOUGHTS: ReadonlyMap<string, string> = new Map([
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<seed:think>", "</seed:think>"],
  ["<mm:think>", "</mm:think>"],
  ["<longcat_think>", "</longcat_think>"],
  ["◁think▷", "◁/think▷"],
  ["[THINK]", "[/THINK]"],
  ["<|START_THINKING|>", "<|END_THINKING|>"],
  ["<|channel>thought", "<channel|>"],
  ["<|inner_prefix|>", "<|inner_suffix|>"],
  ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
]);

/**
 * Marks around the visible answer, in order: Command A and R7B, Kimi K3, Functionary v3.2. They are dropped.
 */
const FRAMES: readonly (readonly [open: string, ...ends: readonly string[]])[] = [
  ["<|START_TEXT|>", "<|END_TEXT|>"],
  ["<|START_RESPONSE|>", "<|END_RESPONSE|>"],
  ["<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"],
  [">>>all\n"],
];

/**
 * Marks that are words: Granite's, and harmony's where a server has dropped all marks. They count in pairs.
 */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["Here is my thought process:", "Here is my response:"],
  ["Here's my thought process:", "Here's my response:"],
  ["analysis", "assistantfinal"],
]);

const OPENING = [...THOUGHTS, ...WORDS];
/** Includes white space. */
const LONGEST_BEGINNING = 2_000;
const CLOSING = [...THOUGHTS.values()];
const LONGEST_CLOSING = Math.max(...[...CLOSING, ...FRAMES.flat()].map((mark) => mark.length));
const ANY_CLOSING = new RegExp(CLOSING.map((mark) => mark.replace(/[[\]|]/g, "\\$&")).join("|"));

/**
 * The closing mark of the server's first thoughts, if its template begins the answer with an opening mark
 * that it does not send.
 */
export interface ThoughtHabit {
  swallowed: string | undefined;
}

/** @param habit learnt from earlier answers, and updated from this one */
export async function* withThoughts(
  events: AsyncGenerator<ModelEvent, void>,
  habit: ThoughtHabit,
): AsyncGenerator<ModelEvent, void> {
  const reader = new ThoughtReader(habit);
  for await (const event of events) {
    if (event.type === "deltas") {
      const deltas = event.deltas.flatMap((delta) => reader.take(delta));
      if (deltas.length > 0) yield { type: "deltas", deltas };
    } else if (event.type === "retry" || event.type === "notice") {
      yield event;
    } else {
      const deltas = reader.end(event.type === "done");
      if (deltas.length > 0) yield { type: "deltas", deltas };
      yield event;
    }
  }
}

type State =
  /** Only white space has arrived, at the beginning or after a thought. */
  | { readonly name: "begin" }
  | { readonly name: "thought"; readonly close: string }
  /** Possibly a thought; held until that is certain. */
  | { readonly name: "held"; readonly open: string; readonly close: string }
  /** Streamed as a thought, because earlier answers began with one. */
  | { readonly name: "likely"; readonly close: string }
  | { readonly name: "harmony"; readonly reader: Harmony }
  | { readonly name: "text" };

class ThoughtReader {
  readonly #habit: ThoughtHabit;
  #state: State = { name: "begin" };
  /** Text that was not passed on yet. */
  #rest = "";
  /** Where the search of the held text continues. */
  #searchAt = 0;
  /** The thought since the last mark. */
  #thought = "";
  #hasThought = false;
  #hasCalls = false;
  #isCut = false;
  #code = new CodeLines();
  /** The marks that end the current frame. */
  #frame: readonly string[] = [];

  constructor(habit: ThoughtHabit) {
    this.#habit = habit;
  }

  take(delta: Delta): readonly Delta[] {
    switch (delta.type) {
      case "text":
        this.#rest += delta.text;
        return this.#read(false);
      case "thought":
        this.#hasThought = true;
        return [delta];
      case "finish":
        this.#isCut = delta.reason === "length";
        return [delta];
      case "call_start":
        this.#hasCalls = true;
        return [...this.#read(true), delta];
      default:
        return [delta];
    }
  }

  /** @param isWhole false for a truncated answer */
  end(isWhole: boolean): readonly Delta[] {
    const deltas = [...this.#read(true)];
    const state = this.#state;
    if (!isWhole || this.#isCut || this.#thought.trim() === "") return deltas;
    if (state.name === "likely") this.#habit.swallowed = undefined;
    // An unclosed thought that is everything is the answer.
    else if (state.name !== "thought" || this.#hasThought || this.#hasCalls) return deltas;
    return [...deltas, { type: "thought_was_text" }, ...this.#text(this.#thought)];
  }

  #read(isEnd: boolean): readonly Delta[] {
    const deltas: Delta[] = [];
    for (let before = -1; before !== this.#rest.length && this.#rest !== "";) {
      before = this.#rest.length;
      const state = this.#state;
      deltas.push(...this.#step(isEnd));
      // A new state reads the rest again.
      if (state !== this.#state) before = -1;
    }
    return deltas;
  }

  #step(isEnd: boolean): readonly Delta[] {
    const state = this.#state;
    switch (state.name) {
      case "begin":
        return this.#begin(isEnd);
      case "thought":
      case "likely":
        return this.#inThought(state.close, isEnd);
      case "held":
        return this.#hold(state, isEnd);
      case "harmony": {
        const read = state.reader.read(this.#rest, isEnd);
        this.#rest = read.rest;
        this.#hasThought ||= read.pieces.some(({ type }) => type === "thought");
        return read.pieces.flatMap(({ type, text }) =>
          type === "text" ? this.#text(text) : this.#think(text)
        );
      }
      case "text":
        return this.#inText(isEnd);
    }
  }

  #begin(isEnd: boolean): readonly Delta[] {
    const text = this.#rest.trimStart();
    if (text === "" && this.#rest.length < LONGEST_BEGINNING) {
      return isEnd && !this.#hasThought ? this.#text(this.#take(this.#rest.length)) : [];
    }
    const frame = FRAMES.find(([open]) => text.startsWith(open));
    if (frame !== undefined) {
      const [open, ...ends] = frame;
      this.#rest = text.slice(open.length);
      this.#frame = ends;
      this.#state = { name: "text" };
      return [];
    }
    if (Harmony.begins(text)) {
      this.#rest = text;
      this.#state = { name: "harmony", reader: new Harmony() };
      return [];
    }
    const found = OPENING.find(([open]) => text.startsWith(open));
    if (found !== undefined) {
      const [open, close] = found;
      const after = text.slice(open.length);
      // The next one or two characters decide whether it is a mark.
      if (!isEnd && after.length < 2 && !/^[^\s]/.test(after)) return [];
      if (isOpening(open, after)) {
        this.#rest = after;
        this.#thought = "";
        this.#searchAt = 0;
        this.#state = THOUGHTS.has(open) && !isTalk(after)
          ? { name: "thought", close }
          : { name: "held", open, close };
        return [];
      }
    }
    const isShort = this.#rest.length < LONGEST_BEGINNING;
    const isPart = isShort &&
      ([...OPENING, ...FRAMES].some(([open]) => open.startsWith(text)) || Harmony.mayBegin(text));
    if (isPart && !isEnd && found === undefined) return [];
    if (this.#habit.swallowed !== undefined && !this.#hasThought) {
      this.#rest = text;
      this.#state = { name: "likely", close: this.#habit.swallowed };
      return [];
    }
    // Between thoughts and answer, only white space is dropped.
    if (this.#hasThought) this.#rest = text;
    this.#state = { name: "text" };
    return [];
  }

  #inThought(close: string, isEnd: boolean): readonly Delta[] {
    const at = this.#rest.indexOf(close);
    if (at === -1) return this.#think(this.#takeSafe([close], isEnd));
    const before = at === 0 ? this.#thought.at(-1) : this.#rest[at - 1];
    // The thought mentions the mark.
    if (before === "`") return this.#think(this.#take(at + close.length));
    return this.#endThought(at, close);
  }

  #hold({ open, close }: Extract<State, { name: "held" }>, isEnd: boolean): readonly Delta[] {
    for (
      let at = this.#rest.indexOf(close, this.#searchAt);
      at !== -1;
      at = this.#rest.indexOf(close, at + 1)
    ) {
      this.#searchAt = at;
      const after = this.#rest[at + close.length];
      if (after === undefined && !isEnd) return [];
      // Text that mentions both marks does not end a line there.
      if (WORDS.has(open) || /[\r\n]/.test(`${this.#rest[at - 1]}${after ?? "\n"}`)) {
        return this.#endThought(at, close);
      }
      this.#searchAt = at + 1;
    }
    this.#searchAt = Math.max(this.#searchAt, this.#rest.length - close.length + 1);
    if (isEnd) {
      this.#rest = open + this.#rest;
      this.#state = { name: "text" };
    }
    return [];
  }

  #endThought(at: number, close: string): readonly Delta[] {
    const deltas = this.#think(this.#take(at));
    this.#take(close.length);
    this.#hasThought = true;
    this.#state = { name: "begin" };
    return deltas;
  }

  #inText(isEnd: boolean): readonly Delta[] {
    const [end, ...ends] = this.#frame;
    if (end !== undefined) return this.#inFrame(end, ends, isEnd);
    // The thoughts are over, or never come.
    if (this.#hasThought) return this.#text(this.#take(this.#rest.length));
    const found = ANY_CLOSING.exec(this.#rest);
    if (found === null) return this.#text(this.#takeSafe(CLOSING, isEnd));
    const [mark] = found;
    const deltas = this.#text(this.#take(found.index));
    const after = this.#rest[mark.length];
    if (after === undefined && !isEnd) return deltas;
    // A special token, or a mark without spaces around it: text that mentions a mark has them.
    const isMark = mark.includes("|") || this.#code.isLineBegin || /[\r\n]/.test(after ?? "\n") ||
      (/\S/.test(this.#code.last) && /[\p{L}<{[#]/u.test(after ?? ""));
    if (this.#code.isInside || !isMark || this.#isBehindCall(mark)) {
      return [...deltas, ...this.#text(this.#take(mark.length))];
    }
    this.#take(mark.length);
    this.#hasThought = true;
    this.#code = new CodeLines();
    this.#habit.swallowed = mark;
    this.#state = { name: "begin" };
    return [...deltas, { type: "text_was_thought" }];
  }

  #inFrame(end: string, ends: readonly string[], isEnd: boolean): readonly Delta[] {
    const at = this.#rest.indexOf(end);
    if (at === -1) return this.#text(this.#takeSafe([end], isEnd));
    const deltas = this.#text(this.#take(at));
    this.#take(end.length);
    this.#frame = ends;
    return deltas;
  }

  /** Gemma closes a channel after a call without having opened it. */
  #isBehindCall(mark: string): boolean {
    return mark === "<channel|>" && this.#code.last === ">";
  }

  #think(text: string): readonly Delta[] {
    const piece = this.#thought === "" ? text.trimStart() : text;
    this.#thought += piece;
    return piece === "" ? [] : [{ type: "thought", text: piece }];
  }

  #text(text: string): readonly Delta[] {
    this.#code.add(text);
    return text === "" ? [] : [{ type: "text", text }];
  }

  #take(length: number): string {
    const taken = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return taken;
  }

  /** Takes everything but an incomplete mark at the end. */
  #takeSafe(marks: readonly string[], isEnd: boolean): string {
    const { length } = this.#rest;
    let end = isEnd ? length : Math.max(0, length - LONGEST_CLOSING);
    while (end < length && !marks.some((mark) => mark.startsWith(this.#rest.slice(end)))) end += 1;
    return this.#take(end);
  }
}

/** A word counts as an opening mark only if no space follows it. */
function isOpening(open: string, after: string): boolean {
  return open !== "analysis" || /^[A-Z]/.test(after);
}

/** Recognises prose such as "<think> is the mark that …". */
function isTalk(after: string): boolean {
  return /^ [a-z]|^[`"'),.:;]/.test(after);
}

/** Whether the end of a streamed text is in a fence or in backticks. */
class CodeLines {
  /** The first characters of the line, and whether a backtick is open. */
  #begin = "";
  #isQuoted = false;
  #isFenced = false;
  /** The last character. */
  last = "";

  get isInside(): boolean {
    return this.#isFenced || this.#isQuoted;
  }

  get isLineBegin(): boolean {
    return this.#begin === "";
  }

  add(text: string): void {
    this.last = text.at(-1) ?? this.last;
    for (const [at, part] of text.split("\n").entries()) {
      if (at > 0) this.#endLine();
      if (this.#begin.length < 3) this.#begin = (this.#begin + part).trimStart().slice(0, 3);
      if (part.split("`").length % 2 === 0) this.#isQuoted = !this.#isQuoted;
    }
  }

  #endLine(): void {
    if (this.#begin === "```" || this.#begin === "~~~") this.#isFenced = !this.#isFenced;
    this.#begin = "";
    this.#isQuoted = false;
  }
}
