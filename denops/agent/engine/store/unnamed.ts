/**
 * Contents that nobody names any more. A deleted session leaves a list of what it has named; some time later what no
 * column called "blob" or "something_blob" of any table names is removed, in small steps.
 */
import { z } from "../../deps/zod.ts";
import type { Database } from "./database.ts";

/** A content is stored first and named then: who has found it stored names it within this time. */
const GRACE_MS = 60_000;

/** Contents in one transaction: other engines write in between. */
const STEP = 100;

/** To be called in the transaction that deletes the session. */
export function leaveContents(database: Database, session: string): void {
  const named = `
    SELECT blob FROM payload_blobs WHERE session = ?1
    UNION SELECT before_blob FROM checkpoint_files JOIN checkpoints ON id = checkpoint WHERE session = ?1
    UNION SELECT after_blob FROM checkpoint_files JOIN checkpoints ON id = checkpoint WHERE session = ?1`;
  database.run(
    `INSERT OR REPLACE INTO unnamed_contents (sha256, time) SELECT blob, ?2 FROM (${named}) WHERE blob IS NOT NULL`,
    session,
    Date.now(),
  );
}

/**
 * To be called before the rows go that name them.
 * @param select gives the names in a column `name`, and takes `value`
 */
export function leaveUnnamed(database: Database, select: string, value: string | number): void {
  database.run(
    `INSERT OR REPLACE INTO unnamed_contents (sha256, time) SELECT name, ?2 FROM (${select}) WHERE name IS NOT NULL`,
    value,
    Date.now(),
  );
}

/** @returns how many contents were removed */
export async function removeUnnamed(database: Database, grace = GRACE_MS): Promise<number> {
  if (database.get("SELECT 1 FROM unnamed_contents LIMIT 1") === undefined) return 0;
  const columns = blobColumns(database);
  let removed = 0;
  for (;;) {
    const step = database.transaction(() => removeSome(database, columns, Date.now() - grace));
    removed += step.removed;
    if (!step.more) return removed;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

function removeSome(database: Database, columns: readonly Column[], before: number) {
  const sql = `SELECT sha256 FROM unnamed_contents WHERE time <= ? LIMIT ${STEP}`;
  const candidates = database.all(sql, before).map(({ sha256 }) => String(sha256));
  const list = JSON.stringify(candidates);
  const among = "IN (SELECT value FROM json_each(?))";
  const named = new Set(
    columns.flatMap(({ table, column }) =>
      database.all(`SELECT DISTINCT ${column} AS blob FROM ${table} WHERE ${column} ${among}`, list)
        .map(({ blob }) => String(blob))
    ),
  );
  const unnamed = candidates.filter((sha256) => !named.has(sha256));
  const { changes } = database.run(`DELETE FROM blobs WHERE sha256 ${among}`, JSON.stringify(unnamed));
  database.run(`DELETE FROM unnamed_contents WHERE sha256 ${among}`, list);
  return { removed: changes, more: candidates.length === STEP };
}

const Column = z.object({ table: z.string(), column: z.string() });
type Column = z.infer<typeof Column>;

function blobColumns(database: Database): readonly Column[] {
  return database.all(
    `SELECT tables.name AS "table", columns.name AS "column" FROM sqlite_schema AS tables
     JOIN pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND (columns.name = 'blob' OR columns.name LIKE '%\\_blob' ESCAPE '\\')`,
  ).map((row) => Column.parse({ ...row }));
}
