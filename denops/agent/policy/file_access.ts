/** Decides which files agents can read and write, and which need approval. Pure. */
import type { FileRules, SafeToWrite } from "../protocol/config.ts";
import { lastMatcher, matchesGlob } from "./glob.ts";
import { touchesKeys } from "./manifest.ts";
import type { ResolvedPath } from "./path.ts";

/** A path as rules match it. */
export type NamedPath = Pick<ResolvedPath, "relative" | "named">;

export type FileDecision =
  | { readonly verdict: "allow"; readonly rule: string }
  | { readonly verdict: "ask"; readonly rule: string; readonly reason: string }
  | { readonly verdict: "deny"; readonly rule: string; readonly reason: string };

/** Both names of a link count: its own and its target's. */
export function namesOf(path: NamedPath): readonly string[] {
  return path.named === path.relative ? [path.relative] : [path.relative, path.named];
}

/** Git's own files contain credentials and settings, so they are never sent automatically. */
export function isInGit(path: NamedPath): boolean {
  return namesOf(path).some((name) => /(^|\/)\.git(\/|$)/i.test(name));
}

export type ReadOptions = Pick<FileRules, "deny_read" | "read_rules">;

/**
 * Allows reads except those that `deny_read` or a rule denies or asks about; no rule overrides `deny_read`.
 */
export function mayRead(path: NamedPath, { deny_read, read_rules }: ReadOptions): FileDecision {
  const matching = (globs: readonly string[]) =>
    globs.find((glob) => namesOf(path).some((name) => matchesGlob(glob, name)));
  const secret = matching(deny_read);
  if (secret !== undefined) {
    const reason = `${path.named} may hold secrets and is not readable (deny_read: ${secret})`;
    return { verdict: "deny", rule: secret, reason };
  }
  const denied = matching(read_rules.deny);
  if (denied !== undefined) {
    return { verdict: "deny", rule: `read(${denied})`, reason: `denied by rule read(${denied})` };
  }
  const askingGlob = matching(read_rules.ask);
  if (askingGlob !== undefined) {
    return { verdict: "ask", rule: `read(${askingGlob})`, reason: `rule read(${askingGlob}) asks` };
  }
  return { verdict: "allow", rule: "read" };
}

const matchers = new WeakMap<readonly SafeToWrite[], (name: string) => number>();

/** The keys of a manifest that a write changes; undefined: unknown. */
export type ChangedKeys = () => readonly string[] | undefined;

/**
 * The last matching entry, if it makes a write ask. Undefined: the file may be written.
 * @param changed by default all keys count
 */
export function sensitivity(
  name: string,
  rules: readonly SafeToWrite[],
  changed?: ChangedKeys,
): SafeToWrite | undefined {
  const matcher = matchers.get(rules) ?? lastMatcher(rules.map(({ glob }) => glob));
  matchers.set(rules, matcher);
  const last = rules[matcher(name)] ?? { glob: "no rule", safe: false };
  if (last.safe) return undefined;
  const keys = last.keys === undefined ? undefined : changed?.();
  return keys === undefined || touchesKeys(last.keys ?? [], keys) ? last : undefined;
}

/**
 * The stricter result for a link's two names wins.
 * @param risk a risk of the place itself, as the end of a sentence; it asks
 */
export function mayWrite(
  path: NamedPath,
  rules: readonly SafeToWrite[],
  risk?: string,
  changed?: ChangedKeys,
): FileDecision {
  for (const name of namesOf(path)) {
    const row = sensitivity(name, rules, changed);
    if (row === undefined) continue;
    const why = row.reason === undefined ? ` (matches ${row.glob})` : `: ${row.reason}`;
    return { verdict: "ask", rule: row.glob, reason: `${path.named} needs your approval${why}` };
  }
  if (risk !== undefined) {
    return { verdict: "ask", rule: "safe_to_write", reason: `${path.named} needs your approval: ${risk}` };
  }
  return { verdict: "allow", rule: "safe_to_write" };
}
