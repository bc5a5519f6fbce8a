/** Checkpoints in SQLite. */
import {
  ABSENT,
  type CheckpointKind,
  type CheckpointStore,
  type FileRecord,
  type NewCheckpoint,
  type RecordedChange,
  type ScannedFile,
  type Snapshot,
  type StoredCheckpoint,
} from "../core/checkpoints.ts";
import type { Blobs } from "./blobs.ts";
import type { Database } from "./database.ts";
import { leaveUnnamed } from "./unnamed.ts";

type Row = Readonly<Record<string, unknown>>;

/** Type, mode and blob as columns. */
export type SnapshotColumns = readonly [type: string | null, mode: number | null, blob: string | null];

export class SqliteCheckpoints implements CheckpointStore {
  readonly contents: Blobs;
  readonly #database: Database;
  readonly #recorded: (change: RecordedChange) => void;

  /** @param recorded is told of each change, in the transaction that records it */
  constructor(database: Database, contents: Blobs, recorded: (change: RecordedChange) => void = () => {}) {
    this.#database = database;
    this.contents = contents;
    this.#recorded = recorded;
  }

  begin(checkpoint: NewCheckpoint, before: ReadonlyMap<string, Snapshot>): number {
    const { session, turn, kind, toolCall, target } = checkpoint;
    return this.#database.transaction(() => {
      const { lastInsertRowid: id } = this.#database.run(
        "INSERT INTO checkpoints (session, turn, kind, tool_call, target, time) VALUES (?, ?, ?, ?, ?, ?)",
        session,
        turn,
        kind,
        toolCall ?? null,
        target ?? null,
        Date.now(),
      );
      for (const [path, image] of before) this.#insertFile(id, { path, before: image, after: ABSENT });
      return id;
    });
  }

  finish(id: number, files: readonly FileRecord[]): void {
    this.#database.transaction(() => {
      const row = this.#database.get("SELECT session, turn, kind FROM checkpoints WHERE id = ?", id);
      if (row === undefined) return;
      // What was looked at and has not changed is named by nobody any more.
      leaveUnnamed(
        this.#database,
        "SELECT before_blob AS name FROM checkpoint_files WHERE checkpoint = ?1",
        id,
      );
      this.#database.run("DELETE FROM checkpoint_files WHERE checkpoint = ?", id);
      if (files.length === 0) {
        this.#database.run("DELETE FROM checkpoints WHERE id = ?", id);
        return;
      }
      for (const file of files) this.#insertFile(id, file);
      this.#database.run("UPDATE checkpoints SET finished = 1 WHERE id = ?", id);
      const about = { session: String(row.session), turn: Number(row.turn), kind: kindOf(row.kind) };
      for (const file of files) this.#recorded({ ...about, ...file });
    });
  }

  list(session: string): readonly StoredCheckpoint[] {
    const rows = this.#database.all("SELECT * FROM checkpoints WHERE session = ? ORDER BY id", session);
    return rows.map((row) => this.#stored(row));
  }

  setUndone(ids: readonly number[], by: number | undefined): void {
    this.#database.transaction(() => {
      for (const id of ids) {
        this.#database.run("UPDATE checkpoints SET undone_by = ? WHERE id = ?", by ?? null, id);
      }
    });
  }

  scanned(): readonly ScannedFile[] {
    const rows = this.#database.all(
      "SELECT *, type AS now_type, mode AS now_mode, blob AS now_blob FROM scanned_files",
    );
    return rows.map((row) => ({
      path: String(row.path),
      image: snapshotOf(row, "now", this.contents),
      size: Number(row.size),
      mtime: Number(row.mtime),
      ctime: Number(row.ctime),
      ino: Number(row.ino),
      settled: row.settled === 1,
    }));
  }

  setScanned(changed: readonly ScannedFile[], gone: readonly string[]): void {
    this.#database.transaction(() => {
      const leave = (path: string) =>
        leaveUnnamed(this.#database, "SELECT blob AS name FROM scanned_files WHERE path = ?1", path);
      for (const path of [...gone, ...changed.map((file) => file.path)]) leave(path);
      for (const path of gone) this.#database.run("DELETE FROM scanned_files WHERE path = ?", path);
      for (const { path, image, size, mtime, ctime, ino, settled } of changed) {
        this.#database.run(
          "INSERT OR REPLACE INTO scanned_files (path, type, mode, blob, size, mtime, ctime, ino, settled) " +
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
          path,
          ...snapshotColumns(image, this.contents),
          size,
          mtime,
          ctime,
          ino,
          settled ? 1 : 0,
        );
      }
    });
  }

  untold(session: string): readonly StoredCheckpoint[] {
    const kinds = "('undo', 'redo', 'restore')";
    const sql = `SELECT * FROM checkpoints WHERE session = ? AND told = 0 AND kind IN ${kinds} ORDER BY id`;
    return this.#database.all(sql, session).map((row) => this.#stored(row));
  }

  setTold(ids: readonly number[]): void {
    this.#database.transaction(() => {
      for (const id of ids) this.#database.run("UPDATE checkpoints SET told = 1 WHERE id = ?", id);
    });
  }

  #insertFile(checkpoint: number, { path, renamedFrom, before, after }: FileRecord): void {
    this.#database.run(
      "INSERT INTO checkpoint_files (checkpoint, path, renamed_from, before_type, before_mode, before_blob, " +
        "after_type, after_mode, after_blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      checkpoint,
      path,
      renamedFrom ?? null,
      ...snapshotColumns(before, this.contents),
      ...snapshotColumns(after, this.contents),
    );
  }

  #stored(row: Row): StoredCheckpoint {
    const id = Number(row.id);
    const files = this.#database.all(
      "SELECT * FROM checkpoint_files WHERE checkpoint = ? ORDER BY path",
      id,
    );
    return {
      id,
      session: String(row.session),
      turn: Number(row.turn),
      kind: kindOf(row.kind),
      finished: row.finished === 1,
      time: Number(row.time),
      ...(typeof row.tool_call === "string" ? { toolCall: row.tool_call } : {}),
      ...(typeof row.target === "number" ? { target: row.target } : {}),
      ...(typeof row.undone_by === "number" ? { undoneBy: row.undone_by } : {}),
      files: files.map((file) => ({
        path: String(file.path),
        ...(typeof file.renamed_from === "string" ? { renamedFrom: file.renamed_from } : {}),
        before: snapshotOf(file, "before", this.contents),
        after: snapshotOf(file, "after", this.contents),
      })),
    };
  }
}

/** A snapshot as the columns of one side. */
export function snapshotColumns(snapshot: Snapshot, contents: Blobs): SnapshotColumns {
  switch (snapshot.type) {
    case "absent":
      return [null, null, null];
    case "file":
      return ["file", snapshot.mode ?? null, snapshot.blob];
    case "link":
      return ["link", null, contents.putText(snapshot.target)];
    case "folder":
      return ["folder", snapshot.mode ?? null, null];
    case "other":
      return ["other", null, null];
  }
}

/** A row's side as a snapshot. */
export function snapshotOf(row: Row, side: "before" | "after" | "now", contents: Blobs): Snapshot {
  const modeCell = row[`${side}_mode`];
  const mode = typeof modeCell === "number" ? modeCell : undefined;
  const blobCell = row[`${side}_blob`];
  const blob = typeof blobCell === "string" ? blobCell : "";
  switch (row[`${side}_type`]) {
    case "file":
      return { type: "file", mode, blob };
    case "link":
      return { type: "link", target: contents.getText(blob) };
    case "folder":
      return { type: "folder", mode };
    case "other":
      return { type: "other" };
    default:
      return ABSENT;
  }
}

const KINDS: readonly CheckpointKind[] = ["tool", "command", "undo", "redo", "restore"];

function kindOf(cell: unknown): CheckpointKind {
  const kind = KINDS.find((known) => known === cell);
  if (kind === undefined) throw new Error(`unknown checkpoint kind ${String(cell)}`);
  return kind;
}
