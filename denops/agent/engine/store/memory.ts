/** Facts that sessions remember, one a row, so that a change writes only itself. */
import type { Remembered } from "../ports/store.ts";
import type { Blobs } from "./blobs.ts";
import type { Sql } from "./sql.ts";

/** Longer texts are stored as contents. */
const LONG = 2_000;

export class SessionMemory {
  readonly #database: Sql;
  readonly #blobs: Blobs;

  constructor(database: Sql, blobs: Blobs) {
    this.#database = database;
    this.#blobs = blobs;
  }

  put(session: string, { topic, name, value }: Remembered): void {
    if (value === undefined) {
      const sql = "DELETE FROM memory WHERE session = ? AND topic = ? AND name = ?";
      return void this.#database.run(sql, session, topic, name);
    }
    const isLong = typeof value === "string" && value.length >= LONG && value.isWellFormed();
    this.#database.run(
      "INSERT OR REPLACE INTO memory (session, topic, name, value, blob) VALUES (?, ?, ?, ?, ?)",
      session,
      topic,
      name,
      isLong ? null : JSON.stringify(value),
      isLong ? this.#blobs.putText(value) : null,
    );
  }

  all(session: string): readonly Remembered[] {
    return this.#database.all("SELECT topic, name, value, blob FROM memory WHERE session = ?", session)
      .map(({ topic, name, value, blob }) => ({
        topic: String(topic),
        name: String(name),
        value: typeof blob === "string" ? this.#blobs.getText(blob) : JSON.parse(String(value)),
      }));
  }
}
