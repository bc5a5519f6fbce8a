/** Copies the rows of another database, of an earlier schema or damaged, into an empty one. */
import { Blobs, hashOf } from "../blobs.ts";
import { OldLogs } from "./old_logs.ts";
import type { RowSource, SourceRow } from "../rows.ts";
import { indexNewest } from "../search/search_index.ts";
import type { Sql } from "../sql.ts";

/** Tables of the search, which are filled from the logs. */
const INDEX = /^search(_|$)/;

/** Columns that earlier schemas lack. Contents count as new, so that the sweep leaves them alone for a while. */
const ADDED: Readonly<Record<string, () => SourceRow>> = {
  usage: () => ({ reported: 1 }),
  blobs: () => ({ time: Date.now() }),
  blob_parts: () => ({ time: Date.now() }),
};

/** Call it in a transaction, with foreign keys off. */
export function importRows(source: RowSource, database: Sql): void {
  const tables = database.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    .map(({ name }) => String(name)).filter((name) => !INDEX.test(name));
  const logs = new OldLogs(source, database);
  for (const table of tables.filter((name) => source.tables.has(name) && !logs.has(name))) {
    if (table === "sqlite_sequence") copySequence(source, database);
    else copyRows(source, database, table);
  }
  copyUndone(source, database);
  database.run("UPDATE usage SET purpose = 'agent' WHERE purpose = 'turn'");
  logs.convert();
  mend(database, tables);
  indexNewest(database);
}

function copyRows(source: RowSource, database: Sql, table: string): void {
  const columns = database.all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) =>
    String(name)
  );
  for (const old of source.rows(table)) {
    const row = { ...ADDED[table]?.(), ...old };
    const known = columns.filter((column) => row[column] !== undefined);
    const places = known.map(() => "?");
    const sql = `INSERT OR IGNORE INTO ${table} (${known.join(", ")}) VALUES (${places.join(", ")})`;
    database.run(sql, ...known.map((column) => row[column] ?? null));
  }
}

/** Ids of deleted rows are never reused. */
function copySequence(source: RowSource, database: Sql): void {
  for (const { name, seq } of source.rows("sqlite_sequence")) {
    if (typeof seq !== "number" || typeof name !== "string") continue;
    const sql = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?";
    if (database.run(sql, seq, name).changes > 0) continue;
    database.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, seq);
  }
}

/** Earlier schemas took a checkpoint back as a whole. */
function copyUndone(source: RowSource, database: Sql): void {
  if (source.tables.get("checkpoints")?.includes("undone_by") !== true) return;
  const sql = "UPDATE checkpoint_files SET undone_by = ? WHERE checkpoint = ?";
  for (const { id, undone_by: by } of source.rows("checkpoints")) {
    if (typeof by === "number" && typeof id === "number") database.run(sql, by, id);
  }
}

/** Repairs references to lost rows. The rows of an undamaged database stay as they are. */
function mend(database: Sql, tables: readonly string[]): void {
  const blobs = new Blobs(database);
  for (const { id, sha256 } of database.all("SELECT id, sha256 FROM blobs")) {
    if (!isWhole(blobs, String(sha256))) database.run("DELETE FROM blobs WHERE id = ?", Number(id));
  }
  database.run(
    `INSERT OR IGNORE INTO turns (session, turn, time, asked)
     SELECT session, turn, min(time), '' FROM log GROUP BY session, turn`,
  );
  database.run(
    `INSERT OR IGNORE INTO sessions (id, title, root, model, created, updated, turns)
     SELECT session, max(CASE turn WHEN first THEN asked ELSE '' END), ifnull((SELECT max(root) FROM sessions), ''), '',
       min(time), max(time), max(turn)
     FROM (SELECT *, min(turn) OVER (PARTITION BY session) AS first FROM turns) GROUP BY session`,
  );
  database.run(
    `UPDATE sessions SET turns = max(turns, ifnull((SELECT max(turn) FROM turns WHERE session = sessions.id), 0))`,
  );
  // Tables are in the order of their creation, parents first.
  for (const table of tables) {
    for (const key of database.all("SELECT * FROM pragma_foreign_key_list(?)", table)) {
      database.run(`DELETE FROM ${table} WHERE ${key.from} NOT IN (SELECT ${key.to} FROM ${key.table})`);
    }
  }
  // The next command scans these files again.
  database.run("DELETE FROM scanned_files WHERE blob NOT IN (SELECT sha256 FROM blobs)");
}

function isWhole(blobs: Blobs, sha256: string): boolean {
  try {
    return hashOf(blobs.get(sha256)) === sha256;
  } catch {
    return false;
  }
}
