/** Models' edits, their files and the outcomes of their hunks, in SQLite. */
import { basename } from "node:path";
import type {
  EditLog,
  EditReport,
  EditTried,
  HunkOutcomes,
  LanguageReport,
  TurnEdits,
} from "../log/edits.ts";
import type { Database } from "./database.ts";
import { saving } from "./saving.ts";

/** Rows of the reports. */
const MOST_ROWS = 12;
const MOST_LANGUAGES = 30;

/** Characters. */
const LONGEST_EXTENSION = 40;

const SUMS = "count(DISTINCT edits.id) AS tried, " +
  "count(DISTINCT CASE written WHEN 0 THEN edits.id END) AS failed, coalesce(sum(kept), 0) AS kept, " +
  "coalesce(sum(changed), 0) AS changed, coalesce(sum(undone), 0) AS undone";

export class SqliteEdits implements EditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  tried(session: string, turn: number, edit: EditTried): void {
    const { call, provider, model, form, written, files } = edit;
    const columns = "session, turn, tool_call, provider, model, form, written, time";
    saving(() =>
      this.#database.transaction(() => {
        const { lastInsertRowid: id } = this.#database.run(
          `INSERT INTO edits (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[session, turn, call, provider, model, form, written ? 1 : 0, Date.now()],
        );
        for (const { path, added, removed } of files) {
          const sql = "INSERT OR IGNORE INTO edited_files (edit, path, added, removed) VALUES (?, ?, ?, ?)";
          this.#database.run(sql, id, path, added, removed);
        }
      })
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

  languages(): readonly LanguageReport[] {
    const rows = this.#database.all(
      `SELECT path, count(*) AS edits, sum(added) AS added, sum(removed) AS removed FROM edited_files GROUP BY path`,
    );
    const groups = Map.groupBy(rows, ({ path }) => extensionOf(String(path)));
    const reports = [...groups].map(([extension, files]): LanguageReport => {
      const sum = (column: "edits" | "added" | "removed") =>
        files.reduce((all, row) => all + Number(row[column]), 0);
      return {
        extension,
        files: files.length,
        edits: sum("edits"),
        added: sum("added"),
        removed: sum("removed"),
      };
    });
    const lines = ({ added, removed }: LanguageReport) => added + removed;
    return reports.sort((one, other) => lines(other) - lines(one)).slice(0, MOST_LANGUAGES);
  }

  turns(session: string): ReadonlyMap<number, TurnEdits> {
    const sql =
      `SELECT turn, ${SUMS} FROM edits LEFT JOIN hunks ON hunks.edit = edits.id WHERE session = ? GROUP BY turn`;
    return new Map(this.#database.all(sql, session).map((row) => [Number(row.turn), sumsOf(row)]));
  }
}

/** The name itself for "Makefile" and ".bashrc". */
function extensionOf(path: string): string {
  const name = basename(path).toLowerCase();
  const [, extension = name] = /^.+\.([^.]+)$/.exec(name) ?? [];
  return extension.slice(0, LONGEST_EXTENSION).toWellFormed();
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
