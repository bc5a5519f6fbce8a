/**
 * The user's own rules: allow, ask and deny lists of patterns such as `run(git diff *)`, `write(src/**)`,
 * `read(.env)`, `network(npm install *)`, `host(registry.npmjs.org)`, `fetch(docs.python.org)`, `search_web(brave)`,
 * `mcp(server/tool)`, `agent(explore)`, `tool(refactor)`. Pure.
 */
import { messageOf } from "../shared/errors.ts";
import { patternProblem } from "./command/rules.ts";
import { RULE_KINDS, type RuleKind, rulesIn } from "../protocol/access.ts";
import type { FileRules, SafeToWrite } from "../protocol/config.ts";
import { hostProblem } from "./hosts.ts";
import { globProblem } from "./glob.ts";
import { agentProblem, engineProblem, fetchProblem, ownToolProblem, toolProblem } from "./remote_rules.ts";

/** Strongest first. */
export const RULE_SOURCES = ["session", "project", "all projects", "user"] as const;
type RuleSource = (typeof RULE_SOURCES)[number];

/** Strongest last. */
export const RULE_VERDICTS = ["allow", "ask", "deny"] as const;
export type RuleVerdict = (typeof RULE_VERDICTS)[number];

export interface Rule {
  readonly verdict: RuleVerdict;
  readonly kind: RuleKind;
  /**
   * A glob of paths, a pattern of one simple command, a host, server/tool, or the name of a search engine, mode, agent
   * or tool.
   */
  readonly pattern: string;
  readonly source: RuleSource;
}

/** "run(git diff *)" */
export function ruleText(rule: Pick<Rule, "kind" | "pattern">): string {
  return `${rule.kind}(${rule.pattern})`;
}

/** Parses a rule. @throws {Error} one line: the rule, and its problem */
export function parseRule(text: string, verdict: RuleVerdict, source: RuleSource): Rule {
  const [, kind, inside] = /^\s*(\w+)\((.*)\)\s*$/s.exec(text) ?? [];
  const pattern = inside?.trim();
  const known = RULE_KINDS.find((name) => name === kind);
  if (known === undefined || pattern === undefined || /[\r\n]/.test(pattern)) {
    const excerpt = text.replace(/\s+/g, " ").slice(0, LONGEST_SHOWN);
    throw new Error(
      `Not a rule: ${excerpt}. Rules look like run(git diff *), write(src/**) or read(docs/**).`,
    );
  }
  if (known === "tool" && verdict === "allow") {
    const excerpt = pattern.slice(0, LONGEST_SHOWN);
    throw new Error(
      `Not a rule: tool(${excerpt}). Tools can be in ask and deny only. Allow what it touches, such as write(src/**).`,
    );
  }
  if (rulesIn(text).length > 1) {
    const excerpt = text.trim().slice(0, LONGEST_SHOWN);
    throw new Error(`Not a rule: ${excerpt}. These are several rules: give each one separately.`);
  }
  const problem = PROBLEMS[known](pattern);
  if (problem !== undefined) {
    throw new Error(`Not a rule: ${`${known}(${pattern})`.slice(0, LONGEST_SHOWN)}. Its pattern ${problem}.`);
  }
  return { verdict, kind: known, pattern, source };
}

/** Characters of an invalid pattern in a message. */
const LONGEST_SHOWN = 200;

const PROBLEMS: Readonly<Record<RuleKind, (pattern: string) => string | undefined>> = {
  run: patternProblem,
  git: patternProblem,
  network: patternProblem,
  host: hostProblem,
  read: globProblem,
  write: globProblem,
  fetch: fetchProblem,
  search_web: engineProblem,
  mcp: toolProblem,
  agent: agentProblem,
  tool: ownToolProblem,
};

/** The options that contain patterns. */
interface PatternOptions {
  readonly rules: Readonly<Record<RuleVerdict, readonly string[]>>;
  readonly safe_to_write: readonly SafeToWrite[];
  readonly deny_read: readonly string[];
}

/** Problems with the patterns of the user's options, one line each. */
export function patternProblems(options: PatternOptions): readonly string[] {
  const lists = RULE_VERDICTS.flatMap((verdict) =>
    options.rules[verdict].flatMap((text) => {
      const problem = ruleProblem(text, verdict);
      return problem === undefined ? [] : [`rules.${verdict}: ${problem}`];
    })
  );
  const globs = [
    ...options.deny_read.map((glob) => ({ option: "files.deny_read", glob })),
    ...options.safe_to_write.map(({ glob }) => ({ option: "files.safe_to_write", glob })),
  ];
  const wrong = globs.flatMap(({ option, glob }) => {
    const problem = globProblem(glob);
    return problem === undefined ? [] : [`${option}: ${glob.slice(0, LONGEST_SHOWN)} ${problem}.`];
  });
  return [...lists, ...wrong];
}

/** The options without their invalid patterns. */
export function validPatterns<T extends PatternOptions>(options: T): T {
  const valid = (verdict: RuleVerdict) =>
    options.rules[verdict].filter((text) => ruleProblem(text, verdict) === undefined);
  return {
    ...options,
    rules: { allow: valid("allow"), ask: valid("ask"), deny: valid("deny") },
    deny_read: options.deny_read.filter((glob) => globProblem(glob) === undefined),
    safe_to_write: options.safe_to_write.filter(({ glob }) => globProblem(glob) === undefined),
  };
}

/** The problem of a rule's text in one line; undefined if it is a rule. */
export function ruleProblem(text: string, verdict: RuleVerdict): string | undefined {
  try {
    parseRule(text, verdict, "user");
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * The files that an engine can read and write under these rules. It asks about unsafe writes, and the gate
 * then answers by the rule.
 */
export function fileRules(
  { safe_to_write, deny_read }: Pick<FileRules, "safe_to_write" | "deny_read">,
  rules: readonly Rule[],
): FileRules {
  const protectedGlobs = [...patterns(rules, "ask", "write"), ...patterns(rules, "deny", "write")];
  return {
    safe_to_write: [...safe_to_write, ...protectedGlobs.map((glob) => ({ glob, safe: false }))],
    deny_read,
    read_rules: { deny: patterns(rules, "deny", "read"), ask: patterns(rules, "ask", "read") },
    tool_rules: toolRules(rules),
  };
}

/** The rules on tools. */
export function toolRules(rules: readonly Rule[]): NonNullable<FileRules["tool_rules"]> {
  return { deny: patterns(rules, "deny", "tool"), ask: patterns(rules, "ask", "tool") };
}

function patterns(rules: readonly Rule[], verdict: RuleVerdict, kind: RuleKind): string[] {
  return rules.flatMap((rule) => rule.verdict === verdict && rule.kind === kind ? [rule.pattern] : []);
}

/** Globs of the files that commands cannot see, because commands read without asking. */
export function hiddenFiles({ deny_read, read_rules }: FileRules): string[] {
  return [...deny_read, ...read_rules.deny, ...read_rules.ask];
}
