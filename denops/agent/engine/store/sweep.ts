/**
 * Removes unreferenced contents: those that no column called "blob" or "something_blob" names, for example of deleted
 * sessions or interrupted writes. Works in small steps, so that other engines can write in between.
 */
import * as z from "../../deps/zod.ts";
import { GRACE_MS } from "./blobs.ts";
import type { Database } from "./database.ts";
import { indexOthers } from "./search/search_index.ts";

/** Contents in one step; pages of the file. */
const CONTENTS = 200;
const PAGES = 200;

/** First after this idle time, then again when new contents have aged. */
const IDLE_MS = 20_000;

/** Sweeps while the engine is idle. */
export class IdleSweep {
  readonly #database: Database;
  readonly #isBusy: () => boolean;
  /** The database's state after the last sweep. */
  #left = "";
  #again = true;

  constructor(database: Database, isBusy: () => boolean) {
    this.#database = database;
    this.#isBusy = isBusy;
  }

  start(wait = IDLE_MS): void {
    Deno.unrefTimer(setTimeout(() => this.#run(), wait));
  }

  async #run(): Promise<void> {
    if (this.#isBusy()) return this.start();
    // On a locked or full disk, the next sweep continues.
    await this.#sweep().catch(() => {});
    this.start(GRACE_MS);
  }

  async #sweep(): Promise<void> {
    const isNew = this.#state() !== this.#left;
    // Once more when new contents have aged.
    if (!isNew && !this.#again) return;
    this.#again = isNew;
    await indexOthers(this.#database, pause);
    await sweep(this.#database);
    this.#left = this.#state();
  }

  /** Changes with every write by any process. */
  #state(): string {
    const { changes } = this.#database.get("SELECT total_changes() AS changes") ?? {};
    const { data_version: version } = this.#database.get("PRAGMA data_version") ?? {};
    return `${changes} ${version}`;
  }
}

/** @returns how many contents were removed */
export async function sweep(database: Database, grace = GRACE_MS): Promise<number> {
  const before = Date.now() - grace;
  // The scan only serves existing sessions.
  database.run("DELETE FROM scanned_files WHERE NOT EXISTS (SELECT 1 FROM sessions)");
  const unnamed = blobColumns(database).map(({ table, column }) =>
    `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${column} = sha256)`
  );
  const remove = `DELETE FROM blobs WHERE id > ?1 AND id <= ?2 AND time <= ?3 AND ${unnamed.join(" AND ")}`;
  let removed = 0;
  for (let at = 0;;) {
    const step =
      `SELECT max(id) AS last FROM (SELECT id FROM blobs WHERE id > ? ORDER BY id LIMIT ${CONTENTS})`;
    const last = Number(database.get(step, at)?.last ?? 0);
    if (last === 0) break;
    removed += database.run(remove, at, last, before).changes;
    at = last;
    await pause();
  }
  // Parts are written before their content.
  database.run(
    "DELETE FROM blob_parts WHERE time <= ? AND NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.sha256 = blob_parts.sha256)",
    before,
  );
  await shrink(database);
  return removed;
}

/** Returns unused space to the disk. */
async function shrink(database: Database): Promise<void> {
  database.transaction(() => {
    const isEmpty = database.get("SELECT 1 FROM search_texts LIMIT 1") === undefined;
    if (isEmpty) database.run("INSERT INTO search (search) VALUES ('delete-all')");
  });
  const free = () => Number(database.get("PRAGMA freelist_count")?.freelist_count ?? 0);
  for (let left = free(); left > 0;) {
    database.all(`PRAGMA incremental_vacuum(${PAGES})`);
    await pause();
    const now = free();
    if (now >= left) break;
    left = now;
  }
  database.all("PRAGMA wal_checkpoint(PASSIVE)");
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

const Column = z.object({ table: z.string(), column: z.string() });

function blobColumns(database: Database): readonly z.infer<typeof Column>[] {
  return database.all(
    `SELECT tables.name AS "table", columns.name AS "column" FROM sqlite_schema AS tables
     JOIN pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND (columns.name = 'blob' OR columns.name LIKE '%\\_blob' ESCAPE '\\')`,
  ).map((row) => Column.parse({ ...row }));
}
