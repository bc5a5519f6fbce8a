/** What files were like before and after the agent changed them, as it is kept. */

/** What is at a path. Links are not followed. */
export type Snapshot =
  | { readonly type: "absent" }
  /** `blob` names the content, which is not kept if it is too large. */
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

/**
 * What made a checkpoint: a call of a tool, a command, or the user who took back a turn, did it again, or went back to
 * before a turn.
 */
export type CheckpointKind = "tool" | "command" | "undo" | "redo" | "restore";

export interface FileRecord {
  /** Absolute; its folders are real. */
  readonly path: string;
  /** Where the file was before a move. */
  readonly renamedFrom?: string;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

export interface NewCheckpoint {
  readonly session: string;
  /** The turn that runs or ran last. */
  readonly turn: number;
  readonly kind: CheckpointKind;
  readonly toolCall?: string;
  /** Of undo, redo and restore: the turn that they are about. */
  readonly target?: number;
}

export interface StoredCheckpoint extends NewCheckpoint {
  readonly id: number;
  /**
   * False if the process ended between the first image and the second. `after` is what was to come of undo, redo and
   * restore then, and unknown else; the files of a command are those that others have seen changed since it began.
   */
  readonly finished: boolean;
  /** Milliseconds since 1970, as are all times. */
  readonly time: number;
  /** What made it still ran then. */
  readonly alive: number;
  /** By path. */
  readonly files: readonly StoredFile[];
}

interface StoredFile extends FileRecord {
  /** The checkpoint that took this change back. */
  readonly undoneBy?: number;
}

/** What undo, redo or restore has taken back. */
export interface UndoneChanges {
  /** Checkpoints whose changes of these paths were. */
  readonly checkpoints: readonly number[];
  readonly paths: ReadonlySet<string>;
}

/** One change of one file, as it is recorded. */
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
  /** As `put`, for what is too large to be held at once. @param open is called twice */
  putParts(open: () => AsyncIterable<Uint8Array>): Promise<string>;
  /** In bytes. @throws {Error} if it is not there */
  size(blob: string): number;
  /** @throws {Error} if it is not there */
  get(blob: string): Uint8Array<ArrayBuffer>;
  parts(blob: string): Iterable<Uint8Array>;
}

/** A path as it was when the project was looked at last. */
export interface ScannedFile {
  readonly path: string;
  readonly image: Snapshot;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly mtime: number;
  readonly ctime: number;
  readonly ino: number;
  /** False if the file was so new then that a later change may not show in its times. */
  readonly settled: boolean;
}

/** One of these. */
export interface WhichCheckpoints {
  readonly turn?: number;
  /** Those of this turn and of later ones. */
  readonly since?: number;
  /** Those that were made after this one and are finished. */
  readonly after?: number;
  readonly unfinished?: boolean;
}

export interface CheckpointStore {
  readonly contents: Contents;
  /** The images before are on disk when this returns. @returns the checkpoint's id */
  begin(checkpoint: NewCheckpoint, files: readonly FileRecord[]): number;
  /** What makes these still runs. */
  setAlive(ids: readonly number[]): void;
  /** What has changed in the end; a checkpoint without changes is forgotten. */
  finish(id: number, files: readonly FileRecord[], taken?: UndoneChanges): void;
  /** In the order in which they were made; all unless told. */
  list(session: string, which?: WhichCheckpoints): readonly StoredCheckpoint[];
  /** Turns with finished checkpoints of tools and commands, newest first. @param before only earlier ones */
  turnsBefore(session: string, before: number, most: number): readonly number[];
  /** The id of the newest of any session; 0 if there is none. */
  newest(): number;
  scanned(): readonly ScannedFile[];
  setScanned(changed: readonly ScannedFile[], gone: readonly string[]): void;
  /** Undo, redo and restore that the model has not been told of. */
  untold(session: string): readonly StoredCheckpoint[];
  setTold(ids: readonly number[]): void;
}
