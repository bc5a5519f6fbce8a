/** Files with changes that the user has not looked at, as they are kept. */
import type { CheckpointKind, FileRecord, Snapshot } from "./checkpoints.ts";

/** `before` is what the user has agreed to, `after` the file as the agent, or the user's last save, left it. */
export interface StoredReview extends FileRecord {
  readonly session: string;
  /** The turn that changed it last. */
  readonly turn: number;
}

/** What one checkpoint did to a path. */
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
  /** What was done to a path, newest first. @param before only what is older than this checkpoint */
  versions(path: string, before?: number): Iterable<Version>;
  /** Names of a turn and of a tool call of it. */
  namesOf(session: string, turn: number, toolCall: string | undefined): {
    readonly title: string;
    readonly message: string;
    readonly tool: string;
  };
}

export function isFileLike({ type }: Snapshot): boolean {
  return type === "file" || type === "link" || type === "absent";
}
