/** Forks: the turns that they have in common with the session that they were made from are stored once, with that one. */
import type { Database } from "./database.ts";
import type { Range } from "./turn_log.ts";

/** Where the turns `first` to `last` of a session are stored, oldest first. */
export function rangesOf(database: Database, session: string, first: number, last: number): readonly Range[] {
  const ranges: Range[] = [];
  for (let id = session, end = last; end >= first;) {
    const row = database.get("SELECT parent, shared FROM sessions WHERE id = ?", id);
    const shared = Number(row?.shared ?? 0);
    // Of the last common turn the fork may have more.
    ranges.unshift({ session: id, first: Math.max(first, shared), last: end });
    if (shared === 0) break;
    id = String(row?.parent);
    end = Math.min(end, shared);
  }
  return ranges;
}
