/** Stored images of files before and after the agent's changes. */
import type { RequestResult, TurnUndone } from "../../protocol/requests.ts";

/** How much of a call's changes was undone. */
export type CallUndone = RequestResult<"undo">["calls"][number];

/** The image of a path. Links are not followed. */
export type Snapshot =
  | { readonly type: "absent" }
  /** `blob` names the content, which is not stored if it is too large. */
  | { readonly type: "file"; readonly mode: number | undefined; readonly blob: string }
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number | undefined }
  /** A device, a socket, a pipe: never written, never restored. */
  | { readonly type: "other" };

export const ABSENT: Snapshot = { type: "absent" };

export function sameSnapshot(a: Snapshot, b: Snapshot): boolean {
  if (a.type === "file" && b.type === "file") return a.blob === b.blob && a.mode === b.mode;
  if (a.type === "link" && b.type === "link") return a.target === b.target;
  if (a.type === "folder" && b.type === "folder") return a.mode === b.mode;
  return a.type === b.type;
}

/** The origin of a checkpoint: a tool call, a command, or the user's undo, redo or restore. */
export type CheckpointKind = "tool" | "command" | "undo" | "redo" | "restore";

export interface FileRecord {
  /** Absolute, in a real folder. */
  readonly path: string;
  /** The earlier path of a moved file. */
  readonly renamedFrom?: string;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

export interface NewCheckpoint {
  readonly session: string;
  /** The current or last turn. */
  readonly turn: number;
  readonly kind: CheckpointKind;
  readonly toolCall?: string;
  /** For undo, redo and restore: the turn concerned. */
  readonly target?: number;
  /** For the undo of single calls, and its redo: their ids, as in {@link WhichCheckpoints}. */
  readonly calls?: readonly string[];
}

export interface StoredCheckpoint extends NewCheckpoint {
  readonly id: number;
  /**
   * False if the process ended between both images. `after` is then the target of an undo, redo or restore, and
   * otherwise unknown; the files of a command are those that changed since it began.
   */
  readonly finished: boolean;
  /** Milliseconds since 1970, like all times. */
  readonly time: number;
  /** The last heartbeat. */
  readonly alive: number;
  /** By path. */
  readonly files: readonly StoredFile[];
}

interface StoredFile extends FileRecord {
  /** The checkpoint that reverted this change. */
  readonly undoneBy?: number;
}

/** Changes that an undo, redo or restore reverted. */
export interface UndoneChanges {
  /** Checkpoints of these changes. */
  readonly checkpoints: readonly number[];
  readonly paths: ReadonlySet<string>;
}

/** One recorded change of one file. */
export interface RecordedChange extends FileRecord {
  readonly session: string;
  readonly turn: number;
  readonly kind: CheckpointKind;
}

/** Contents by their hash. */
export interface Contents {
  has(blob: string): boolean;
  put(bytes: Uint8Array): string;
  /** All or none. */
  putAll(contents: readonly Uint8Array[]): void;
  /** Like `put`, for contents too large for memory. @param open is called twice */
  putParts(open: () => AsyncIterable<Uint8Array>): Promise<string>;
  /** In bytes. @throws {Error} if it is missing */
  size(blob: string): number;
  /** @throws {Error} if it is missing */
  get(blob: string): Uint8Array<ArrayBuffer>;
  parts(blob: string): Iterable<Uint8Array>;
}

/** A path in the last scan of the project. */
export interface ScannedFile {
  readonly path: string;
  readonly image: Snapshot;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly mtime: number;
  readonly ctime: number;
  readonly ino: number;
  /** False if the file was so new that a later change may leave its times the same. */
  readonly settled: boolean;
}

/** One of these. */
export interface WhichCheckpoints {
  readonly turn?: number;
  /** Of this turn and later ones. */
  readonly since?: number;
  /** Of these calls, by their ids as the screen knows them. */
  readonly calls?: readonly string[];
  /** Finished ones that are newer than this one. */
  readonly after?: number;
  readonly unfinished?: boolean;
}

export interface CheckpointStore {
  readonly contents: Contents;
  /** Stores the earlier images before it returns. @returns the checkpoint's id */
  begin(checkpoint: NewCheckpoint, files: readonly FileRecord[]): number;
  /** Stores a heartbeat. */
  setAlive(ids: readonly number[]): void;
  /** Stores the final changes; a checkpoint without changes is deleted. */
  finish(id: number, files: readonly FileRecord[], taken?: UndoneChanges): void;
  /** In order of creation; default: all. */
  list(session: string, which?: WhichCheckpoints): readonly StoredCheckpoint[];
  /** Turns with finished checkpoints of tools and commands, newest first. @param before only earlier ones */
  turnsBefore(session: string, before: number, most: number): readonly number[];
  /** Turns that have changed something, oldest first, and how much of that was undone. A fork's are the original's. */
  undone(session: string, first: number, last: number): readonly TurnUndone[];
  /** The same for the calls of these turns. */
  undoneCalls(session: string, first: number, last: number): readonly CallUndone[];
  /** The newest id of any session; 0 without one. */
  newest(): number;
  scanned(): readonly ScannedFile[];
  setScanned(changed: readonly ScannedFile[], gone: readonly string[]): void;
  /** Undos, redos and restores that the model has not heard of. */
  untold(session: string): readonly StoredCheckpoint[];
  setTold(ids: readonly number[]): void;
}
