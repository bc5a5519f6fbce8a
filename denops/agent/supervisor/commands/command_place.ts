/** Where a command runs, and what it may see there. */
import type { CommandAccess } from "../../protocol/commands.ts";
import type { GitGuard } from "../git/guard.ts";
import type { Masks } from "./masks.ts";

/** Files of the workspace that commands may not see. */
export interface CommandView {
  readonly masks: Masks;
  /** A file that may not be read but is in git's history. Commands that only look do not see the history then. */
  readonly tracked: string | undefined;
}

export type GitMounts = Pick<GitGuard, "bound" | "guarded">;

export interface CommandPlace {
  readonly access: CommandAccess;
  readonly cwd: string;
  /** It runs over an overlay. */
  readonly rehearsed?: boolean;
}
