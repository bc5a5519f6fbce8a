/** Worktrees of sessions: work trees of the project's repository, each on a branch of its own. */
import { z } from "../deps/zod.ts";

/** Files that one merge takes. */
export const MOST_MERGED = 500;
/** Bytes of a file, and characters of all. */
export const LARGEST_MERGED = 1_000_000;
export const LARGEST_MERGE = 8_000_000;

/**
 * What is to be done about them. Without a name "new" makes one up, and "remove" means the one of this place.
 * `consent`: the listing of the files that the user agreed to lose.
 */
export const WORKTREE_TASK = {
  task: z.enum(["new", "list", "remove"]),
  name: z.string().max(1_000).optional(),
  consent: z.string().max(100).optional(),
};

/** What of a worktree is merged into the project. */
export const Merge = z.object({
  /** The worktree's name. */
  name: z.string().min(1).max(100),
  /** Its folder, absolute. */
  folder: z.string().min(1),
  /** `path`: relative to the project. `base`: the text where both began; absent: no file. `theirs`: the same in the worktree; `merged`: what that was when it was merged last. */
  files: z.array(z.object({
    path: z.string().min(1),
    base: z.string().optional(),
    theirs: z.string().optional(),
    merged: z.string().optional(),
  })).max(MOST_MERGED),
  /** What differs too and is left to the user; `why`: half a sentence. */
  left: z.array(z.object({ path: z.string(), why: z.string() })),
});
export type Merge = z.infer<typeof Merge>;

export interface ShownWorktree {
  readonly name: string;
  /** Its folder, a real path. */
  readonly path: string;
  /** What is checked out; undefined with a detached HEAD. */
  readonly branch?: string;
  /** Files that differ from where it began, and not only because the project has the same by now. */
  readonly files: number;
  /** Other files that git does not track. */
  readonly ignored: number;
  /** Bytes of both. */
  readonly size: number;
  /** That the project's HEAD does not have. */
  readonly commits: number;
}
