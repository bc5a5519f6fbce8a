/** Prepares a command's output for the screen and the model. Pure. */

const FIRST_LINES = 15;
const LAST_LINES = 85;
const MOST_CHARACTERS = 30_000;

/** Escape sequences of terminals: CSI, OSC and others, and single characters. */
const SEQUENCES =
  // deno-lint-ignore no-control-regex -- they are what is removed
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;

/** Removes escape sequences; a line that "\r" has overwritten shows its last state. */
export function plainText(text: string): string {
  return text.replace(SEQUENCES, "")
    .replace(/\r+(?=\n|$)/g, "")
    .split("\n").map((line) => line.slice(line.lastIndexOf("\r") + 1)).join("\n")
    // deno-lint-ignore no-control-regex -- what is left of control characters has no business in text
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}

/** The first 15 and the last 85 lines, at most 30,000 characters. */
export function shortened(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  const left = lines.length - FIRST_LINES - LAST_LINES;
  const kept = left <= 0
    ? lines
    : [...lines.slice(0, FIRST_LINES), `[${left} lines truncated]`, ...lines.slice(-LAST_LINES)];
  const joined = kept.join("\n");
  if (joined.length <= MOST_CHARACTERS) return joined;
  const head = Math.floor(MOST_CHARACTERS / 3);
  const cut = joined.length - MOST_CHARACTERS;
  return `${joined.slice(0, head)}\n[${cut} characters truncated]\n${
    joined.slice(-(MOST_CHARACTERS - head))
  }`;
}

/** Keeps the beginning and the end of an output in bounded memory. */
export class OutputBuffer {
  readonly #head: number;
  readonly #tail: number;
  #start = "";
  #end = "";
  #dropped = 0;
  readonly #decoder = new TextDecoder();

  /** @param head characters of the beginning @param tail characters of the end */
  constructor(head = 200_000, tail = 800_000) {
    this.#head = head;
    this.#tail = tail;
  }

  push(bytes: Uint8Array): void {
    this.#add(this.#decoder.decode(bytes, { stream: true }));
  }

  finish(): void {
    this.#add(this.#decoder.decode());
  }

  #add(text: string): void {
    const room = this.#head - this.#start.length;
    this.#start += text.slice(0, Math.max(0, room));
    this.#end += text.slice(Math.max(0, room));
    if (this.#end.length > this.#tail * 2) {
      this.#dropped += this.#end.length - this.#tail;
      this.#end = this.#end.slice(-this.#tail);
    }
  }

  /** The last characters of the text. */
  last(characters: number): string {
    return this.#end.length < characters ? this.text.slice(-characters) : this.#end.slice(-characters);
  }

  get text(): string {
    const gap = this.#dropped === 0 ? "" : `\n[${this.#dropped} characters dropped]\n`;
    return this.#start + gap + this.#end;
  }
}
