/** What a syntax of calls in text is: one file each, one line in registry.ts. */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import type { KnownTools, TextCall } from "../tools.ts";

/**
 * Reads calls from where the cursor stands, and leaves it behind them; undefined if there are none, wherever it stands
 * then. Of a call whose end is missing `KnownTools.unread` makes one that is not run.
 */
export type Read = (cursor: Cursor, tools: KnownTools) => readonly TextCall[] | undefined;

export interface Syntax {
  /** One of these texts stands where a call begins. */
  marks(tools: KnownTools): readonly string[];
  /** A mark counts at the beginning of a line alone. */
  readonly atLine?: true;
  /** Other texts look so too: nothing is told of a call before it has ended. */
  readonly weak?: true;
  /** Who writes so; any model, unless told. */
  readonly models?: RegExp;
  readonly read: Read;
}

/** What `look` meets of the text's end, apart from what was met before. */
export function meetsEnd(cursor: Cursor, look: () => void): boolean {
  const before = cursor.metEnd;
  cursor.metEnd = false;
  look();
  const met = cursor.metEnd;
  cursor.metEnd = before || met;
  return met;
}

/** The first of `reads` that finds calls where the cursor stands. */
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
 * A call from `begin` on that cannot be read, up to the first of `closes`: what stands in it must not be taken for calls.
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

/** Past the first of `closes` that stands here, after white space; nowhere, if none does. */
export function takeClose(cursor: Cursor, closes: readonly string[]): boolean {
  const { at } = cursor;
  cursor.space();
  if (cursor.takeOne(closes) !== undefined) return true;
  cursor.at = at;
  return false;
}

/** Alone, without the mark around it: its end may stand there all the same. */
export function alone(read: Read, closes: readonly string[]): Read {
  return (cursor, tools) => {
    const calls = read(cursor, tools);
    if (calls !== undefined) takeClose(cursor, closes);
    return calls;
  };
}
