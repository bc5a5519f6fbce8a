/**
 * The user's own rules: allow, ask and deny lists of patterns such as `run(git diff *)`, `write(src/**)`,
 * `read(.env)`, `network(npm install *)`. deny > ask > allow; within a list the most specific is named. Pure.
 */
import { commandMatches, type CommandVerdict, lineTouches, specificity } from "./command.ts";
import type { SafeToWrite } from "../protocol/config.ts";
import { matchesGlob } from "./glob.ts";
import type { ResolvedPath } from "./path.ts";

export const RULE_KINDS = ["run", "network", "read", "write", "fetch", "mcp"] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

/** Strongest first. */
export const RULE_SOURCES = ["session", "project", "user"] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

export type RuleVerdict = "allow" | "ask" | "deny";

export interface Rule {
  readonly verdict: RuleVerdict;
  readonly kind: RuleKind;
  /** A glob of paths, a pattern of one simple command, a host, or server/tool. */
  readonly pattern: string;
  readonly source: RuleSource;
}

/** "run(git diff *)" */
export function ruleText(rule: Pick<Rule, "kind" | "pattern">): string {
  return `${rule.kind}(${rule.pattern})`;
}

/** The rule of a text. @throws {Error} one line that shows the form. */
export function parseRule(text: string, verdict: RuleVerdict, source: RuleSource): Rule {
  const [, kind, pattern] = /^\s*(\w+)\((.+)\)\s*$/s.exec(text) ?? [];
  const known = RULE_KINDS.find((name) => name === kind);
  if (known === undefined || pattern === undefined || /[\r\n]/.test(pattern)) {
    throw new Error(`Not a rule: ${text}. Rules look like run(git diff *), write(src/**) or read(docs/**).`);
  }
  return { verdict, kind: known, pattern: pattern.trim(), source };
}

/** The options that say which files may be read and written. */
export interface FileOptions {
  readonly rules: Readonly<Record<RuleVerdict, readonly string[]>>;
  readonly safe_to_write: SafeToWrite[];
  readonly deny_read: string[];
}

/**
 * The options with the user's rules on files in them. An engine asks about writes that are not safe, and the gate
 * then answers by the rule; what a rule forbids to read is neither found nor shown, as with `deny_read`.
 * @throws {Error} one line if a rule is not one
 */
export function withFileRules<Options extends FileOptions>(options: Options): Options {
  const globs = (verdict: RuleVerdict, kind: RuleKind) =>
    options.rules[verdict].map((text) => parseRule(text, verdict, "user"))
      .flatMap((rule) => rule.kind === kind ? [rule.pattern] : []);
  const asked = [...globs("ask", "write"), ...globs("deny", "write")];
  return {
    ...options,
    safe_to_write: [...options.safe_to_write, ...asked.map((glob) => ({ glob, safe: false }))],
    deny_read: [...options.deny_read, ...globs("deny", "read")],
  };
}

/** The verdict of the rules on a file, and the rule that gave it; undefined if none speaks of it. */
export function fileRule(
  rules: readonly Rule[],
  kind: "read" | "write",
  path: ResolvedPath,
): Rule | undefined {
  const names = [...new Set([path.relative, path.named])];
  const matching = (verdict: RuleVerdict) => {
    const covers = (rule: Rule, name: string) => matchesGlob(rule.pattern, name);
    return rules.filter((rule) => rule.verdict === verdict && rule.kind === kind)
      // What is forbidden under one of a link's names is forbidden; what is allowed must be so under both.
      .filter((rule) =>
        verdict === "allow"
          ? names.every((name) => covers(rule, name))
          : names.some((name) => covers(rule, name))
      );
  };
  return mostSpecific(matching("deny")) ?? mostSpecific(matching("ask")) ?? mostSpecific(matching("allow"));
}

export type LineRules =
  | { readonly verdict: "deny" | "ask"; readonly rule: Rule }
  /** Every simple command of the line is allowed, each by one of these. */
  | { readonly verdict: "allow"; readonly rules: readonly Rule[] };

/** The verdict of the rules on a command line: deny or ask if they name any part, allow only if they name all. */
export function lineRules(
  rules: readonly Rule[],
  kind: "run" | "network",
  line: CommandVerdict,
): LineRules | undefined {
  const of = (verdict: RuleVerdict) => rules.filter((rule) => rule.kind === kind && rule.verdict === verdict);
  for (const verdict of ["deny", "ask"] as const) {
    const rule = mostSpecific(of(verdict).filter(({ pattern }) => lineTouches(pattern, line)));
    if (rule !== undefined) return { verdict, rule };
  }
  // Wrappers such as `env` only stand around the command that counts.
  const own = line.commands.filter(({ transparent }) => !transparent);
  if (!line.parsed || own.length === 0) return undefined;
  const allowing = own.map((command) =>
    mostSpecific(of("allow").filter((rule) => commandMatches(rule.pattern, command)))
  );
  const found = allowing.flatMap((rule) => rule === undefined ? [] : [rule]);
  return found.length === allowing.length ? { verdict: "allow", rules: [...new Set(found)] } : undefined;
}

function mostSpecific(rules: readonly Rule[]): Rule | undefined {
  const strength = (rule: Rule) => specificity(rule.pattern) * 10 - RULE_SOURCES.indexOf(rule.source);
  return rules.toSorted((a, b) => strength(b) - strength(a))[0];
}
