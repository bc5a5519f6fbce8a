/** Contents by their SHA-256, compressed; the same content is stored once. */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Contents } from "../log/checkpoints.ts";
import type { Sql } from "./sql.ts";

/** Contents are written while a model waits, so large ones use the fastest level. */
const LARGE = 200_000;
const levelOf = (bytes: Uint8Array) => bytes.length < LARGE ? 5 : 1;

/** A content is stored before it is referenced, within this time. Unreferenced older contents are removed. */
export const GRACE_MS = 10 * 60_000;

const DEFLATED = { no: 0, yes: 1, inParts: 2 } as const;

export class Blobs implements Contents {
  readonly #database: Sql;

  constructor(database: Sql) {
    this.#database = database;
  }

  /** True if it exists and stays long enough to be referenced. */
  has(sha256: string): boolean {
    const row = this.#database.get("SELECT time FROM blobs WHERE sha256 = ?", sha256);
    if (row === undefined) return false;
    if (Date.now() - Number(row.time) < GRACE_MS / 2) return true;
    return this.#database.run("UPDATE blobs SET time = ? WHERE sha256 = ?", Date.now(), sha256).changes > 0;
  }

  /** @returns the content's SHA-256, in hexadecimal */
  put(bytes: Uint8Array): string {
    const sha256 = hashOf(bytes);
    if (this.has(sha256)) return sha256;
    const deflated = deflateRawSync(bytes, { level: levelOf(bytes) });
    const smaller = deflated.length < bytes.length;
    this.#insert(sha256, bytes.length, smaller ? DEFLATED.yes : DEFLATED.no, smaller ? deflated : bytes);
    return sha256;
  }

  putAll(contents: readonly Uint8Array[]): void {
    this.#database.transaction(() => contents.forEach((bytes) => this.put(bytes)));
  }

  /** Reads twice, so that existing contents are not written again. */
  async putParts(open: () => AsyncIterable<Uint8Array>): Promise<string> {
    const hash = createHash("sha256");
    for await (const bytes of open()) hash.update(bytes);
    const sha256 = hash.digest("hex");
    if (this.has(sha256)) return sha256;
    const again = createHash("sha256");
    let size = 0;
    let part = 0;
    for await (const bytes of open()) {
      again.update(bytes);
      size += bytes.length;
      this.#database.run(
        "INSERT OR REPLACE INTO blob_parts (sha256, part, time, bytes) VALUES (?, ?, ?, ?)",
        sha256,
        part++,
        Date.now(),
        deflateRawSync(bytes, { level: levelOf(bytes) }),
      );
    }
    if (again.digest("hex") !== sha256) {
      this.#database.run("DELETE FROM blob_parts WHERE sha256 = ?", sha256);
      throw new Error("it changes while it is read");
    }
    this.#insert(sha256, size, DEFLATED.inParts, new Uint8Array());
    return sha256;
  }

  #insert(sha256: string, size: number, deflated: number, bytes: Uint8Array): void {
    this.#database.run(
      "INSERT OR IGNORE INTO blobs (sha256, time, size, deflated, bytes) VALUES (?, ?, ?, ?, ?)",
      ...[sha256, Date.now(), size, deflated, bytes],
    );
  }

  /** In bytes. @throws {Error} if it is missing */
  size(sha256: string): number {
    const row = this.#database.get("SELECT size FROM blobs WHERE sha256 = ?", sha256);
    if (row === undefined) throw new Error(`no blob ${sha256}`);
    return Number(row.size);
  }

  /** @throws {Error} if it is missing */
  get(sha256: string): Uint8Array<ArrayBuffer> {
    const parts = [...this.parts(sha256)];
    const [first] = parts;
    if (parts.length === 1 && first !== undefined) return new Uint8Array(first);
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  /** The content piece by piece. @throws {Error} if it is not there */
  *parts(sha256: string): Generator<Uint8Array> {
    const row = this.#database.get("SELECT deflated, bytes FROM blobs WHERE sha256 = ?", sha256);
    if (!(row?.bytes instanceof Uint8Array)) throw new Error(`no blob ${sha256}`);
    if (row.deflated !== DEFLATED.inParts) {
      yield row.deflated === DEFLATED.yes ? inflateRawSync(row.bytes) : row.bytes;
      return;
    }
    for (let part = 0;; part++) {
      const sql = "SELECT bytes FROM blob_parts WHERE sha256 = ? AND part = ?";
      const found = this.#database.get(sql, sha256, part);
      if (!(found?.bytes instanceof Uint8Array)) return;
      yield inflateRawSync(found.bytes);
    }
  }

  putText(text: string): string {
    return this.put(new TextEncoder().encode(text));
  }

  /** The hash of a stored text; undefined if it is not stored. */
  findText(text: string): string | undefined {
    const sha256 = hashOf(text);
    return this.has(sha256) ? sha256 : undefined;
  }

  getText(sha256: string): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.get(sha256));
  }
}

/** In hexadecimal; of a text in UTF-8. */
export function hashOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
