/** The interface of a syntax for calls in text. Each has a file, and a line in registry.ts. */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import type { KnownTools, TextCall } from "../tools.ts";

/**
 * Reads the calls at the cursor and moves it past them. Returns undefined if it finds none; the cursor's
 * position is then unspecified. For a call without an end, `KnownTools.unread` returns one that does not run.
 */
export type Read = (cursor: Cursor, tools: KnownTools) => readonly TextCall[] | undefined;

export interface Syntax {
  /** The texts that a call can begin with. */
  marks(tools: KnownTools): readonly string[];
  /** A mark counts only at the beginning of a line. */
  readonly atLine?: true;
  /** Other texts contain the mark too, so a call is reported only when it is complete. */
  readonly weak?: true;
  /** The models that use it; any model by default. */
  readonly models?: RegExp;
  readonly read: Read;
}

/** Whether `look` reaches the end of the text, regardless of earlier reads. */
export function meetsEnd(cursor: Cursor, look: () => void): boolean {
  const before = cursor.metEnd;
  cursor.metEnd = false;
  look();
  const met = cursor.metEnd;
  cursor.metEnd = before || met;
  return met;
}

/** Returns the result of the first of `reads` that finds calls at the cursor. */
export function firstOf(reads: readonly Read[]): Read {
  return (cursor, tools) => {
    const { at } = cursor;
    for (const read of reads) {
      cursor.at = at;
      const calls = read(cursor, tools);
      if (calls !== undefined) return calls;
    }
    cursor.at = at;
    return undefined;
  };
}

/**
 * Skips an unreadable call from `begin` to the first of `closes`, so that its contents are not read as calls.
 */
export function unread(
  cursor: Cursor,
  tools: KnownTools,
  name: string,
  begin: number,
  closes: readonly string[],
): readonly TextCall[] | undefined {
  const call = tools.unread(name, cursor.text.slice(begin));
  const end = cursor.findOne(closes, begin);
  cursor.at = end === undefined ? cursor.text.length : end.at + end.needle.length;
  return asCalls(call);
}

export function asCalls(call: TextCall | undefined): readonly TextCall[] | undefined {
  return call === undefined ? undefined : [call];
}

/** Moves past white space and the first of `closes` that follows; does nothing if none does. */
export function takeClose(cursor: Cursor, closes: readonly string[]): boolean {
  const { at } = cursor;
  cursor.space();
  if (cursor.takeOne(closes) !== undefined) return true;
  cursor.at = at;
  return false;
}

/** Reads calls without their opening mark; the closing mark may still follow. */
export function alone(read: Read, closes: readonly string[]): Read {
  return (cursor, tools) => {
    const calls = read(cursor, tools);
    if (calls !== undefined) takeClose(cursor, closes);
    return calls;
  };
}
