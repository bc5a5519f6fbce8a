/** The roots as seen by a program that lives for several turns. Its writes do not reach the real ones. */
import type { Mount } from "../../system/sandbox/mounts.ts";
import type { OverlayChanges } from "./changes.ts";

/** Real paths that no turn sees, such as files of deny_read. Paths outside of the roots are ignored. */
export interface HiddenPaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

export interface TurnRoots extends AsyncDisposable {
  /** The start of the program's command line. */
  readonly enter: readonly string[];
  /** Mounts of the program's sandbox, instead of those of the roots. */
  readonly mounts: readonly Mount[];
  /** Start of the current turn by the file system's clock: milliseconds since 1970. */
  readonly started: number;
  /** False: the program can always write, so its processes are stopped for `renew` and `list`. */
  readonly isFrozenBetweenTurns: boolean;
  /** No further turn can begin: a new program is needed. */
  readonly isWornOut: boolean;
  /** The time by the same clock. */
  now(): Promise<number>;
  /** Begins a turn: shows the roots as they are now, without the writes of the last turn. @throws {Error} one line */
  renew(hidden: HiddenPaths): Promise<void>;
  /** Ends the writes of the turn. @returns false if the program can still write @throws {Error} one line */
  freeze(): Promise<boolean>;
  /** The changes of the turn so far, for each root. @throws {Error} one line */
  list(signal: AbortSignal): Promise<readonly OverlayChanges[]>;
  /** Whether the program has exceeded its limits on disk. */
  isPastLimits(): Promise<boolean>;
  /** The folder with the changed files of a root: of an overlay at any time, of a copy after a list. */
  upper(index: number): string;
  /** The original root. */
  lower(index: number): string;
  /** Whether the turn began with this file; undefined if unknown. */
  had(index: number, inRoot: string): boolean | undefined;
  /** A folder for copies of the current turn's files, removed with its writes. */
  readonly copies: string;
}
