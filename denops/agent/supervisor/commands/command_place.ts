/** Where a command runs, and what it can see there. */
import type { CommandAccess } from "../../protocol/commands.ts";
import type { GitGuard } from "../git/guard.ts";
import type { Masks } from "./masks.ts";

/** Files of the workspace that are hidden from commands. */
export interface CommandView {
  readonly masks: Masks;
  /** An unreadable file that git's history contains. Read-only commands then do not see the history. */
  readonly tracked: string | undefined;
}

export type GitMounts = Pick<GitGuard, "bound" | "guarded">;

export interface CommandPlace {
  readonly access: CommandAccess;
  readonly cwd: string;
  /** The command runs over an overlay. */
  readonly rehearsed?: boolean;
  /** Patterns of the hosts that a command without network can reach, see policy/hosts.ts. */
  readonly hosts?: readonly string[] | undefined;
}
