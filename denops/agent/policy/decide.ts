/** The verdict on one tool call: the strictest of all that it touches. Pure. */
import type { SafeToWrite } from "../protocol/config.ts";
import { type Decision, mayRead, mayWrite } from "./file_access.ts";
import type { ResolvedPath } from "./path.ts";

export interface FileRules {
  readonly deny_read: readonly string[];
  readonly safe_to_write: readonly SafeToWrite[];
}

export interface FileTouch {
  readonly access: "read" | "write";
  readonly path: ResolvedPath;
}

/** @param sessionAllows keys, made by {@link allowKey}, of what the user has allowed for this session */
export function decide(
  touches: readonly FileTouch[],
  rules: FileRules,
  sessionAllows: ReadonlySet<string>,
): Decision {
  const order = { deny: 0, ask: 1, allow: 2 } as const;
  const decisions = touches.map((touch): Decision => {
    const decision = touch.access === "read"
      ? mayRead(touch.path, rules.deny_read)
      : mayWrite(touch.path, rules.safe_to_write);
    const allowed = decision.verdict === "ask" && sessionAllows.has(allowKey(touch));
    return allowed ? { verdict: "allow", rule: "allowed for this session" } : decision;
  });
  const [strictest] = decisions.sort((a, b) => order[a.verdict] - order[b.verdict]);
  return strictest ?? { verdict: "allow", rule: "touches nothing" };
}

/** What "allow for this session" allows: this access to this very file. */
export function allowKey(touch: FileTouch): string {
  return `${touch.access}:${touch.path.path}`;
}
