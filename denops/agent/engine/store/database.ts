/** One SQLite database per project, opened, brought up to date and shared with other engines of the same project. */
import { dirname, join } from "node:path";
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { messageOf } from "../core/errors.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Another engine's write is waited for so long; less once that was in vain, as nothing else is done meanwhile. */
const BUSY_MS = 5_000;
const STILL_BUSY_MS = 100;

/** Contents of some kilobytes leave less of a page empty; what is deleted can be given back to the disk. */
const NEW_FILE = "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL";

const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA journal_size_limit = 2000000;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
`;

export const DATABASE_FILE = "agent.db";

export interface Opened {
  readonly database: Database;
  /** One line for the user, if something was not as it should be. */
  readonly notice?: string;
}

export class Database implements Disposable {
  #connection: DatabaseSync;
  /** Undefined for one in memory. */
  readonly #path: string | undefined;
  /** The number of the file that is open. */
  #ino: number | null | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #depth = 0;
  #patience = BUSY_MS;

  private constructor(connection: DatabaseSync, path: string | undefined) {
    this.#connection = connection;
    this.#path = path;
    this.#ino = inoOf(path);
  }

  /** Undefined for one in memory. */
  get folder(): string | undefined {
    return this.#path === undefined ? undefined : dirname(this.#path);
  }

  /** A database that is gone with the process, for clients that give no folder. */
  static inMemory(): Database {
    return Database.#open(":memory:");
  }

  /**
   * Opens `<folder>/agent.db`. A file that is no database, or a broken one, is set aside and a new one begun.
   * @throws {Error} one line, if a newer version of the plugin has written it, or the folder cannot be used
   */
  static openIn(folder: string): Opened {
    const path = join(folder, DATABASE_FILE);
    try {
      return { database: Database.#open(path) };
    } catch (error) {
      if (!isCorrupt(error)) throw new Error(`Cannot open ${path}: ${messageOf(error)}`);
      const aside = `${path}.corrupt-${new Date().toISOString().replace(/[:.]/g, "-")}`;
      for (const suffix of ["", "-wal", "-shm"]) moveIfThere(path + suffix, aside + suffix);
      const notice = `The sessions in ${path} cannot be read (${messageOf(error)}). ` +
        `The file is kept as ${aside}; a new one was begun.`;
      return { database: Database.#open(path), notice };
    }
  }

  static #open(path: string): Database {
    const connection = Database.#connect(path);
    try {
      const database = new Database(connection, path === ":memory:" ? undefined : path);
      database.#migrate();
      return database;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  static #connect(path: string): DatabaseSync {
    const connection = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      if (connection.prepare("PRAGMA page_count").get()?.page_count === 0) connection.exec(NEW_FILE);
      connection.exec(SETTINGS);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #migrate(): void {
    const version = () => Number(this.get("PRAGMA user_version")?.user_version ?? 0);
    if (version() === MIGRATIONS.length) return;
    this.transaction(() => {
      const from = version();
      if (from > MIGRATIONS.length) {
        throw new Error(
          `a newer agent.nvim has written it (version ${from}, this one knows ${MIGRATIONS.length}). Update the plugin.`,
        );
      }
      for (const step of MIGRATIONS.slice(from)) this.#connection.exec(step);
      this.#connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    });
  }

  /**
   * A file that was deleted while it is open, or whose folder was, is made again with all that was in it.
   * @throws {Error} if that is not possible
   */
  async ensure(): Promise<"there" | "made again"> {
    const path = this.#path;
    if (path === undefined || (this.#ino !== undefined && inoOf(path) === this.#ino)) return "there";
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (inoOf(path) === undefined) await backup(this.#connection, path);
    const old = this.#connection;
    this.#connection = Database.#connect(path);
    this.#ino = inoOf(path);
    this.#statements.clear();
    old.close();
    this.#migrate();
    return "made again";
  }

  /** All or nothing; one inside another belongs to the outer one. */
  transaction<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.#begin();
    this.#depth += 1;
    try {
      const result = work();
      this.#connection.exec("COMMIT");
      return result;
    } catch (error) {
      // When the disk is full SQLite may have rolled back itself.
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
    const { changes, lastInsertRowid } = this.#statement(sql).run(...values);
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
  }

  get(sql: string, ...values: SQLInputValue[]): Readonly<Record<string, unknown>> | undefined {
    return this.#statement(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#statement(sql).all(...values);
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

/** Undefined if nothing is there. */
function inoOf(path: string | undefined): number | null | undefined {
  try {
    return path === undefined ? undefined : Deno.statSync(path).ino;
  } catch {
    return undefined;
  }
}

/** SQLite's own words for SQLITE_CORRUPT and SQLITE_NOTADB: node:sqlite in Deno gives no code. */
function isCorrupt(error: unknown): boolean {
  return /malformed|not a database/i.test(messageOf(error));
}

function moveIfThere(from: string, to: string): void {
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
