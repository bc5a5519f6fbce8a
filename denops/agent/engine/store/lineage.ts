/** Forks share their common turns with the original session, where those are stored once. */
import type { Database } from "./database.ts";
import type { Range } from "./log/turn_log.ts";

/** Where the turns `first` to `last` of a session are stored, oldest first. */
export function rangesOf(database: Database, session: string, first: number, last: number): readonly Range[] {
  const ranges: Range[] = [];
  for (let id = session, end = last; end >= first;) {
    const row = database.get("SELECT parent, shared FROM sessions WHERE id = ?", id);
    const shared = Number(row?.shared ?? 0);
    // The fork may continue the last common turn.
    ranges.unshift({ session: id, first: Math.max(first, shared), last: end });
    if (shared === 0) break;
    id = String(row?.parent);
    end = Math.min(end, shared);
  }
  return ranges;
}
