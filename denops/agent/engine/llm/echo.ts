/**
 * Removes a thought that an answer's text repeats at its beginning, as some models and servers write it. White space
 * may differ. Pure, apart from the deltas that it yields.
 */
import type { ModelEvent } from "./client.ts";
import type { Delta } from "./wire/wire.ts";

/** Characters of a thought that counts on the same line as the answer. A shorter one may be its first words. */
const LEAST_ON_LINE = 20;
const SENTENCE_END = /[.!?:…。！？)\]*"'`]/;

export async function* withoutEcho(
  events: AsyncGenerator<ModelEvent, void>,
): AsyncGenerator<ModelEvent, void> {
  const echo = new Echo();
  for await (const event of events) {
    if (event.type === "deltas") {
      const deltas = event.deltas.flatMap((delta) => echo.take(delta));
      if (deltas.length > 0) yield { type: "deltas", deltas };
    } else if (event.type === "retry" || event.type === "notice") {
      yield event;
    } else {
      const deltas = echo.end(event.type === "done");
      if (deltas.length > 0) yield { type: "deltas", deltas };
      yield event;
    }
  }
}

class Echo {
  readonly #thought = new Thought();
  /** Text before any thought. */
  #text = "";
  /** Text that has repeated the thought so far. */
  #pending = "";
  /** The beginning of the text is over. */
  #isOver = false;
  #isCut = false;

  take(delta: Delta): readonly Delta[] {
    switch (delta.type) {
      case "thought":
        if (this.#isOver) return [delta];
        if (this.#text.trim() === "") this.#thought.add(delta.text);
        else this.#isOver = true;
        return [delta];
      case "text":
        return this.#read(delta);
      case "text_was_thought": {
        const left = this.#pass(this.#pending);
        this.#thought.add(this.#text);
        this.#text = "";
        this.#isOver = false;
        return [...left, delta];
      }
      case "thought_was_text":
        return [...this.#pass(this.#pending), delta];
      case "call_start":
        return [...this.#pass(this.#thought.isRepeated ? "" : this.#pending), delta];
      // Their place is behind the text so far.
      case "signature":
      case "redacted":
        return [...this.#pending === "" ? [] : this.#pass(this.#pending), delta];
      case "finish":
        this.#isCut = delta.reason === "length";
        return [delta];
      default:
        return [delta];
    }
  }

  /** @param isComplete false for a stopped or failed answer */
  end(isComplete: boolean): readonly Delta[] {
    const isAll = isComplete && !this.#isCut && this.#thought.isRepeated;
    const left = this.#pass(this.#pending);
    // A thought that is everything is the answer.
    return isAll ? [{ type: "thought_was_text" }, ...left] : left;
  }

  #read(delta: Extract<Delta, { type: "text" }>): readonly Delta[] {
    if (this.#isOver) return [delta];
    if (this.#thought.length === 0) {
      this.#text += delta.text;
      return [delta];
    }
    const from = this.#pending.length;
    this.#pending += delta.text;
    for (let at = 0; at < delta.text.length; at += 1) {
      const character = delta.text.charAt(at);
      if (/\s/.test(character)) continue;
      if (this.#thought.isRepeated) {
        return this.#pass(this.#isEcho(from + at) ? this.#pending.slice(from + at) : this.#pending);
      }
      if (!this.#thought.repeats(character)) return this.#pass(this.#pending);
    }
    return [];
  }

  /** Whether the answer begins here, or only continues the words of the thought. */
  #isEcho(end: number): boolean {
    const before = this.#pending.slice(0, end);
    const words = before.trimEnd();
    if (/[\r\n]/.test(before.slice(words.length))) return true;
    return this.#thought.length >= LEAST_ON_LINE && SENTENCE_END.test(words.slice(-1));
  }

  /** Passes on the text, and all later text. */
  #pass(text: string): readonly Delta[] {
    this.#pending = "";
    this.#isOver = true;
    this.#thought.restart();
    return text === "" ? [] : [{ type: "text", text }];
  }
}

/** Thoughts without white space, and how much of them was repeated. */
class Thought {
  readonly #pieces: string[] = [];
  length = 0;
  #repeated = 0;
  /** The next character. */
  #piece = 0;
  #at = 0;

  add(text: string): void {
    const piece = text.replace(/\s+/g, "");
    if (piece === "") return;
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  get isRepeated(): boolean {
    return this.#repeated > 0 && this.#repeated === this.length;
  }

  /** Whether this is the next character; then the one behind it is. */
  repeats(character: string): boolean {
    const piece = this.#pieces[this.#piece] ?? "";
    if (piece[this.#at] !== character) return false;
    this.#repeated += 1;
    this.#at += 1;
    if (this.#at === piece.length) {
      this.#piece += 1;
      this.#at = 0;
    }
    return true;
  }

  restart(): void {
    this.#repeated = this.#piece = this.#at = 0;
  }
}
