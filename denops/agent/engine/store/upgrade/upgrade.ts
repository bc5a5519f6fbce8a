/**
 * Brings a database to the newest schema. A schema that the steps of migrations.ts have made gets the missing steps. Any
 * other schema dates from before the steps were fixed: its tables are made again, and its rows imported.
 */
import { backup, DatabaseSync } from "node:sqlite";
import { messageOf } from "../../../shared/errors.ts";
import { importRows } from "./import_rows.ts";
import { MIGRATIONS } from "./migrations.ts";
import { SqlRows } from "../rows.ts";
import { schemaOf, SCHEMAS } from "./schema.ts";
import type { Sql } from "../sql.ts";

/** Suffix of the copy from before the last upgrade. */
const BACKUP_SUFFIX = ".backup";

/** SQLite's message. */
const DAMAGED = "database disk image is malformed";

/** A version of SCHEMAS; 0 is empty. */
type Found = number | "other";

/** @throws {Error} if a newer version of the plugin has written it */
export function isCurrent(database: Sql): boolean {
  return foundIn(database) === MIGRATIONS.length;
}

/** @throws {Error} if a newer version of the plugin has written it */
function foundIn(database: Sql): Found {
  const version = Number(database.get("PRAGMA user_version")?.user_version ?? 0);
  if (version > MIGRATIONS.length) {
    throw new Error(
      `a newer agent.nvim has written it (version ${version}, this one knows ${MIGRATIONS.length}). Update the plugin.`,
    );
  }
  const schema = schemaOf(database);
  if (schema === "") return 0;
  const known = SCHEMAS.indexOf(schema) + 1;
  return known === 0 ? "other" : known;
}

/** Makes the tables of an empty database. */
export function createSchema(database: Sql): void {
  for (const step of MIGRATIONS) database.exec(step);
  setVersion(database);
}

/** One transaction holds the write lock from the first look on: a second engine waits, and a kill changes nothing. */
export async function upgrade(database: Sql, path: string): Promise<void> {
  database.exec("PRAGMA foreign_keys = OFF");
  database.exec("BEGIN IMMEDIATE");
  try {
    const found = foundIn(database);
    if (found === 0) createSchema(database);
    else if (found !== MIGRATIONS.length) {
      await keepCopy(path);
      if (found === "other") makeAnew(database, path + BACKUP_SUFFIX);
      else for (const step of MIGRATIONS.slice(found)) database.exec(step);
      setVersion(database);
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  } finally {
    database.exec("PRAGMA foreign_keys = ON");
  }
}

function setVersion(database: Sql): void {
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
}

/**
 * Replaces the last copy once the new one is verified. VACUUM INTO would need ATTACH, which Deno denies the engine.
 * @throws {Error} with DAMAGED if the database is damaged
 */
async function keepCopy(path: string): Promise<void> {
  const part = `${path}${BACKUP_SUFFIX}.part`;
  removeDatabase(part);
  try {
    using source = new DatabaseSync(path, { readOnly: true });
    await backup(source, part);
    makeOneFile(part);
    Deno.renameSync(part, path + BACKUP_SUFFIX);
  } catch (error) {
    removeDatabase(part);
    if (!isWhole(path)) throw new Error(DAMAGED);
    const why = messageOf(error);
    throw new Error(`it needs an upgrade, and no copy can be kept (${why}). Free some space on the disk.`);
  }
}

/** Merges its log into it. @throws {Error} if it is damaged */
function makeOneFile(path: string): void {
  {
    using copy = new DatabaseSync(path);
    copy.exec("PRAGMA journal_mode = DELETE");
    if (!passes(copy)) throw new Error(DAMAGED);
  }
  using file = Deno.openSync(path, { write: true });
  file.syncSync();
}

function isWhole(path: string): boolean {
  using database = new DatabaseSync(path, { readOnly: true });
  return passes(database);
}

function passes(database: DatabaseSync): boolean {
  return database.prepare("PRAGMA quick_check(1)").get()?.quick_check === "ok";
}

function makeAnew(database: Sql, copy: string): void {
  using old = new DatabaseSync(copy, { readOnly: true });
  // Its own tables go with the search.
  const tables = database.all(
    `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC`,
  );
  for (const { name } of tables) database.exec(`DROP TABLE "${name}"`);
  createSchema(database);
  importRows(new SqlRows(old), database);
}

/** Including the files beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) removeIfThere(path + suffix);
}

export function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
