/** Notices a model that writes the same again and again. What it takes is linear in the length of the text. */

/** What is looked at: a block of a third of it is found. */
const WINDOW = 12_000;
/** Characters between two looks. */
const EACH = 2_000;
/** A run of so many characters is no table, list or code any more that somebody wants. */
const LONG_ENOUGH = 3_000;
/** Of short blocks: rules, rows of zeros, encoded nothing. */
const SHORT = 40;
const LONG_ENOUGH_OF_SHORT = 6_000;
const TIMES = 3;

/** A text has said everything when the first block of a run ends. */
export interface Run {
  /** Characters before that place. */
  readonly length: number;
}

export class Repetition {
  readonly #scale: number;
  #tail = "";
  #pieces: string[] = [];
  #unseen = 0;
  #length = 0;

  /** @param scale how many times as long a run has to be */
  constructor(scale = 1) {
    this.#scale = scale;
  }

  /** The run that the text so far ends with, if it is long enough to be one. */
  add(piece: string): Run | undefined {
    this.#pieces.push(piece);
    this.#unseen += piece.length;
    this.#length += piece.length;
    if (this.#unseen < EACH * this.#scale) return undefined;
    this.#tail = (this.#tail + this.#pieces.join("")).slice(-WINDOW * this.#scale);
    this.#pieces = [];
    this.#unseen = 0;
    // The end of a run stands a period before it too: of most texts no more than this is looked at.
    if (!this.#tail.slice(0, -1).includes(this.#tail.slice(-64))) return undefined;
    const run = runAtEnd(this.#tail, this.#scale);
    return run === undefined ? undefined : { length: this.#length - run.length + run.period };
  }
}

/** The borders of the reversed text (Knuth, Morris, Pratt) are the periods of its ends. */
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
