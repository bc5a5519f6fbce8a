/** Records the changes of calls and reverts them. */
import type { TextChange } from "../../protocol/access.ts";
import type { FileChange } from "../log/events.ts";

/** A call that is about to change something. */
export interface CheckpointedCall {
  readonly id: string;
  /** Absolute paths that it will write: files, and links to them. */
  readonly paths: readonly string[];
  /** A command may write anything, so the project is scanned before and after. */
  readonly command?: "foreground" | "background";
}

/** Records the changes of calls for undo. */
export interface Checkpoints {
  /** Saves the current contents. @throws {ToolError} if it cannot: the call must not run */
  before(call: CheckpointedCall, signal: AbortSignal): Promise<PendingCheckpoint>;
}

export interface PendingCheckpoint {
  /**
   * Call it when the call has ended, for whatever reason.
   * @returns changes that the call did not report: those of a command
   */
  done(changes: readonly FileChange[]): Promise<readonly FileChange[]>;
}

/** A sensitive file as a command has changed it, held back until the user agrees. */
export interface HeldFile {
  /** Absolute. */
  readonly path: string;
  readonly toolCall: string;
  /** "changed", "created", "deleted". */
  readonly what: string;
  /** Where both sides are text. */
  readonly texts?: { readonly before?: string; readonly after: string };
}

export interface HeldBackChanges {
  readonly heldBack: readonly HeldFile[];
  /** Files that could not be reverted. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
  readonly changes: readonly { readonly toolCall: string; readonly change: FileChange }[];
}

/** @param change both texts of the file; undefined: it is not text */
export type IsTrap = (path: string, toolCall: string, change: () => TextChange | undefined) => boolean;

/** Reverts changes of commands. */
export interface HoldBack {
  /** Reverts the sensitive changes that any command has made since the last call. */
  take(isTrap: IsTrap): Promise<HeldBackChanges>;
  /** Restores the command's version. */
  place(file: HeldFile): Promise<{ readonly changes: readonly FileChange[]; readonly failure?: string }>;
}
