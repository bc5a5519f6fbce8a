/** A place in an answer's text. Every look that meets the text's end is noted: more of the text could change what was seen. */

/** What all cursors on a text know together. */
interface Shared {
  /** What was looked for and where it was found, so that all searches together stay linear. */
  readonly finds: Map<string, { readonly from: number; readonly at: number }>;
  /** Characters that were read, again and again where reading failed. */
  work: number;
}

const SPACE = /\s*/y;

export class Cursor {
  readonly text: string;
  at: number;
  /** Something was looked for that would have stood behind the end. */
  metEnd = false;
  readonly #shared: Shared;

  constructor(text: string, at = 0, shared: Shared = { finds: new Map(), work: 0 }) {
    this.text = text;
    this.at = at;
    this.#shared = shared;
  }

  /** Another cursor on the same text, which has met no end. */
  from(at: number): Cursor {
    return new Cursor(this.text, at, this.#shared);
  }

  get work(): number {
    return this.#shared.work;
  }

  /** Notes that what lies between `begin` and here was read. */
  worked(begin: number): void {
    this.#shared.work += Math.max(0, this.at - begin);
  }

  /** Undefined at the end. */
  get next(): string | undefined {
    if (this.at < this.text.length) return this.text[this.at];
    this.metEnd = true;
    return undefined;
  }

  /** Whether `literal` stands here. */
  sees(literal: string): boolean {
    if (this.text.startsWith(literal, this.at)) return true;
    const left = this.text.length - this.at;
    if (left < literal.length && literal.startsWith(this.text.slice(this.at))) this.metEnd = true;
    return false;
  }

  /** Goes past `literal` if it stands here. */
  take(literal: string): boolean {
    if (!this.sees(literal)) return false;
    this.at += literal.length;
    return true;
  }

  /** Goes past the first of `literals` that stands here. */
  takeOne(literals: readonly string[]): string | undefined {
    return literals.find((literal) => this.take(literal));
  }

  space(): void {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.text)?.[0].length ?? 0;
    if (this.at >= this.text.length) this.metEnd = true;
  }

  /**
   * Goes past what a sticky pattern matches here.
   * @param looks how many characters decide that it does not match, or a pattern for the beginning of a match that the
   * text's end cuts off
   */
  match(pattern: RegExp, looks: number | RegExp = 200): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found !== undefined) this.at += found[0].length;
    const isShort = typeof looks === "number" ? this.at + looks > this.text.length : isHere(looks, this);
    if (found === undefined ? isShort : this.at >= this.text.length) this.metEnd = true;
    return found;
  }

  /** Where `needle` stands next, from `from` on; -1 if nowhere. */
  find(needle: string, from = this.at): number {
    const before = this.#shared.finds.get(needle);
    const isKnown = before !== undefined && before.from <= from && (before.at === -1 || before.at >= from);
    const at = isKnown ? before.at : this.text.indexOf(needle, from);
    if (!isKnown) this.#shared.finds.set(needle, { from, at });
    if (at === -1) this.metEnd = true;
    return at;
  }

  /** Where the first of `needles` stands; undefined if none does. */
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
    // A needle that is nowhere may still come, but not before the first.
    this.metEnd = metEnd || first === undefined;
    return first;
  }
}

function isHere(pattern: RegExp, { at, text }: Cursor): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
