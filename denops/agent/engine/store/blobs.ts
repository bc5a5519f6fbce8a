/** Contents by their SHA-256, compressed; the same content is stored once. */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Database } from "./database.ts";

/** The fastest: contents are written while a model waits. */
const LEVEL = 1;

export class Blobs {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @returns the content's SHA-256, in hexadecimal */
  put(bytes: Uint8Array): string {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (this.#database.get("SELECT 1 FROM blobs WHERE sha256 = ?", sha256) !== undefined) return sha256;
    const deflated = deflateRawSync(bytes, { level: LEVEL });
    const smaller = deflated.length < bytes.length;
    this.#database.run(
      "INSERT OR IGNORE INTO blobs (sha256, size, deflated, bytes) VALUES (?, ?, ?, ?)",
      sha256,
      bytes.length,
      smaller ? 1 : 0,
      smaller ? deflated : bytes,
    );
    return sha256;
  }

  /** @throws {Error} if it is not there */
  get(sha256: string): Uint8Array<ArrayBuffer> {
    const row = this.#database.get("SELECT deflated, bytes FROM blobs WHERE sha256 = ?", sha256);
    if (!(row?.bytes instanceof Uint8Array)) throw new Error(`no blob ${sha256}`);
    return new Uint8Array(row.deflated === 1 ? inflateRawSync(row.bytes) : row.bytes);
  }

  putText(text: string): string {
    return this.put(new TextEncoder().encode(text));
  }

  getText(sha256: string): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.get(sha256));
  }
}
