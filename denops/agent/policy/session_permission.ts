/** Decides which actions need no approval in a session that the user has loosened. Pure. */
import type { FileAccess, SessionPermission } from "../protocol/access.ts";
import type { FileRules } from "../protocol/config.ts";
import type { ForeignSource } from "./foreign.ts";
import { isInGit, mayRead, namesOf, sensitivity } from "./file_access.ts";
import { globMatcher } from "./glob.ts";

export interface SessionTrust {
  readonly permission: SessionPermission;
  /** It has read what strangers may have written: it used the network. Nothing loosens it. */
  readonly isTainted: boolean;
  /** It has read text of strangers: the network and sensitive writes ask, whatever rules say. Undefined: it has not. */
  readonly foreign: ForeignSource | undefined;
}

/** As the log and the chat name them. */
export const UNASKED = {
  commands: "unasked commands of this session",
  sensitive: "unasked sensitive files of this session",
} as const;

export function passesUnasked(
  { permission, isTainted }: Omit<SessionTrust, "foreign">,
  what: keyof typeof UNASKED,
): boolean {
  return !isTainted && (permission === what || permission === "both");
}

/** Whether a choice lets more pass than the options and rules do. */
export function isLoosened(permission: SessionPermission): boolean {
  return permission !== "ask" && permission !== "default";
}

/** Whether a name leads out of the project. */
export function isOutside(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name);
}

/** The built-in reasons of files that git obeys or runs: "git obeys it". */
const OF_GIT = /^git\b/;

/**
 * The reason why a write asks for more than a sensitive file of the built-in list, as the end of a sentence: git's own
 * files, unreadable files, places with a risk and the user's own list. Undefined if it asks for no more, or for nothing.
 */
export function beyondSensitive({ path, risk }: FileAccess, rules: FileRules): string | undefined {
  const names = namesOf(path);
  if (risk !== undefined) return risk;
  if (names.some(isOutside)) return "it is outside of the project";
  if (isInGit(path)) return "it is git's own file";
  if (mayRead(path, rules).verdict !== "allow") return "it may not be read freely";
  // A later row for the same file does not make it another file for git.
  const ofGit = rules.safe_to_write.filter(({ reason }) => reason !== undefined && OF_GIT.test(reason));
  const isOfGit = globMatcher(ofGit.map(({ glob }) => glob));
  if (names.some(isOfGit)) return "git obeys it";
  const isOwn = names.some((name) => {
    const row = sensitivity(name, rules.safe_to_write);
    return row !== undefined && row.reason === undefined;
  });
  return isOwn ? "your option files.safe_to_write lists it" : undefined;
}
