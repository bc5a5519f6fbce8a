/** Detects a model that repeats itself, in time linear in the length of the text. */

/** Characters that are searched. A block of up to a third of them is found. */
const WINDOW = 12_000;
/** Characters between two searches. */
const EACH = 2_000;
/** A run this long is not a useful table, list or code. */
const LONG_ENOUGH = 3_000;
/** The limit for short blocks, such as rules and rows of zeros. */
const SHORT = 40;
const LONG_ENOUGH_OF_SHORT = 6_000;
const TIMES = 3;

/** The text has no new content after the first block of a run. */
export interface Run {
  /** Characters before the repetition. */
  readonly length: number;
}

export class Repetition {
  readonly #scale: number;
  #tail = "";
  #pieces: string[] = [];
  #unseen = 0;
  #length = 0;

  /** @param scale multiplies the length that a run needs */
  constructor(scale = 1) {
    this.#scale = scale;
  }

  /** Returns the run at the end of the text if it is long enough. */
  add(piece: string): Run | undefined {
    this.#pieces.push(piece);
    this.#unseen += piece.length;
    this.#length += piece.length;
    if (this.#unseen < EACH * this.#scale) return undefined;
    this.#tail = (this.#tail + this.#pieces.join("")).slice(-WINDOW * this.#scale);
    this.#pieces = [];
    this.#unseen = 0;
    // Searches the window only if its end also occurs earlier, which is rare.
    if (!this.#tail.slice(0, -1).includes(this.#tail.slice(-64))) return undefined;
    const run = runAtEnd(this.#tail, this.#scale);
    return run === undefined ? undefined : { length: this.#length - run.length + run.period };
  }
}

/** The borders of the reversed text (Knuth, Morris, Pratt) are the periods of its suffixes. */
function runAtEnd(
  text: string,
  scale: number,
): { readonly period: number; readonly length: number } | undefined {
  const last = text.length - 1;
  const border = new Int32Array(text.length);
  let found: { period: number; length: number } | undefined;
  for (let at = 1, matched = 0; at < text.length; at++) {
    const unit = text.charCodeAt(last - at);
    while (matched > 0 && unit !== text.charCodeAt(last - matched)) matched = border[matched - 1] ?? 0;
    if (unit === text.charCodeAt(last - matched)) matched += 1;
    border[at] = matched;
    const length = at + 1;
    const period = length - matched;
    const enough = scale * (period < SHORT ? LONG_ENOUGH_OF_SHORT : LONG_ENOUGH);
    if (length >= enough && length >= TIMES * period) found = { period, length };
  }
  return found;
}
