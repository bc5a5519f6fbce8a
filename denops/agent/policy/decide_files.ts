/** The engine's decision on a call's access to files. Pure. */
import type { FileAccess } from "../protocol/access.ts";
import type { FileRules } from "../protocol/config.ts";
import { type FileDecision, mayRead, mayWrite } from "./file_access.ts";

/** The rule of a write that the user has allowed for the session. */
export const WRITE_OF_SESSION = "file allowed for this session";

/**
 * The strictest verdict of all files.
 * @param allowed keys from {@link allowKey} for access that the user has allowed
 */
export function decideFiles(
  files: readonly FileAccess[],
  rules: FileRules,
  allowed: ReadonlySet<string>,
): FileDecision {
  const order = { deny: 0, ask: 1, allow: 2 } as const;
  const decisions = files.map((file): FileDecision => {
    if (file.access === "write" && rules.asks_writes === true) return ASKS_WRITES;
    const decision = file.access === "write"
      ? mayWrite(file.path, rules.safe_to_write, file.risk, () => file.keys)
      : mayRead(file.path, rules);
    if (file.access === "list" && decision.verdict === "ask") {
      return { verdict: "allow", rule: "what a rule asks about is left out" };
    }
    const asksAgain = file.access === "write" && rules.asks_again === true;
    const answered = decision.verdict === "ask" && !asksAgain && allowed.has(allowKey(file));
    if (!answered) return decision;
    return { verdict: "allow", rule: file.access === "write" ? WRITE_OF_SESSION : "allowed by the user" };
  });
  const [strictest] = decisions.sort((a, b) => order[a.verdict] - order[b.verdict]);
  return strictest ?? { verdict: "deny", rule: "no file", reason: "it names no file" };
}

const ASKS_WRITES: FileDecision = {
  verdict: "ask",
  rule: "asks_writes",
  reason: "this session asks about everything",
};

/** The key of an approval: this access to exactly this file. */
export function allowKey(
  { access, path: { path } }: {
    readonly access: FileAccess["access"];
    readonly path: Pick<FileAccess["path"], "path">;
  },
): string {
  return `${access}:${path}`;
}
