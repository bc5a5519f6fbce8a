/** Values between tags are plain text: `<`, `&` and line breaks need no escapes. */
import type { Cursor } from "../../../../shared/text/cursor.ts";

export interface TagEnds {
  /** The closing tags of a value. */
  readonly closes: readonly string[];
  /**
   * The texts that can follow the end of a value. A value may contain text like its closing tag, but rarely
   * both.
   */
  readonly follows: readonly string[];
}

/**
 * Reads to the end of a value and moves past it.
 * @returns undefined if it has no end
 */
export function valueTo(cursor: Cursor, { closes, follows }: TagEnds): string | undefined {
  const begin = cursor.at;
  for (let from = begin;;) {
    const end = cursor.findOne(closes, from);
    if (end === undefined) break;
    from = end.at + end.needle.length;
    cursor.at = from;
    cursor.space();
    const isEnd = cursor.next === undefined || follows.some((text) => cursor.sees(text));
    if (!isEnd) continue;
    cursor.at = from;
    return cursor.text.slice(begin, end.at);
  }
  cursor.at = begin;
  return undefined;
}

/** One line break after the opening tag and one before the closing tag belong to the tags. */
export function unwrapped(value: string): string {
  const inner = value.replace(/^\r?\n/, "");
  return inner === value ? value : inner.replace(/\r?\n$/, "");
}
