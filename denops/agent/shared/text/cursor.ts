/**
 * A position in an answer's text. Records every read at the text's end, because more text could change its
 * result.
 */

/** State that all cursors on a text share. */
interface Shared {
  /** Cached searches, so that all of them together stay linear. */
  readonly finds: Map<string, { readonly from: number; readonly at: number }>;
  /** Characters that were read, including repeated reads after failures. */
  work: number;
}

const SPACE = /\s*/y;

export class Cursor {
  readonly text: string;
  at: number;
  /** A read has reached the end of the text. */
  metEnd = false;
  readonly #shared: Shared;

  constructor(text: string, at = 0, shared: Shared = { finds: new Map(), work: 0 }) {
    this.text = text;
    this.at = at;
    this.#shared = shared;
  }

  /** Another cursor on the same text, with its own `metEnd`. */
  from(at: number): Cursor {
    return new Cursor(this.text, at, this.#shared);
  }

  get work(): number {
    return this.#shared.work;
  }

  /** Counts the characters between `begin` and here as read. */
  worked(begin: number): void {
    this.#shared.work += Math.max(0, this.at - begin);
  }

  /** Undefined at the end. */
  get next(): string | undefined {
    if (this.at < this.text.length) return this.text[this.at];
    this.metEnd = true;
    return undefined;
  }

  /** Whether `literal` is at this position. */
  sees(literal: string): boolean {
    if (this.text.startsWith(literal, this.at)) return true;
    const left = this.text.length - this.at;
    if (left < literal.length && literal.startsWith(this.text.slice(this.at))) this.metEnd = true;
    return false;
  }

  /** Moves past `literal` if it is at this position. */
  take(literal: string): boolean {
    if (!this.sees(literal)) return false;
    this.at += literal.length;
    return true;
  }

  /** Moves past the first of `literals` that is at this position. */
  takeOne(literals: readonly string[]): string | undefined {
    return literals.find((literal) => this.take(literal));
  }

  space(): void {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.text)?.[0].length ?? 0;
    if (this.at >= this.text.length) this.metEnd = true;
  }

  /**
   * Moves past the match of a sticky pattern at this position.
   * @param looks number of characters that rule out a match, or a pattern for a match that is truncated by
   * the text's end
   */
  match(pattern: RegExp, looks: number | RegExp = 200): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found !== undefined) this.at += found[0].length;
    const isShort = typeof looks === "number" ? this.at + looks > this.text.length : isHere(looks, this);
    if (found === undefined ? isShort : this.at >= this.text.length) this.metEnd = true;
    return found;
  }

  /** Position of the next `needle` after `from`; -1 if it is missing. */
  find(needle: string, from = this.at): number {
    const before = this.#shared.finds.get(needle);
    const isKnown = before !== undefined && before.from <= from && (before.at === -1 || before.at >= from);
    const at = isKnown ? before.at : this.text.indexOf(needle, from);
    if (!isKnown) this.#shared.finds.set(needle, { from, at });
    if (at === -1) this.metEnd = true;
    return at;
  }

  /** Position of the first of `needles`; undefined if all are missing. */
  findOne(
    needles: readonly string[],
    from = this.at,
  ): { readonly at: number; readonly needle: string } | undefined {
    let first: { at: number; needle: string } | undefined;
    const { metEnd } = this;
    for (const needle of needles) {
      const at = this.find(needle, from);
      if (at !== -1 && (first === undefined || at < first.at)) first = { at, needle };
    }
    // A missing needle may still arrive, but not before the first one.
    this.metEnd = metEnd || first === undefined;
    return first;
  }
}

function isHere(pattern: RegExp, { at, text }: Cursor): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
