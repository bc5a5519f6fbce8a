/** The verdict on one tool call: the strictest of all that it touches. Pure. */
import type { FileRules } from "../protocol/config.ts";
import { type Decision, mayRead, mayWrite } from "./file_access.ts";
import type { ResolvedPath } from "./path.ts";

export interface FileTouch {
  /** "list": names of what is inside, and lines of it; each file is judged by itself. */
  readonly access: "read" | "list" | "write";
  readonly path: ResolvedPath;
  /** Of a write: what the file system says against it, as the end of a sentence. */
  readonly risk?: string;
}

/** @param allowed keys, made by {@link allowKey}, of what the user has allowed */
export function decide(
  touches: readonly FileTouch[],
  rules: FileRules,
  allowed: ReadonlySet<string>,
): Decision {
  const order = { deny: 0, ask: 1, allow: 2 } as const;
  const decisions = touches.map((touch): Decision => {
    const decision = touch.access === "write"
      ? mayWrite(touch.path, rules.safe_to_write, touch.risk)
      : mayRead(touch.path, rules);
    if (touch.access === "list" && decision.verdict === "ask") {
      return { verdict: "allow", rule: "what a rule asks about is left out" };
    }
    const answered = decision.verdict === "ask" && allowed.has(allowKey(touch));
    return answered ? { verdict: "allow", rule: "allowed by the user" } : decision;
  });
  const [strictest] = decisions.sort((a, b) => order[a.verdict] - order[b.verdict]);
  return strictest ?? { verdict: "allow", rule: "touches nothing" };
}

/** What an answer allows: this access to this very file. */
export function allowKey(touch: FileTouch): string {
  return `${touch.access}:${touch.path.path}`;
}
