/** Stored files with unreviewed changes. */
import type { CheckpointKind, FileRecord, Snapshot } from "./checkpoints.ts";

/** `before` is the reviewed text, `after` the file as the agent, or the user's last save, left it. */
export interface StoredReview extends FileRecord {
  readonly session: string;
  /** The turn of the last change. */
  readonly turn: number;
}

/** The change of one checkpoint to a path. */
export interface Version extends FileRecord {
  readonly checkpoint: number;
  readonly session: string;
  readonly turn: number;
  readonly kind: CheckpointKind;
  readonly toolCall?: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export interface ReviewStore {
  /** By path. */
  list(): readonly StoredReview[];
  get(path: string): StoredReview | undefined;
  put(review: StoredReview): void;
  remove(path: string): void;
  /** Changes of a path, newest first. @param before only versions older than this checkpoint */
  versions(path: string, before?: number): Iterable<Version>;
  /** Names of a turn and of one of its calls. */
  namesOf(session: string, turn: number, toolCall: string | undefined): {
    readonly title: string;
    readonly message: string;
    readonly tool: string;
  };
}

export function isFileLike({ type }: Snapshot): boolean {
  return type === "file" || type === "link" || type === "absent";
}
