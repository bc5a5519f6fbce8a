/** Worktrees of sessions: working trees of the project's repository, each on its own branch. */
import * as z from "../deps/zod.ts";

/** Files in one merge. */
export const MOST_MERGED = 500;
/** Bytes of a file, and characters of all files. */
export const LARGEST_MERGED = 1_000_000;
export const LARGEST_MERGE = 8_000_000;

/**
 * Actions on worktrees. Without a name, "new" makes one up, and "remove" uses the current one. `consent`: the listing
 * of files that the user agreed to lose.
 */
export const WORKTREE_TASK = {
  task: z.enum(["new", "list", "remove"]),
  name: z.string().max(1_000).optional(),
  consent: z.string().max(100).optional(),
};

/** The part of a worktree to merge into the project. */
export const Merge = z.object({
  /** The worktree's name. */
  name: z.string().min(1).max(100),
  /** Its folder, absolute. */
  folder: z.string().min(1),
  /**
   * `path`: relative to the project. `base`: the text where both began; absent: no file. `theirs`: the text in the
   * worktree; `merged`: its text at the last merge.
   */
  files: z.array(z.object({
    path: z.string().min(1),
    base: z.string().optional(),
    theirs: z.string().optional(),
    merged: z.string().optional(),
  })).max(MOST_MERGED),
  /** Other differences, which are left to the user; `why`: half a sentence. */
  left: z.array(z.object({ path: z.string(), why: z.string() })),
});
export type Merge = z.infer<typeof Merge>;

export interface ShownWorktree {
  readonly name: string;
  /** Its folder, as a real path. */
  readonly path: string;
  /** The checked-out branch; undefined with a detached HEAD. */
  readonly branch?: string;
  /** Files that differ from the worktree's beginning and from the project. */
  readonly files: number;
  /** Other files, which git does not track. */
  readonly ignored: number;
  /** Bytes of both. */
  readonly size: number;
  /** Commits that the project's HEAD lacks. */
  readonly commits: number;
}
