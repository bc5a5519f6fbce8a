/** Sets a damaged database aside and copies its readable rows into a new one. */
import { DatabaseSync } from "node:sqlite";
import { DamagedRows } from "./damaged_rows.ts";
import { importRows } from "./import_rows.ts";
import { PageFile } from "../page_file.ts";
import { removeDatabase, removeIfThere } from "./upgrade.ts";
import type { Sql } from "../sql.ts";

/** Suffix of the new database, once it is complete. */
const READY_SUFFIX = ".salvaged";

interface Salvaged {
  /** Path of the damaged file. */
  readonly aside: string;
  /** Number of sessions in the new file. */
  readonly sessions: number;
}

/** Locks out other processes. */
export function whileLocked<Result>(path: string, work: () => Result): Result {
  using file = Deno.openSync(`${path}.lock`, { create: true, write: true, mode: 0o600 });
  file.lockSync(true);
  return work();
}

/**
 * Call it only while no connection of this process has the file open. After a kill the next start repeats or finishes it.
 * @param create makes an empty database at this path
 */
export function salvage(path: string, create: (path: string) => Sql & Disposable): Salvaged {
  const part = `${path}${READY_SUFFIX}.part`;
  removeDatabase(part);
  const sessions = copyRows(path, part, create);
  Deno.renameSync(part, path + READY_SUFFIX);
  const aside = `${path}.corrupt-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal"]) keepAs(path + suffix, aside + suffix);
  finishSalvage(path);
  return { aside, sessions };
}

export function isSalvaged(path: string): boolean {
  return isThere(path + READY_SUFFIX);
}

/** Moves a complete new database into place. The log of the damaged file must not stay beside it. */
export function finishSalvage(path: string): void {
  if (!isSalvaged(path)) return;
  for (const suffix of ["-wal", "-shm"]) removeIfThere(path + suffix);
  Deno.renameSync(path + READY_SUFFIX, path);
}

function copyRows(path: string, part: string, create: (path: string) => Sql & Disposable): number {
  using file = new PageFile(path);
  using database = create(part);
  database.exec("PRAGMA foreign_keys = OFF");
  using usual = new DatabaseSync(part, { readOnly: true });
  const rows = new DamagedRows(file, usual);
  database.transaction(() => importRows(rows, database));
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return Number(
    database.get("SELECT count(*) AS count FROM sessions WHERE turns > 0 AND deleted = 0")?.count ?? 0,
  );
}

/** Copies where the file system has no hard links. */
function keepAs(path: string, aside: string): void {
  if (!isThere(path)) return;
  try {
    Deno.linkSync(path, aside);
  } catch {
    Deno.copyFileSync(path, aside);
  }
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
