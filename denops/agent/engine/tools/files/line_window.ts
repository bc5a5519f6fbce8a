/** A window of lines of a file, streamed, so a huge file only costs the memory of its window. */
import { splitLines } from "../../../shared/text/text.ts";
import { openByRealPath } from "../../files/open_file.ts";
import { pauses } from "../../../shared/pauses.ts";

const MOST_LINES = 2_000;
const MOST_CHARACTERS = 100_000;
const LONGEST_LINE = 2_000;
const CHUNK = 65_536;

interface LineWindow {
  readonly lines: readonly string[];
  /** A note about omitted lines; undefined at the end of the file. */
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
  using file = openByRealPath(path);
  const pause = pauses();
  const collector = new Collector(offset, limit);
  const buffer = new Uint8Array(CHUNK);
  let decoder: TextDecoder | undefined;
  let rest = "";
  while (true) {
    await pause();
    signal.throwIfAborted();
    const count = file.read(buffer);
    let bytes = buffer.subarray(0, count);
    if (decoder === undefined) {
      const start = startOf(bytes);
      if (start === undefined) return undefined;
      decoder = start.decoder;
      bytes = bytes.subarray(start.mark);
    } else if (count > 0 && isLong(rest) && decoder.encoding === "utf-8" && !hasLineEnd(bytes)) {
      continue;
    }
    rest += decoder.decode(bytes, { stream: count > 0 });
    // A final "\r" may be the first half of "\r\n".
    const lines = rest.split(/\r\n|\n|\r(?=[^\n])/);
    rest = lines.pop() ?? "";
    if (isLong(rest)) rest = rest.slice(0, LONGEST_LINE * 2);
    for (const line of lines) if (!collector.add(line)) return collector.window();
    if (count === 0) break;
  }
  const last = rest.replace(/\r$/, "");
  if (rest !== "") collector.add(last);
  return collector.window();
}

/** Only the beginning of a very long line is kept and decoded. */
function isLong(line: string): boolean {
  return line.length >= LONGEST_LINE * 2 && !line.endsWith("\r");
}

function hasLineEnd(bytes: Uint8Array): boolean {
  return bytes.includes(10) || bytes.includes(13);
}

/**
 * The decoder of a file and the length of its byte order mark, by its first bytes; undefined if they are binary. A
 * decoder would drop a mark at the start of any piece.
 */
function startOf(bytes: Uint8Array): { readonly decoder: TextDecoder; readonly mark: number } | undefined {
  const decoder = (label: string) => new TextDecoder(label, { ignoreBOM: true });
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { decoder: decoder("utf-16le"), mark: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { decoder: decoder("utf-16be"), mark: 2 };
  if (bytes.subarray(0, 8_192).includes(0)) return undefined;
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return { decoder: decoder("utf-8"), mark };
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
