/** A window of lines of a file, streamed: a file of a gigabyte costs the memory of its window. */
import { splitLines } from "./text.ts";

const MOST_LINES = 2_000;
const MOST_CHARACTERS = 100_000;
const LONGEST_LINE = 2_000;
const CHUNK = 65_536;

export interface LineWindow {
  readonly lines: readonly string[];
  /** What is left out, for the reader; undefined at the end of the file. */
  readonly more?: string;
}

/** @param offset first line, from 1. */
export function splitWindow(text: string, offset: number, limit: number | undefined): LineWindow {
  const collector = new Collector(offset, limit);
  for (const line of splitLines(text)) if (!collector.add(line)) break;
  return collector.window();
}

/** Undefined for a binary file. Invalid UTF-8 is shown as U+FFFD. */
export async function readLines(
  path: string,
  offset: number,
  limit: number | undefined,
  signal: AbortSignal,
): Promise<LineWindow | undefined> {
  using file = await Deno.open(path);
  const collector = new Collector(offset, limit);
  const buffer = new Uint8Array(CHUNK);
  let decoder: TextDecoder | undefined;
  let rest = "";
  while (true) {
    signal.throwIfAborted();
    const count = await file.read(buffer);
    const bytes = buffer.subarray(0, count ?? 0);
    if (decoder === undefined) {
      decoder = decoderFor(bytes);
      if (decoder === undefined) return undefined;
    }
    rest += decoder.decode(bytes, { stream: count !== null });
    // A "\r" at the end may be the first half of "\r\n".
    const lines = rest.split(/\r\n|\n|\r(?=[^\n])/);
    rest = lines.pop() ?? "";
    // Only the start of an endless line is shown, so only that is kept.
    if (rest.length > LONGEST_LINE * 2) {
      rest = rest.slice(0, LONGEST_LINE * 2) + (rest.endsWith("\r") ? "\r" : "");
    }
    for (const line of lines) if (!collector.add(line)) return collector.window();
    if (count === null) break;
  }
  const last = rest.replace(/\r$/, "");
  if (rest !== "") collector.add(last);
  return collector.window();
}

/** By the first bytes; undefined if they are binary. */
function decoderFor(bytes: Uint8Array): TextDecoder | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be");
  return bytes.subarray(0, 8_192).includes(0) ? undefined : new TextDecoder("utf-8");
}

class Collector {
  readonly #lines: string[] = [];
  readonly #from: number;
  readonly #most: number;
  #seen = 0;
  #characters = 0;
  #more: string | undefined;

  constructor(offset: number, limit: number | undefined) {
    this.#from = offset;
    this.#most = Math.min(limit ?? MOST_LINES, MOST_LINES);
  }

  /** False once the window is full. */
  add(line: string): boolean {
    this.#seen += 1;
    if (this.#seen < this.#from) return true;
    if (this.#lines.length === this.#most || this.#characters >= MOST_CHARACTERS) {
      this.#more = "more lines follow";
      return false;
    }
    const cut = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}… [line cut]` : line;
    this.#characters += cut.length + 1;
    this.#lines.push(cut);
    return true;
  }

  window(): LineWindow {
    return { lines: this.#lines, ...(this.#more === undefined ? {} : { more: this.#more }) };
  }
}
