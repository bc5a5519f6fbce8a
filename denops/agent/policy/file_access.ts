/** Which files may be read and written, and which need a person's word. Pure. */
import type { SafeToWrite } from "../protocol/config.ts";
import { matchesGlob } from "./glob.ts";
import type { ResolvedPath } from "./path.ts";

export type Decision =
  | { readonly verdict: "allow"; readonly rule: string }
  | { readonly verdict: "ask"; readonly rule: string; readonly reason: string }
  | { readonly verdict: "deny"; readonly rule: string; readonly reason: string };

/** Both names count: the link's own and its target's. */
function names(path: ResolvedPath): readonly string[] {
  return path.named === path.relative ? [path.relative] : [path.relative, path.named];
}

/** Reads are allowed but for `deny_read`. */
export function mayRead(path: ResolvedPath, denyRead: readonly string[]): Decision {
  const rule = denyRead.find((glob) => names(path).some((name) => matchesGlob(glob, name)));
  if (rule === undefined) return { verdict: "allow", rule: "read" };
  return {
    verdict: "deny",
    rule,
    reason: `${path.named} may hold secrets and is not readable (deny_read: ${rule})`,
  };
}

/** The last entry that matches decides; the stricter of a link's two names wins. */
export function mayWrite(path: ResolvedPath, rules: readonly SafeToWrite[]): Decision {
  for (const name of names(path)) {
    const last = rules.findLast((rule) => matchesGlob(rule.glob, name));
    if (last === undefined || !last.safe) {
      const rule = last?.glob ?? "no rule";
      return { verdict: "ask", rule, reason: `${path.named} is sensitive (safe_to_write: ${rule})` };
    }
  }
  return { verdict: "allow", rule: "safe_to_write" };
}
