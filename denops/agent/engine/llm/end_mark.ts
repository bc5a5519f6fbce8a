/**
 * Removes the mark with which a model reports that it is done. Models vary its case and markup, and some
 * write it without instructions.
 */
import type { ModelEvent } from "./client.ts";
import type { Delta } from "./wire/wire.ts";

/** The mark as the prompt defines it. */
export const END_MARK = "[TASK_COMPLETE]";

const EXACT = ["\\[", ..."task_complete", "\\]"];
/** Other spellings count only on a line of their own, because task lists look similar. */
const LOOSE = ["\\[", " ?", ..."task", "[ _-]?", ..."complete", "d?", " ?", "\\]"];
const exact = EXACT.join("");
const loose = `(?:${LOOSE.join("")}\\s{0,4})`;
/** Matches a truncated mark at the end of a text. */
const cut = (pieces: readonly string[]) => pieces.reduceRight((rest, piece) => `(?:${piece}${rest})?`, "");

const AROUND = "[\\s*_~`\"'#>-]{0,12}";
const AFTER = "[\\s*_~`\"'.!]{0,12}";
const BOLD = "[*_~]{0,3}";
const ALONE = new RegExp(`^${AROUND}${loose}{1,3}${AFTER}$`, "i");
const MAYBE_ALONE = new RegExp(
  `^${AROUND}(?:${loose}{0,2}${cut([...LOOSE, "\\s{0,4}", AFTER])})$`,
  "i",
);
/** At most as long as what is withheld at the beginning of a line. */
const AT_BEGIN = new RegExp(`^\\s{0,8}${BOLD}${exact}${BOLD}\\s{1,8}(?=\\S)`, "i");
/** Preserves the end of bold text before the mark. */
const AT_END = new RegExp(`(?:(?<![\\w*_~])[*_~]{1,3})?${exact}${BOLD}\\s*$`, "i");
const MAYBE_AT_END = new RegExp(`${BOLD}${cut([...EXACT, BOLD])}\\s*$`, "i");
/** Characters at the end of a line that are searched. */
const LONGEST = 64;

const FENCE = /^\s{0,12}(?:[-*>]\s+)?(`{3,}|~{3,})[^`]*$/;
/** Characters of a line that are enough to recognise a fence. */
const HEAD = 200;

/** Whether a text is only the mark. @param isCut a beginning of the mark is enough */
export function isEndMark(text: string, isCut: boolean): boolean {
  return text.length < LONGEST && (isCut ? MAYBE_ALONE : ALONE).test(text);
}

/**
 * Removes the mark from a streamed text. Any spelling counts on a line of its own; the exact mark also counts
 * at the beginning or end of a line. In code and within a sentence it is text. White space is held until text
 * follows it.
 */
export class WithoutEndMark {
  /** The text contained the mark. */
  isThere = false;
  /** The undecided part of the line. */
  #undecided = "";
  #space = "";
  #isLast = false;
  /** The beginning of the decided part of the line. */
  #head = "";
  /** The last decided character of the line. */
  #before = "";
  #isOdd = false;
  #fence: string | undefined;

  /** @returns the text that has become certain */
  add(piece: string): string {
    const lines = (this.#undecided + piece).split("\n");
    const begun = lines.pop() ?? "";
    const whole = lines.map((line) => this.#line(line)).join("");
    const last = MAYBE_ALONE.test(begun) ? begun : this.#begun(begun);
    if (this.#isBegin && MAYBE_ALONE.test(last)) {
      this.#undecided = last;
      return whole;
    }
    const at = this.#certain(last);
    this.#undecided = last.slice(at);
    return whole + this.#words(last.slice(0, at));
  }

  /** Returns the remaining text. */
  end(): string {
    const left = this.#line(this.#undecided, "") + (this.#isLast ? "" : this.#space);
    this.#undecided = this.#space = "";
    return left;
  }

  /** Whether the line is undecided from its beginning, and is not code. */
  get #isBegin(): boolean {
    return this.#fence === undefined && this.#head === "";
  }

  /** Processes the rest of a line. */
  #line(rest: string, end = "\n"): string {
    if (this.#isBegin && ALONE.test(rest)) {
      this.#found();
      return "";
    }
    const text = this.#begun(rest);
    if (text.length < rest.length) return this.#line(text, end);
    const at = this.#fence === undefined ? this.#atEnd(text) : undefined;
    if (at !== undefined && !this.#isQuoted(text.slice(0, at))) {
      const words = this.#words(text.slice(0, at));
      this.#found();
      return words + this.#next(end);
    }
    const words = this.#words(text);
    const [, ticks = ""] = FENCE.exec(this.#head) ?? [];
    if (this.#fence === undefined) this.#fence = ticks === "" ? undefined : ticks;
    else if (ticks.startsWith(this.#fence) && this.#head.trim() === ticks) this.#fence = undefined;
    return words + this.#next(end);
  }

  /** Where the mark at the end of the line begins. */
  #atEnd(text: string): number | undefined {
    const at = AT_END.exec(this.#before + text)?.index;
    return at === undefined ? undefined : Math.max(0, at - this.#before.length);
  }

  #next(end: string): string {
    this.#head = this.#before = "";
    this.#isOdd = false;
    this.#space += end;
    return "";
  }

  /** Removes marks at the beginning of the line. */
  #begun(text: string): string {
    if (!this.#isBegin) return text;
    for (let left = text;;) {
      const rest = left.replace(AT_BEGIN, "");
      if (rest.length === left.length) return left;
      this.#found();
      left = rest;
    }
  }

  #found(): void {
    this.isThere = this.#isLast = true;
  }

  /** How much of the rest of the line is certain. */
  #certain(rest: string): number {
    if (this.#fence !== undefined) return rest.length;
    const from = Math.max(0, rest.length - LONGEST);
    const at = from + (MAYBE_AT_END.exec(rest.slice(from))?.index ?? LONGEST);
    return this.#isQuoted(rest.slice(0, at)) ? rest.length : at;
  }

  #isQuoted(before: string): boolean {
    return isOdd(before) !== this.#isOdd;
  }

  #words(text: string): string {
    const body = text.trimEnd();
    this.#head = (this.#head + text).slice(0, HEAD);
    this.#before = text.at(-1) ?? this.#before;
    if (isOdd(text)) this.#isOdd = !this.#isOdd;
    if (body === "") {
      this.#space += text;
      return "";
    }
    const words = this.#space + body;
    this.#space = text.slice(body.length);
    this.#isLast = false;
    return words;
  }
}

/** Whether a code span is open at the end. */
function isOdd(text: string): boolean {
  return text.split("`").length % 2 === 0;
}

/** Yields an answer without the mark, and "complete" instead of it. */
export async function* withoutEndMark(
  events: AsyncGenerator<ModelEvent, void>,
): AsyncGenerator<ModelEvent, void> {
  let filter = new WithoutEndMark();
  const textDeltas = (text: string): readonly Delta[] => text === "" ? [] : [{ type: "text", text }];
  const stripped = (delta: Delta): readonly Delta[] => {
    switch (delta.type) {
      case "text":
        return textDeltas(filter.add(delta.text));
      case "call_start":
        return [...textDeltas(filter.end()), delta];
      case "text_was_thought": {
        const left = filter.end();
        filter = new WithoutEndMark();
        return [...textDeltas(left), delta];
      }
      case "written": {
        const own = new WithoutEndMark();
        return [{ type: "written", text: own.add(delta.text) + own.end() }];
      }
      default:
        return [delta];
    }
  };
  for await (const event of events) {
    if (event.type === "deltas") {
      const deltas = event.deltas.flatMap(stripped);
      if (deltas.length > 0) yield { type: "deltas", deltas };
    } else if (event.type === "retry" || event.type === "notice") {
      yield event;
    } else {
      const deltas: readonly Delta[] = [
        ...textDeltas(filter.end()),
        ...filter.isThere ? [{ type: "complete" } as const] : [],
      ];
      if (deltas.length > 0) yield { type: "deltas", deltas };
      yield event;
    }
  }
}
