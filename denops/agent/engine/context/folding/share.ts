/** How much of the model's window is for what the user hands over with one message. */
import { splitLines } from "../../../shared/text/text.ts";

/** Of the window. */
const SHARE = 1 / 6;
/** Characters a token, where nothing was counted. */
const CHARACTERS_A_TOKEN = 3;
/** Characters of what the user has not named. */
const MOST_UNNAMED = 8_000;
/** Where the model's window is not known. */
const UNKNOWN_WINDOW = 128_000;
/** Characters that are not worth a beginning. */
const LEAST = 200;

export class Share {
  #left: number;

  /** @param window tokens */
  constructor(window: number) {
    const tokens = Number.isFinite(window) ? window : UNKNOWN_WINDOW;
    this.#left = Math.floor(tokens * SHARE) * CHARACTERS_A_TOKEN;
  }

  /** Characters that one thing may have which was not named. */
  get ofOne(): number {
    return Math.min(MOST_UNNAMED, this.#left);
  }

  #most(isNamed: boolean): number {
    return isNamed ? this.#left : this.ofOne;
  }

  takes(text: string, isNamed: boolean): boolean {
    return text.length <= this.#most(isNamed);
  }

  take(text: string): string {
    this.#left -= text.length;
    return text;
  }

  /** Whole lines from the beginning, as many as fit. @param beside characters that come with it */
  beginning(
    text: string,
    isNamed: boolean,
    beside: number,
  ): { readonly text: string; readonly lines: number } | undefined {
    const most = Math.min(this.#most(isNamed), MOST_UNNAMED) - beside;
    if (most < LEAST) return undefined;
    const lines: string[] = [];
    let size = 0;
    for (const line of splitLines(text)) {
      size += line.length + 1;
      if (size > most) break;
      lines.push(line);
    }
    // One line may be all of the file.
    const kept = lines.length === 0 ? text.slice(0, most) : lines.join("\n");
    this.#left -= kept.length + beside;
    return { text: kept, lines: Math.max(1, lines.length) };
  }
}
