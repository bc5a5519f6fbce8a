/**
 * The index of a project's files, in a database of its own that may be deleted at any time. It has no text: FTS5
 * stores which words occur in which chunk, and results are read from the files.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { messageOf } from "../../shared/errors.ts";
import type { Chunk } from "./chunks.ts";
import { keyOf } from "./links.ts";
import { splitNames } from "./words.ts";

/** An index of another version is built anew. */
const VERSION = 3;

/** Distinguishes our file from other databases: "AgIx". */
const APPLICATION = 0x41674978;

/** Waiting blocks the engine. */
const BUSY_MS = 50;

/**
 * No fsync, because a damaged index is built anew. Freed pages are overwritten, so that no word of a file stays that
 * may not be read any more. FTS5 writes small pieces, because larger ones would block the engine. A question reads
 * thousands of small entries all over the file, which takes half the time if the file is mapped.
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA journal_size_limit = 1000000;
  PRAGMA synchronous = OFF;
  PRAGMA secure_delete = ON;
  PRAGMA mmap_size = 1000000000;
`;

const FTS = "content='', contentless_delete=1, tokenize='porter unicode61'";
const SCHEMA = `
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    stamp TEXT NOT NULL
  );
  CREATE INDEX files_of_key ON files (key);
  CREATE TABLE links (file INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (file, key)) WITHOUT ROWID;
  CREATE INDEX links_of_key ON links (key);
  CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
  );
  CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL);
  CREATE INDEX chunks_of_file ON chunks (file);
  CREATE TABLE state (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE VIRTUAL TABLE chunk_words USING fts5(path, names, comments, text, ${FTS});
  CREATE VIRTUAL TABLE file_words USING fts5(path, names, comments, ${FTS});
  INSERT INTO chunk_words (chunk_words, rank) VALUES ('hashsize', 150000);
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${VERSION};
`;

/** Characters of a file's row. */
const MOST_NAMES = 20_000;
const MOST_COMMENTS = 3_000;

export interface IndexedFile {
  readonly id: number;
  readonly path: string;
  readonly stamp: string;
}

export interface ChunkPlace {
  readonly chunk: number;
  readonly path: string;
  readonly stamp: string;
  readonly first: number;
  readonly last: number;
}

/** A chunk that was found, or the first chunk of a file that was found. */
export interface ScoredChunk extends ChunkPlace {
  readonly score: number;
}

/** The first chunk of a file that another one imports. */
export interface LinkedFile extends ChunkPlace {
  /** Files that import it, counted up to a limit. */
  readonly importers: number;
}

export class IndexFile implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string) {
    this.#connection = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      this.#connection.exec(SETTINGS);
      if (!this.#isCurrent()) this.transaction(() => this.#create());
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  static inMemory(): IndexFile {
    return new IndexFile(":memory:");
  }

  /** Opens the index, or a new one in the place of a damaged or foreign one. @throws {Error} one line */
  static open(path: string): IndexFile {
    try {
      // SQLite would follow a link.
      if (Deno.lstatSync(path).isSymlink) Deno.removeSync(path);
    } catch {
      // It does not exist.
    }
    try {
      return new IndexFile(path);
    } catch (error) {
      if (!isUseless(error)) throw new Error(`Cannot open ${path}: ${messageOf(error)}`, { cause: error });
    }
    removeIndex(path);
    return new IndexFile(path);
  }

  #isCurrent(): boolean {
    return this.#pragma("application_id") === APPLICATION && this.#pragma("user_version") === VERSION;
  }

  /** @throws {ForeignIndexError} if the database has something else */
  #create(): void {
    // Another engine may have been faster.
    if (this.#isCurrent()) return;
    if (this.#get("SELECT 1 FROM sqlite_schema") !== undefined) throw new ForeignIndexError();
    this.#connection.exec(SCHEMA);
  }

  #pragma(name: string): number {
    return Number(this.#connection.prepare(`PRAGMA ${name}`).get()?.[name]);
  }

  /** All or nothing; one inside another belongs to the outer one. */
  transaction<Result>(work: () => Result): Result {
    if (this.#connection.isTransaction) return work();
    this.begin();
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  begin(): void {
    this.#connection.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    if (this.#connection.isTransaction) this.#connection.exec("COMMIT");
  }

  rollBack(): void {
    if (this.#connection.isTransaction) this.#connection.exec("ROLLBACK");
  }

  /** Files after this path, in its order. */
  files(after: string, most: number): readonly IndexedFile[] {
    return this.#all("SELECT id, path, stamp FROM files WHERE path > ? ORDER BY path LIMIT ?", after, most)
      .map(({ id, path, stamp }) => ({ id: Number(id), path: String(path), stamp: String(stamp) }));
  }

  counts(): { readonly files: number; readonly chunks: number } {
    const row = this.#get(
      "SELECT (SELECT count(*) FROM files) AS files, (SELECT count(*) FROM chunks) AS chunks",
    );
    return { files: Number(row?.files), chunks: Number(row?.chunks) };
  }

  /** Adds a file, or replaces it. */
  put(path: string, stamp: string, chunks: readonly Chunk[], links: readonly string[] = []): void {
    const known = this.#get("SELECT id FROM files WHERE path = ?", path);
    if (known !== undefined) this.remove(Number(known.id));
    const file = this.#run("INSERT INTO files (path, key, stamp) VALUES (?, ?, ?)", path, keyOf(path), stamp);
    for (const key of links) this.#run("INSERT OR IGNORE INTO links (file, key) VALUES (?, ?)", file, key);
    const words = splitNames(path);
    for (const { first, last, names, comments, text } of chunks) {
      const id = this.#run("INSERT INTO chunks (file, first, last) VALUES (?, ?, ?)", file, first, last);
      this.#run(
        "INSERT INTO chunk_words (rowid, path, names, comments, text) VALUES (?, ?, ?, ?, ?)",
        ...[id, words, names, comments, text],
      );
    }
    if (chunks.length === 0) return;
    const names = chunks.map((chunk) => chunk.names).join(" ").slice(0, MOST_NAMES);
    const comments = (chunks[0]?.comments ?? "").slice(0, MOST_COMMENTS);
    this.#run(
      "INSERT INTO file_words (rowid, path, names, comments) VALUES (?, ?, ?, ?)",
      file,
      words,
      names,
      comments,
    );
  }

  remove(file: number): void {
    this.#run("DELETE FROM vectors WHERE chunk IN (SELECT id FROM chunks WHERE file = ?)", file);
    this.#run("DELETE FROM chunk_words WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)", file);
    this.#run("DELETE FROM file_words WHERE rowid = ?", file);
    this.#run("DELETE FROM links WHERE file = ?", file);
    this.#run("DELETE FROM chunks WHERE file = ?", file);
    this.#run("DELETE FROM files WHERE id = ?", file);
  }

  /**
   * One step of removing the words of deleted rows from the file: FTS5 only marks rows as deleted.
   * @returns whether another step is needed
   */
  purge(isFirst: boolean): boolean {
    const changes = () => Number(this.#get("SELECT total_changes() AS count")?.count);
    let isMore = false;
    for (const table of ["chunk_words", "file_words"]) {
      const before = changes();
      this.#run(
        `INSERT INTO ${table} (${table}, rank) VALUES ('merge', ?)`,
        isFirst ? -PURGED_PAGES : PURGED_PAGES,
      );
      isMore ||= changes() - before >= 2;
    }
    return isMore;
  }

  /** Empties the write-ahead log, which has older contents. */
  checkpoint(): void {
    this.#get("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Chunks with any of the words, best first. @param match for FTS5 @param weights of the columns */
  chunks(match: string, weights: readonly number[], most: number): readonly ScoredChunk[] {
    return this.#scored("chunk_words", match, weights, most, "chunks ON chunks.id = found.id");
  }

  /** Files with any of the words in their path, their names or their first comment. */
  fileRows(match: string, weights: readonly number[], most: number): readonly ScoredChunk[] {
    const first = "chunks ON chunks.id = (SELECT min(id) FROM chunks WHERE file = found.id)";
    return this.#scored("file_words", match, weights, most, first);
  }

  #scored(
    table: string,
    match: string,
    weights: readonly number[],
    most: number,
    join: string,
  ): readonly ScoredChunk[] {
    if (match === "") return [];
    return this.#all(
      `SELECT path, stamp, score, chunks.id AS chunk, first, last
       FROM (
         SELECT rowid AS id, -rank AS score FROM ${table} WHERE ${table} MATCH ? AND rank MATCH ?
         ORDER BY rank LIMIT ?
       ) AS found JOIN ${join} JOIN files ON files.id = chunks.file ORDER BY score DESC`,
      match,
      `bm25(${weights.map((weight) => weight.toFixed(1)).join(", ")})`,
      most,
    ).map((row) => ({ ...placeOf(row), score: Number(row.score) }));
  }

  /** The first chunks of the files that a file imports. @param most importers that are counted */
  linked(path: string, most: number): readonly LinkedFile[] {
    return this.#all(
      `SELECT other.path, other.stamp, chunks.id AS chunk, first, last,
         (SELECT count(*) FROM (SELECT 1 FROM links AS from_any WHERE from_any.key = links.key LIMIT ?)) AS count
       FROM files JOIN links ON links.file = files.id
         JOIN files AS other ON other.key = links.key
         JOIN chunks ON chunks.id = (SELECT min(id) FROM chunks WHERE file = other.id)
       WHERE files.path = ?`,
      most,
      path,
    ).map((row) => ({ ...placeOf(row), importers: Number(row.count) }));
  }

  /** Chunks that match, counted up to a limit. */
  frequency(match: string, most: number): number {
    const sql = "SELECT count(*) AS count FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH ? LIMIT ?)";
    return Number(this.#get(sql, match, most)?.count);
  }

  /** @param after the id of a chunk */
  chunksWithoutVector(after: number, most: number): readonly ChunkPlace[] {
    return this.#all(
      `${PLACES} WHERE chunks.id > ? AND chunks.id NOT IN (SELECT chunk FROM vectors) ORDER BY chunks.id LIMIT ?`,
      after,
      most,
    ).map(placeOf);
  }

  place(chunk: number): ChunkPlace | undefined {
    const row = this.#get(`${PLACES} WHERE chunks.id = ?`, chunk);
    return row && placeOf(row);
  }

  putVector(chunk: number, vector: Int8Array): void {
    this.#run("INSERT OR REPLACE INTO vectors (chunk, vector) VALUES (?, ?)", chunk, new Uint8Array(vector));
  }

  clearVectors(): void {
    this.#run("DELETE FROM vectors");
  }

  vectorCount(): number {
    return Number(this.#get("SELECT count(*) AS count FROM vectors")?.count);
  }

  vector(chunk: number): Int8Array | undefined {
    return bytesOf(this.#get("SELECT vector FROM vectors WHERE chunk = ?", chunk)?.vector);
  }

  /** Vectors after this chunk, in the order of chunks. */
  vectors(after: number, most: number): readonly { readonly chunk: number; readonly vector: Int8Array }[] {
    return this.#all("SELECT chunk, vector FROM vectors WHERE chunk > ? ORDER BY chunk LIMIT ?", after, most)
      .map(({ chunk, vector }) => ({ chunk: Number(chunk), vector: bytesOf(vector) ?? new Int8Array() }));
  }

  get(key: string): string | undefined {
    const value = this.#get("SELECT value FROM state WHERE key = ?", key)?.value;
    return value === undefined ? undefined : String(value);
  }

  set(key: string, value: string | number): void {
    this.#run("INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)", key, value);
  }

  unset(key: string): void {
    this.#run("DELETE FROM state WHERE key = ?", key);
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  #get(sql: string, ...values: SQLInputValue[]): Readonly<Record<string, unknown>> | undefined {
    return this.#statement(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[] {
    return this.#statement(sql).all(...values);
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

const PLACES =
  "SELECT chunks.id AS chunk, path, stamp, first, last FROM chunks JOIN files ON files.id = chunks.file";

function placeOf(row: Readonly<Record<string, unknown>>): ChunkPlace {
  return {
    chunk: Number(row.chunk),
    path: String(row.path),
    stamp: String(row.stamp),
    first: Number(row.first),
    last: Number(row.last),
  };
}

function bytesOf(value: unknown): Int8Array | undefined {
  return value instanceof Uint8Array
    ? new Int8Array(value.buffer, value.byteOffset, value.length)
    : undefined;
}

/** Pages that a step of a purge rewrites. */
const PURGED_PAGES = 100;

class ForeignIndexError extends Error {}

/** Messages of SQLite and FTS5, because node:sqlite in Deno gives no codes. */
const USELESS =
  /malformed|not a database|fts5: corrupt|invalid fts5|vtable constructor|no such table|no such column|unable to open|readonly|disk I\/O error/i;

/** Whether the index must be built anew: it is damaged, of another version, or not ours. */
export function isUseless(error: unknown): boolean {
  return error instanceof ForeignIndexError || USELESS.test(messageOf(error));
}

/** @throws {Error} if a file remains */
export function removeIndex(path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) {
    try {
      // A folder with files is not ours.
      Deno.removeSync(path + ending);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw new Error(`Cannot remove ${path + ending}: ${messageOf(error)}`, { cause: error });
    }
  }
}
