/** Checkpoints in SQLite. */
import {
  ABSENT,
  type CallUndone,
  type CheckpointKind,
  type CheckpointStore,
  type FileRecord,
  type NewCheckpoint,
  type RecordedChange,
  type ScannedFile,
  type Snapshot,
  type StoredCheckpoint,
  type UndoneChanges,
  type WhichCheckpoints,
} from "../log/checkpoints.ts";
import * as z from "../../deps/zod.ts";
import type { TurnUndone } from "../../protocol/requests.ts";
import { LONGEST_CALL_ID } from "../../protocol/update_meta.ts";
import type { Blobs } from "./blobs.ts";
import type { Database } from "./database.ts";
import { rangesOf } from "./lineage.ts";
import { defined } from "../../shared/records.ts";

type Row = Readonly<Record<string, unknown>>;

/** The id of a checkpoint's call as the screen knows it. */
const CALL_ID = `substr(tool_call, 1, ${LONGEST_CALL_ID})`;
const OF_CALLS = `session = ? AND ${CALL_ID} IN (SELECT value FROM json_each(?))`;

/** The changes of finished calls and commands, one row for each file. */
const CHANGES = "FROM checkpoints JOIN checkpoint_files ON checkpoint = id";
const OF_TURNS = "finished = 1 AND kind IN ('tool', 'command')";

/** Files of a turn that are reported as undone. */
const MOST_FILES = 1_000;

/** Type, mode and blob as columns. */
type SnapshotColumns = readonly [type: string | null, mode: number | null, blob: string | null];

export class SqliteCheckpoints implements CheckpointStore {
  readonly contents: Blobs;
  readonly #database: Database;
  readonly #recorded: (changes: readonly RecordedChange[]) => void;

  /** @param recorded receives a checkpoint's changes, in the transaction that records them */
  constructor(
    database: Database,
    contents: Blobs,
    recorded: (changes: readonly RecordedChange[]) => void = () => {},
  ) {
    this.#database = database;
    this.contents = contents;
    this.#recorded = recorded;
  }

  begin(checkpoint: NewCheckpoint, files: readonly FileRecord[]): number {
    const { session, turn, kind, toolCall, target, calls } = checkpoint;
    const now = Date.now();
    return this.#database.transaction(() => {
      const { lastInsertRowid: id } = this.#database.run(
        "INSERT INTO checkpoints (session, turn, kind, tool_call, target, alive, time) VALUES (?, ?, ?, ?, ?, ?, ?)",
        session,
        turn,
        kind,
        toolCall ?? (calls === undefined ? null : JSON.stringify(calls)),
        target ?? null,
        now,
        now,
      );
      for (const file of files) this.#insertFile(id, file);
      return id;
    });
  }

  setAlive(ids: readonly number[]): void {
    this.#database.run(
      "UPDATE checkpoints SET alive = ? WHERE id IN (SELECT value FROM json_each(?))",
      Date.now(),
      JSON.stringify(ids),
    );
  }

  finish(id: number, files: readonly FileRecord[], taken?: UndoneChanges): void {
    this.#database.transaction(() => {
      const row = this.#database.get("SELECT session, turn, kind FROM checkpoints WHERE id = ?", id);
      if (row === undefined) return;
      if (taken !== undefined) this.#setTaken(String(row.session), kindOf(row.kind), id, taken);
      this.#database.run("DELETE FROM checkpoint_files WHERE checkpoint = ?", id);
      if (files.length === 0) {
        this.#database.run("DELETE FROM checkpoints WHERE id = ?", id);
        return;
      }
      for (const file of files) this.#insertFile(id, file);
      this.#database.run("UPDATE checkpoints SET finished = 1 WHERE id = ?", id);
      const about = { session: String(row.session), turn: Number(row.turn), kind: kindOf(row.kind) };
      this.#recorded(files.map((file) => ({ ...about, ...file })));
    });
  }

  list(session: string, which: WhichCheckpoints = {}): readonly StoredCheckpoint[] {
    const { turn, since, calls, after, unfinished = false } = which;
    if (unfinished) return this.#stored("session = ? AND finished = 0", session);
    if (turn !== undefined) return this.#stored("session = ? AND turn = ?", session, turn);
    if (since !== undefined) return this.#stored("session = ? AND turn >= ?", session, since);
    if (calls !== undefined) return this.#stored(OF_CALLS, session, JSON.stringify(calls));
    // Finds the newest few by id instead of scanning the session.
    if (after !== undefined) return this.#stored("+session = ? AND id > ? AND finished = 1", session, after);
    return this.#stored("session = ?", session);
  }

  turnsBefore(session: string, before: number, most: number): readonly number[] {
    return this.#database.all(
      `SELECT DISTINCT turn FROM checkpoints WHERE session = ? AND turn < ? AND finished = 1
       AND kind IN ('tool', 'command') ORDER BY turn DESC LIMIT ?`,
      session,
      before,
      most,
    ).map(({ turn }) => Number(turn));
  }

  undone(session: string, first: number, last: number): readonly TurnUndone[] {
    return this.#undone("turn", session, first, last).map(({ of, undone, within }) => ({
      turn: Number(of),
      ...defined({ undone, files: undone === "part" ? this.#undoneFiles(within, Number(of)) : undefined }),
    }));
  }

  #undoneFiles(session: string, turn: number) {
    const sql = `SELECT path, count(*) AS changes, count(undone_by) AS undone ${CHANGES}
       WHERE session = ? AND turn = ? AND ${OF_TURNS} GROUP BY path HAVING undone > 0 ORDER BY path LIMIT ?`;
    return this.#database.all(sql, session, turn, MOST_FILES)
      .map(({ path, changes, undone }) => ({
        path: String(path),
        ...defined({ undone: stateOf(changes, undone) }),
      }));
  }

  undoneCalls(session: string, first: number, last: number): readonly CallUndone[] {
    return this.#undone(CALL_ID, session, first, last).map(({ of, undone }) => ({
      call: String(of),
      ...defined({ undone }),
    }));
  }

  /** @param of an SQL expression: the subject of the changes */
  #undone(of: string, session: string, first: number, last: number) {
    const sql = `SELECT ${of} AS subject, count(*) AS changes, count(undone_by) AS undone ${CHANGES}
       WHERE session = ? AND turn BETWEEN ? AND ? AND ${OF_TURNS} AND subject IS NOT NULL
       GROUP BY subject ORDER BY min(id)`;
    return rangesOf(this.#database, session, first, last).flatMap(({ session, first, last }) =>
      this.#database.all(sql, session, first, last).map(({ subject, changes, undone }) => ({
        of: subject,
        within: session,
        undone: stateOf(changes, undone),
      }))
    );
  }

  newest(): number {
    return Number(this.#database.get("SELECT max(id) AS id FROM checkpoints")?.id ?? 0);
  }

  /** Reverting an undo restores the changes that it reverted. */
  #setTaken(session: string, kind: CheckpointKind, id: number, { checkpoints, paths }: UndoneChanges): void {
    const [ids, names] = [JSON.stringify(checkpoints), JSON.stringify([...paths])];
    const among = "path IN (SELECT value FROM json_each(?))";
    if (kind === "redo") {
      this.#database.run(
        "UPDATE checkpoint_files SET undone_by = NULL WHERE undone_by IN (SELECT value FROM json_each(?)) " +
          `AND checkpoint IN (SELECT id FROM checkpoints WHERE session = ?) AND ${among}`,
        ids,
        session,
        names,
      );
    }
    this.#database.run(
      "UPDATE checkpoint_files SET undone_by = ? WHERE undone_by IS NULL " +
        `AND checkpoint IN (SELECT value FROM json_each(?)) AND ${among}`,
      id,
      ids,
      names,
    );
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
    if (changed.length + gone.length === 0) return;
    this.#database.transaction(() => {
      this.#saveScan([...changed.map(({ path }) => path), ...gone]);
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

  /** For commands that have not ended: the files' state when they began. */
  #saveScan(paths: readonly string[]): void {
    this.#database.run(
      "INSERT OR IGNORE INTO checkpoint_files (checkpoint, path, before_type, before_mode, before_blob) " +
        "SELECT c.id, p.value, s.type, s.mode, s.blob FROM checkpoints c JOIN json_each(?) p " +
        "LEFT JOIN scanned_files s ON s.path = p.value WHERE c.kind = 'command' AND c.finished = 0",
      JSON.stringify(paths),
    );
  }

  untold(session: string): readonly StoredCheckpoint[] {
    const kinds = "('undo', 'redo', 'restore')";
    return this.#stored(`session = ? AND told = 0 AND finished = 1 AND kind IN ${kinds}`, session);
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

  /** @param wanted an SQL condition */
  #stored(wanted: string, ...values: (string | number)[]): readonly StoredCheckpoint[] {
    const rows = this.#database.all(`SELECT * FROM checkpoints WHERE ${wanted} ORDER BY id`, ...values);
    const files = Map.groupBy(
      this.#database.all(
        `SELECT checkpoint_files.* FROM checkpoints JOIN checkpoint_files ON checkpoint = id WHERE ${wanted} ORDER BY path`,
        ...values,
      ),
      ({ checkpoint }) => Number(checkpoint),
    );
    return rows.map((row) => this.#checkpoint(row, files.get(Number(row.id)) ?? []));
  }

  #checkpoint(row: Row, files: readonly Row[]): StoredCheckpoint {
    const kind = kindOf(row.kind);
    return {
      id: Number(row.id),
      session: String(row.session),
      turn: Number(row.turn),
      kind,
      finished: row.finished === 1,
      time: Number(row.time),
      ...callsOf(kind, row.tool_call),
      ...(typeof row.target === "number" ? { target: row.target } : {}),
      alive: Number(row.alive),
      files: files.map((file) => ({
        path: String(file.path),
        ...(typeof file.renamed_from === "string" ? { renamedFrom: file.renamed_from } : {}),
        before: snapshotOf(file, "before", this.contents),
        after: snapshotOf(file, "after", this.contents),
        ...(typeof file.undone_by === "number" ? { undoneBy: file.undone_by } : {}),
      })),
    };
  }
}

/** The call that made a checkpoint, or the calls that it has undone or redone. */
function callsOf(kind: CheckpointKind, cell: unknown): Pick<StoredCheckpoint, "toolCall" | "calls"> {
  if (typeof cell !== "string") return {};
  if (kind === "tool" || kind === "command") return { toolCall: cell };
  return { calls: z.array(z.string()).parse(JSON.parse(cell)) };
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

export function kindOf(cell: unknown): CheckpointKind {
  const kind = KINDS.find((known) => known === cell);
  if (kind === undefined) throw new Error(`unknown checkpoint kind ${String(cell)}`);
  return kind;
}

function stateOf(changes: unknown, undone: unknown): "all" | "part" | undefined {
  return undone === 0 ? undefined : undone === changes ? "all" : "part";
}
