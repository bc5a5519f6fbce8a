/** Files to be reviewed, in SQLite, and the versions that they have had. */
import type { ReviewStore, StoredReview, Version } from "../log/reviews.ts";
import type { Blobs } from "./blobs.ts";
import { kindOf, snapshotColumns, snapshotOf } from "./checkpoints.ts";
import type { Database } from "./database.ts";
import type { TurnLog } from "./log/turn_log.ts";

type Row = Readonly<Record<string, unknown>>;

export class SqliteReviews implements ReviewStore {
  readonly #database: Database;
  readonly #contents: Blobs;
  readonly #log: TurnLog;

  constructor(database: Database, contents: Blobs, log: TurnLog) {
    this.#database = database;
    this.#contents = contents;
    this.#log = log;
  }

  list(): readonly StoredReview[] {
    return this.#database.all("SELECT * FROM reviews ORDER BY path").map((row) => this.#record(row));
  }

  get(path: string): StoredReview | undefined {
    const row = this.#database.get("SELECT * FROM reviews WHERE path = ?", path);
    return row === undefined ? undefined : this.#record(row);
  }

  put({ path, session, turn, renamedFrom, before, after }: StoredReview): void {
    this.#database.run(
      "INSERT OR REPLACE INTO reviews (path, session, turn, renamed_from, before_type, before_mode, " +
        "before_blob, after_type, after_mode, after_blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      path,
      session,
      turn,
      renamedFrom ?? null,
      ...snapshotColumns(before, this.#contents),
      ...snapshotColumns(after, this.#contents),
    );
  }

  remove(path: string): void {
    this.#database.run("DELETE FROM reviews WHERE path = ?", path);
  }

  versions(path: string, before: number = Number.MAX_SAFE_INTEGER): Iterable<Version> {
    const sql = "SELECT f.*, c.id, c.session, c.turn, c.kind, c.tool_call, c.time " +
      "FROM checkpoint_files f JOIN checkpoints c ON c.id = f.checkpoint " +
      "WHERE f.path = ? AND c.id < ? AND c.finished = 1 ORDER BY c.id DESC LIMIT 1000";
    return this.#database.all(sql, path, before).values().map((row) => ({
      ...this.#record(row),
      checkpoint: Number(row.id),
      kind: kindOf(row.kind),
      time: Number(row.time),
      ...(typeof row.tool_call === "string" ? { toolCall: row.tool_call } : {}),
    }));
  }

  namesOf(session: string, turn: number, toolCall: string | undefined) {
    const starts = this.#log.read({ session, first: turn, last: turn }, {
      kind: (kind) => kind === "tool_start",
    });
    const call = starts.map(({ entry }) => entry).find((entry) =>
      entry?.type === "tool_start" && entry.call.id === toolCall
    );
    const begun = "SELECT asked FROM turns WHERE session = ? AND turn = ?";
    const title = this.#database.get("SELECT title FROM sessions WHERE id = ?", session)?.title;
    return {
      title: typeof title === "string" ? title : "",
      message: String(this.#database.get(begun, session, turn)?.asked ?? ""),
      tool: call?.type === "tool_start" ? call.call.tool ?? "" : "",
    };
  }

  #record(row: Row): StoredReview {
    return {
      path: String(row.path),
      session: String(row.session),
      turn: Number(row.turn),
      ...(typeof row.renamed_from === "string" ? { renamedFrom: row.renamed_from } : {}),
      before: snapshotOf(row, "before", this.#contents),
      after: snapshotOf(row, "after", this.#contents),
    };
  }
}
