/** The end of one string in a streaming JSON object: the text that is being written. Pure. */

/** Visible lines, and characters of each. */
const MOST_LINES = 5;
const LONGEST_LINE = 200;
/** Kept characters, with escapes. */
const LONGEST_TAIL = 4_000;
/** Characters that are searched for the key and the beginning of its value. */
const LONGEST_KEY = 100;

export class StreamedText {
  readonly #key: RegExp;
  #state: "before" | "inside" | "after" = "before";
  #isEscaped = false;
  #tail = "";

  /** @param key a plain word */
  constructor(key: string) {
    this.#key = new RegExp(`"${key}"\\s*:\\s*"`);
  }

  add(piece: string): void {
    if (this.#state === "after") return;
    if (this.#state === "inside") return this.#take(piece);
    this.#tail += piece;
    const match = this.#key.exec(this.#tail);
    if (match === null) {
      this.#tail = this.#tail.slice(-LONGEST_KEY);
      return;
    }
    const rest = this.#tail.slice(match.index + match[0].length);
    this.#tail = "";
    this.#state = "inside";
    this.#take(rest);
  }

  #take(piece: string): void {
    let end = 0;
    for (; end < piece.length; end++) {
      const character = piece[end];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === "\\") this.#isEscaped = true;
      else if (character === '"') break;
    }
    if (end < piece.length) this.#state = "after";
    this.#tail = (this.#tail + piece.slice(0, end)).slice(-LONGEST_TAIL);
  }

  /** The last lines so far; empty before the value begins. */
  get text(): string {
    if (this.#state === "before") return "";
    const lines = decoded(this.#tail).replace(/\n$/, "").split("\n").slice(-MOST_LINES);
    return lines.map((line) => line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line).join(
      "\n",
    );
  }
}

/** Either end may be in the middle of an escape. */
function decoded(raw: string): string {
  const whole = raw.replace(/(?<!\\)((?:\\\\)*)\\(?:u[\da-f]{0,3})?$/i, "$1");
  for (let from = 0; from <= Math.min(6, whole.length); from++) {
    try {
      return JSON.parse(`"${whole.slice(from).replaceAll(/\p{Cc}/gu, " ")}"`);
    } catch {
      // It begins in the middle of an escape.
    }
  }
  return "";
}
