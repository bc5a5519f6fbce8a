/** Models' edits and the outcomes of their hunks, in SQLite. */
import type { EditLog, EditReport, EditTried, HunkOutcomes, TurnEdits } from "../log/edits.ts";
import type { Database } from "./database.ts";
import { saving } from "./saving.ts";

/** Rows of the report. */
const MOST_ROWS = 12;

const SUMS = "count(DISTINCT edits.id) AS tried, " +
  "count(DISTINCT CASE written WHEN 0 THEN edits.id END) AS failed, coalesce(sum(kept), 0) AS kept, " +
  "coalesce(sum(changed), 0) AS changed, coalesce(sum(undone), 0) AS undone";

export class SqliteEdits implements EditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  tried(session: string, turn: number, { call, provider, model, form, written }: EditTried): void {
    const columns = "session, turn, tool_call, provider, model, form, written, time";
    saving(() =>
      this.#database.run(
        `INSERT INTO edits (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[session, turn, call, provider, model, form, written ? 1 : 0, Date.now()],
      )
    );
  }

  isOpen(session: string, call: string, path: string): boolean {
    const sql = "SELECT NOT EXISTS (SELECT 1 FROM hunks WHERE edit = edits.id AND path = ?) AS open " +
      "FROM edits WHERE session = ? AND tool_call = ? AND written = 1";
    return this.#database.get(sql, path, session, call)?.open === 1;
  }

  settled(session: string, call: string, path: string, { kept, changed, undone }: HunkOutcomes): void {
    this.#database.run(
      "INSERT OR IGNORE INTO hunks (edit, path, kept, changed, undone) " +
        "SELECT id, ?, ?, ?, ? FROM edits WHERE session = ? AND tool_call = ? AND written = 1",
      ...[path, kept, changed, undone, session, call],
    );
  }

  report(): readonly EditReport[] {
    const rows = this.#database.all(
      `SELECT edits.provider || '/' || edits.model AS model, form, ${SUMS}, max(edits.id) AS newest
       FROM edits LEFT JOIN hunks ON hunks.edit = edits.id
       GROUP BY 1, 2 ORDER BY newest DESC LIMIT ${MOST_ROWS}`,
    );
    return rows.map((row) => ({
      model: String(row.model),
      form: String(row.form),
      ...sumsOf(row),
    }));
  }

  turns(session: string): ReadonlyMap<number, TurnEdits> {
    const sql =
      `SELECT turn, ${SUMS} FROM edits LEFT JOIN hunks ON hunks.edit = edits.id WHERE session = ? GROUP BY turn`;
    return new Map(this.#database.all(sql, session).map((row) => [Number(row.turn), sumsOf(row)]));
  }
}

function sumsOf({ tried, failed, kept, changed, undone }: Readonly<Record<string, unknown>>): TurnEdits {
  return {
    tried: Number(tried),
    failed: Number(failed),
    kept: Number(kept),
    changed: Number(changed),
    undone: Number(undone),
  };
}
