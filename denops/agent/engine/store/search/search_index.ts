/** Adds imported turns to the search. */
import { Blobs } from "../blobs.ts";
import { addText, searchable, SEARCHED } from "./search.ts";
import type { Sql } from "../sql.ts";
import { TurnLog } from "../log/turn_log.ts";

/** Turns of an import that are indexed at once: a start waits for it. */
const AT_ONCE = 200;
/** Turns in one step. */
const STEP = 10;

/** Call it in a transaction. */
export function indexNewest(database: Sql): void {
  indexSome(database, Number.MAX_SAFE_INTEGER, AT_ONCE);
}

/** Works in small steps. @param pause between two steps */
export async function indexOthers(database: Sql, pause: () => Promise<void>): Promise<void> {
  for (let before = Number.MAX_SAFE_INTEGER; before > 0;) {
    before = database.transaction(() => indexSome(database, before, STEP));
    await pause();
  }
}

/** Newest first. @param before an id @returns the id of the last one; 0 at the end */
function indexSome(database: Sql, before: number, most: number): number {
  const turns = database.all(
    `SELECT id, session, turn FROM turns WHERE id < ?
     AND NOT EXISTS (SELECT 1 FROM search_texts WHERE search_texts.turn = turns.id) ORDER BY id DESC LIMIT ?`,
    before,
    most,
  );
  const log = new TurnLog(database, new Blobs(database));
  for (const { session, turn } of turns) {
    const range = { session: String(session), first: Number(turn), last: Number(turn) };
    for (const { turn, seq, entry } of log.read(range, { kind: (kind) => SEARCHED.has(kind) })) {
      const content = searchable(entry);
      if (content !== undefined) addText(database, { session: range.session, turn, seq, ...content });
    }
  }
  return turns.length < most ? 0 : Number(turns.at(-1)?.id);
}
