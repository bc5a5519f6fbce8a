/** One SQLite database per project: opened, upgraded, and shared between engines of the project. */
import { basename, dirname, join } from "node:path";
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { messageOf } from "../../shared/errors.ts";
import { finishSalvage, isSalvaged, salvage, whileLocked } from "./upgrade/salvage.ts";
import type { Sql } from "./sql.ts";
import { createSchema, isCurrent, upgrade } from "./upgrade/upgrade.ts";

/** Time limit for another engine's write; shorter after a failure, because it blocks this engine. */
const BUSY_MS = 5_000;
const STILL_BUSY_MS = 100;
/** Time limit for another engine's upgrade. */
const UPGRADE_MS = 300_000;

/** Larger pages waste less space for contents of some kilobytes; deleted space returns to the disk. */
const NEW_FILE = "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL";

const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA journal_size_limit = 2000000;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
`;

export const DATABASE_FILE = "agent.db";

export class Database implements Sql, Disposable {
  #connection: DatabaseSync;
  /** Undefined in memory. */
  readonly #path: string | undefined;
  /** The inode of the open file. */
  #ino: number | null | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #depth = 0;
  #notice: string | undefined;
  #patience = BUSY_MS;

  private constructor(connection: DatabaseSync, path: string | undefined) {
    this.#connection = connection;
    this.#path = path;
    this.#ino = inoOf(path);
  }

  /** Undefined in memory. */
  get folder(): string | undefined {
    return this.#path === undefined ? undefined : dirname(this.#path);
  }

  /** A database in memory, for clients without a folder. */
  static inMemory(): Database {
    return Database.#create(":memory:");
  }

  /**
   * Opens `<folder>/agent.db`. A damaged file is set aside, and its readable rows are copied into a new one.
   * @throws {Error} one line, if a newer version of the plugin has written it, or the folder cannot be used
   */
  static async openIn(folder: string): Promise<Database> {
    const path = join(folder, DATABASE_FILE);
    try {
      if (isSalvaged(path)) whileLocked(path, () => finishSalvage(path));
      const ino = inoOf(path);
      try {
        return await Database.#open(path);
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        const notice = Database.#salvageOnce(path, ino);
        const database = await Database.#open(path);
        database.#notice = notice;
        return database;
      }
    } catch (error) {
      throw new Error(`Cannot open ${path}: ${messageOf(error)}`, { cause: error });
    }
  }

  static async #open(path: string): Promise<Database> {
    const database = new Database(Database.#connect(path), path);
    try {
      await database.#upgrade();
      return database;
    } catch (error) {
      database.#connection.close();
      throw error;
    }
  }

  static #create(path: string): Database {
    const database = new Database(Database.#connect(path), path === ":memory:" ? undefined : path);
    createSchema(database);
    return database;
  }

  /**
   * Call it only while no connection of this process has the file open.
   * @param ino of the damaged file: if another process has replaced it, nothing happens
   * @returns a line for the user
   */
  static #salvageOnce(path: string, ino: number | null | undefined): string | undefined {
    return whileLocked(path, () => {
      finishSalvage(path);
      if (inoOf(path) !== ino) return undefined;
      const { aside, sessions } = salvage(path, Database.#create);
      const saved = sessions === 1 ? "1 session was saved" : `${sessions} sessions were saved`;
      return `Cannot read all sessions in ${path}: the file is damaged. ` +
        `${saved}; the damaged file is kept as ${basename(aside)}.`;
    });
  }

  static #connect(path: string): DatabaseSync {
    const connection = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      if (connection.prepare("PRAGMA page_count").get()?.page_count === 0) connection.exec(NEW_FILE);
      whileBusy(() => connection.exec(SETTINGS));
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #upgrade(): Promise<void> {
    if (this.#path === undefined || isCurrent(this)) return;
    this.#waitAtMost(UPGRADE_MS);
    this.#depth += 1;
    try {
      await upgrade(this, this.#path);
    } finally {
      this.#depth -= 1;
    }
    this.#waitAtMost(BUSY_MS);
  }

  /** One line for the user about a repaired problem. */
  get notice(): string | undefined {
    return this.#notice;
  }

  takeNotice(): string | undefined {
    const notice = this.#notice;
    this.#notice = undefined;
    return notice;
  }

  /** Restores a database file that was deleted while open, with its content. @throws {Error} if that is impossible */
  async ensure(): Promise<"there" | "made again"> {
    const path = this.#path;
    if (path === undefined || (this.#ino !== undefined && inoOf(path) === this.#ino)) return "there";
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const isGone = inoOf(path) === undefined;
    if (isGone) await backup(this.#connection, path);
    this.#connectAgain(path);
    await this.#upgrade();
    return isGone ? "made again" : "there";
  }

  #connectAgain(path: string): void {
    const old = this.#connection;
    this.#connection = Database.#connect(path);
    this.#ino = inoOf(path);
    this.#statements.clear();
    this.#patience = BUSY_MS;
    old.close();
  }

  /**
   * Work that meets a damaged page runs again in the new database.
   * @param work may run twice
   */
  #guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (this.#path === undefined || this.#depth > 0 || !isCorrupt(error)) throw error;
      this.#salvage(this.#path);
      return work();
    }
  }

  #salvage(path: string): void {
    this.#connection.close();
    this.#statements.clear();
    try {
      this.#notice = Database.#salvageOnce(path, this.#ino) ?? this.#notice;
    } finally {
      this.#connection = Database.#connect(path);
      this.#ino = inoOf(path);
      this.#patience = BUSY_MS;
    }
  }

  /** Another engine may have replaced a damaged file. */
  #follow(): void {
    if (this.#path === undefined || this.#depth > 0) return;
    const ino = inoOf(this.#path);
    if (ino !== undefined && ino !== this.#ino) this.#connectAgain(this.#path);
  }

  /** All or nothing; one inside another belongs to the outer one. @param work may run twice: see #guarded */
  transaction<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.#follow();
    return this.#guarded(() => this.#transact(work));
  }

  #transact<Result>(work: () => Result): Result {
    this.#begin();
    this.#depth += 1;
    try {
      const result = work();
      this.#connection.exec("COMMIT");
      return result;
    } catch (error) {
      // When the disk is full, SQLite may already have rolled back.
      if (this.#connection.isTransaction) this.#connection.exec("ROLLBACK");
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  #begin(): void {
    try {
      this.#connection.exec("BEGIN IMMEDIATE");
    } catch (error) {
      this.#waitAtMost(STILL_BUSY_MS);
      throw error;
    }
    this.#waitAtMost(BUSY_MS);
  }

  #waitAtMost(milliseconds: number): void {
    if (this.#patience === milliseconds) return;
    this.#connection.exec(`PRAGMA busy_timeout = ${milliseconds}`);
    this.#patience = milliseconds;
  }

  run(sql: string, ...values: SQLInputValue[]): { changes: number; lastInsertRowid: number } {
    this.#follow();
    const { changes, lastInsertRowid } = this.#guarded(() => this.#statement(sql).run(...values));
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
  }

  get(sql: string, ...values: SQLInputValue[]): Readonly<Record<string, unknown>> | undefined {
    return this.#guarded(() => this.#statement(sql).get(...values));
  }

  all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#guarded(() => this.#statement(sql).all(...values));
  }

  /** Of statements that begin or end a transaction, make tables or set something. */
  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  get isTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

/** Undefined if the path is missing. */
function inoOf(path: string | undefined): number | null | undefined {
  try {
    return path === undefined ? undefined : Deno.statSync(path).ino;
  } catch {
    return undefined;
  }
}

/** Messages of SQLite and FTS5 about damage, because node:sqlite in Deno gives no codes. */
const DAMAGE =
  /disk image is malformed|malformed database schema|not a database|fts5: corrupt|invalid fts5 file|vtable constructor/i;

/** SQLite's own timeout does not cover two processes that change a file to a write-ahead log. */
function whileBusy(work: () => void): void {
  const end = Date.now() + BUSY_MS;
  while (true) {
    try {
      return work();
    } catch (error) {
      if (Date.now() > end || !messageOf(error).includes("database is locked")) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

function isCorrupt(error: unknown): boolean {
  return DAMAGE.test(messageOf(error));
}
