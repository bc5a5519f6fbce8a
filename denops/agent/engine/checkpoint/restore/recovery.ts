/**
 * Completes or reverts the work of an engine that ended early, from its stored checkpoints. Changes after its last
 * heartbeat are the user's.
 */
import {
  type CheckpointStore,
  type FileRecord,
  sameSnapshot,
  type Snapshot,
  type StoredCheckpoint,
  type UndoneChanges,
} from "../../log/checkpoints.ts";
import { isTurns, markedBy, redoable } from "../history.ts";
import { netChanges } from "../review/net.ts";
import { opened } from "./opened.ts";
import { pauses } from "../../../shared/pauses.ts";
import type { Recorder } from "../recorder.ts";
import { lstat, takeSnapshot } from "../snapshot.ts";

interface RecoveryOptions {
  readonly session: string;
  readonly store: CheckpointStore;
  /** Real paths. */
  readonly roots: readonly string[];
  readonly recorder: Pick<Recorder, "sinceBegin" | "aliveMs">;
  /** One line for the user. */
  notice(text: string): void;
}

/** Heartbeats may be late by this factor. */
const LATE = 2;

export async function recover(options: RecoveryOptions): Promise<void> {
  const { session, store, recorder } = options;
  for (const cut of store.list(session, { unfinished: true })) {
    if (cut.kind === "command") {
      const found = await recorder.sinceBegin(cut.files);
      store.finish(cut.id, await beforeEnd(found, cut, options));
    } else if (cut.kind === "tool") {
      const found = withMove(await withImages(cut.files, options));
      store.finish(cut.id, await beforeEnd(found, cut, options));
    } else await finishTaking(cut, options);
  }
}

/** Removes changes made after the engine's end. */
async function beforeEnd(
  records: readonly FileRecord[],
  cut: StoredCheckpoint,
  { recorder, roots }: RecoveryOptions,
): Promise<readonly FileRecord[]> {
  const end = cut.alive + LATE * recorder.aliveMs;
  const later = new Set<string>();
  for (const { path, before, after, renamedFrom } of records) {
    // Deletions carry no time.
    if (after.type === "absent" || !await isLater(path, before.type === "absent", end, roots)) continue;
    later.add(path);
    if (renamedFrom !== undefined) later.add(renamedFrom);
  }
  return records.filter(({ path }) => !later.has(path));
}

async function isLater(
  path: string,
  isNew: boolean,
  end: number,
  roots: readonly string[],
): Promise<boolean> {
  const info = await opened(path, false, roots, () => lstat(path));
  if (info === undefined) return false;
  const isAfter = (date: Date | null) => (date?.getTime() ?? 0) > end;
  // A folder's times change with its content.
  if (info.isDirectory) return isNew && isAfter(info.birthtime ?? info.ctime);
  // A closed file was opened for reading, which changes one of its times.
  const isClosed = info.mode !== null && !info.isSymlink && (info.mode & 0o400) === 0;
  return isAfter(info.mtime) || (!isClosed && isAfter(info.ctime));
}

async function withImages(
  files: StoredCheckpoint["files"],
  { store, roots }: RecoveryOptions,
): Promise<readonly FileRecord[]> {
  const records: FileRecord[] = [];
  const pause = pauses();
  for (const { undoneBy: _, ...file } of files) {
    await pause();
    records.push({ ...file, after: await takeSnapshot(file.path, store.contents, roots) });
  }
  return netChanges([records]);
}

/** Drops the source of a tool's move that never happened. */
function withMove(records: readonly FileRecord[]): readonly FileRecord[] {
  if (records.some(({ renamedFrom }) => renamedFrom !== undefined)) return records;
  const source = records.find(({ before, after }) => before.type !== "absent" && after.type === "absent");
  return records.map((record) => {
    const isTarget = source !== undefined && record.before.type === "absent" &&
      sameSnapshot(record.after, source.before);
    return isTarget ? { ...record, renamedFrom: source.path } : record;
  });
}

/** An interrupted undo, redo or restore: paths that reached their target count as restored, the others stay. */
async function finishTaking(cut: StoredCheckpoint, options: RecoveryOptions): Promise<void> {
  const { store, notice } = options;
  const done: FileRecord[] = [];
  const left = new Set<string>();
  await closeFolders(cut.files, options.roots);
  const found = new Map((await withImages(cut.files, options)).map((record) => [record.path, record]));
  for (const { path, after } of cut.files) {
    const record = found.get(path);
    if (record === undefined) left.add(path);
    else if (isAsPlanned(record.after, after)) done.push(record);
    else {
      left.add(path);
      // The old file is gone, and the new one is not there yet.
      if (record.after.type === "absent" && record.before.type !== after.type) done.push(record);
    }
  }
  const paths = cut.files.map(({ path }) => path).filter((path) => !left.has(path));
  store.finish(cut.id, done, takenBy(cut, new Set(paths), store));
  const isFile = ({ before, after }: FileRecord) =>
    [before, after].some(({ type }) => type === "file" || type === "link");
  const [all, some] = [cut.files, done].map((records) => records.filter(isFile).length);
  const isOfCall = cut.kind === "undo" && cut.calls !== undefined;
  const subject = cut.calls === undefined ? `turn ${cut.target}` : `a call of turn ${cut.target}`;
  const next = isOfCall ? "gru" : `:Agent ${cut.kind}${cut.kind === "redo" ? "" : ` ${cut.target}`}`;
  notice(
    `The ${cut.kind} of ${subject} was cut off: ${some} of ${all} files are done. ` +
      `\`${next}\`${isOfCall ? " on its line" : ""} continues.`,
  );
}

/** Restores the mode of a folder that was temporarily open when the engine ended (opened.ts). */
async function closeFolders(files: StoredCheckpoint["files"], roots: readonly string[]): Promise<void> {
  for (const { path, before, after } of files) {
    // Its mode changes before its content, so it was most likely the new one.
    for (const image of [after, before]) {
      if (image.type !== "folder" || image.mode === undefined) continue;
      const info = await opened(path, false, roots, () => lstat(path));
      const mode = info?.isDirectory === true && info.mode !== null ? info.mode & 0o7777 : undefined;
      if (mode === image.mode) break;
      if (mode !== (image.mode | 0o700)) continue;
      const { mode: closed } = image;
      await opened(path, false, roots, () => Deno.chmod(path, closed));
      break;
    }
  }
}

/** A parent folder that was created on the way has the system's default mode. */
function isAsPlanned(found: Snapshot, planned: Snapshot): boolean {
  const isOnTheWay = planned.type === "folder" && planned.mode === undefined;
  return isOnTheWay ? found.type === "folder" : sameSnapshot(found, planned);
}

function takenBy(cut: StoredCheckpoint, paths: ReadonlySet<string>, store: CheckpointStore): UndoneChanges {
  const { session, kind, target = 0, id } = cut;
  const calls = kind === "undo" ? cut.calls : undefined;
  const which = calls === undefined ? { since: kind === "redo" ? cut.turn : target } : { calls };
  const older = store.list(session, which).filter((one) => one.finished && one.id < id);
  const latest = redoable(older);
  const taken = kind === "redo"
    ? latest === undefined ? [] : [latest]
    : older.filter((one) =>
      isTurns(one) && (kind === "restore" || calls !== undefined || one.turn === target)
    );
  return { checkpoints: markedBy(kind, taken), paths };
}
