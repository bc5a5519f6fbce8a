/** The user's choices about the view: dropped parts and pinned parts. Pure. */
import type { MessageEntry } from "../log/entries.ts";
import type { Part } from "../log/events.ts";

export interface Chosen {
  /** Id of a dropped part → its replacement. */
  readonly dropped: ReadonlyMap<string, string>;
  /** Ids of pinned parts. */
  readonly pinned: ReadonlyMap<string, boolean>;
}

export const NOTHING_CHOSEN: Chosen = { dropped: new Map(), pinned: new Map() };

/** All results that show a file. @param path as in the calls */
export function fileId(path: string): string {
  return `file:${path}`;
}

/** @param call its id */
export function resultId(call: string): string {
  return `result:${call}`;
}

/** An attachment of the user's. */
export function givenId(uri: string): string {
  return `given:${uri}`;
}

/** A skill, which is kept as if it was pinned. */
export function skillId(name: string): string {
  return `skill:${name}`;
}

export function rulesId(path: string): string {
  return `rules:${path}`;
}

/** The entries, with a line for each dropped part. */
export function withoutDropped(
  entries: readonly MessageEntry[],
  { dropped }: Chosen,
): readonly MessageEntry[] {
  return dropped.size === 0 ? entries : entries.map((entry) => entryWithout(entry, dropped));
}

function entryWithout(entry: MessageEntry, dropped: ReadonlyMap<string, string>): MessageEntry {
  switch (entry.type) {
    case "tool_result": {
      const text = dropped.get(resultId(entry.id));
      if (text === undefined) return entry;
      const { images: _, ...rest } = entry;
      return { ...rest, text };
    }
    case "user_message": {
      const part = (one: Part): Part => {
        const text = one.type === "file" ? dropped.get(givenId(one.uri)) : undefined;
        return text === undefined ? one : { type: "text", text };
      };
      return entry.parts.some((one) => part(one) !== one)
        ? { ...entry, parts: entry.parts.map(part) }
        : entry;
    }
    case "control_note": {
      const text = entry.path === undefined ? undefined : dropped.get(rulesId(entry.path));
      return text === undefined ? entry : { ...entry, text };
    }
    case "assistant_message":
      return entry;
  }
}
