/** The share of the model's window for the attachments of one message. */
import { splitLines } from "../../../shared/text/text.ts";

/** Share of the window. */
const SHARE = 1 / 6;
/** Characters a token before the first count. */
const CHARACTERS_A_TOKEN = 3;
/** Characters of an attachment that the user did not name. */
const MOST_UNNAMED = 8_000;
/** Default for an unknown window. */
const UNKNOWN_WINDOW = 128_000;
/** Shorter beginnings are not worth sending. */
const LEAST = 200;

export class Share {
  #left: number;

  /** @param window tokens */
  constructor(window: number) {
    const tokens = Number.isFinite(window) ? window : UNKNOWN_WINDOW;
    this.#left = Math.floor(tokens * SHARE) * CHARACTERS_A_TOKEN;
  }

  /** Characters of one attachment that the user did not name. */
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

  /** The first whole lines that fit. @param beside characters that accompany them */
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
    // A file may consist of one line.
    const kept = lines.length === 0 ? text.slice(0, most) : lines.join("\n");
    this.#left -= kept.length + beside;
    return { text: kept, lines: Math.max(1, lines.length) };
  }
}
