/**
 * The user's own rules: allow, ask and deny lists of patterns such as `run(git diff *)`, `write(src/**)`,
 * `read(.env)`, `network(npm install *)`, `fetch(docs.python.org)`, `mcp(server/tool)`, `agent(explore)`. deny > ask > allow; within a
 * list the most specific is named. Pure.
 */
import { messageOf } from "../shared/errors.ts";
import type { CommandVerdict } from "./command.ts";
import {
  covers,
  ownCommands,
  patternProblem,
  specificity,
  suggestPatterns,
  touches,
} from "./command/rules.ts";
import { RULE_KINDS, type RuleKind } from "../protocol/access.ts";
import type { FileRules, SafeToWrite } from "../protocol/config.ts";
import { globProblem, matchesGlob } from "./glob.ts";
import {
  agentMatches,
  agentProblem,
  hostMatches,
  hostProblem,
  toolMatches,
  toolProblem,
} from "./remote_rules.ts";
import { type NamedPath, namesOf } from "./file_access.ts";

/** Strongest first. */
export const RULE_SOURCES = ["session", "project", "user"] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

/** Strongest last. */
export const RULE_VERDICTS = ["allow", "ask", "deny"] as const;
export type RuleVerdict = (typeof RULE_VERDICTS)[number];

export interface Rule {
  readonly verdict: RuleVerdict;
  readonly kind: RuleKind;
  /** A glob of paths, a pattern of one simple command, a host, server/tool, or a mode's or an agent's name. */
  readonly pattern: string;
  readonly source: RuleSource;
}

/** "run(git diff *)" */
export function ruleText(rule: Pick<Rule, "kind" | "pattern">): string {
  return `${rule.kind}(${rule.pattern})`;
}

/** The rule of a text. @throws {Error} one line: which rule, and what is wrong with it. */
export function parseRule(text: string, verdict: RuleVerdict, source: RuleSource): Rule {
  const [, kind, inside] = /^\s*(\w+)\((.*)\)\s*$/s.exec(text) ?? [];
  const pattern = inside?.trim();
  const known = RULE_KINDS.find((name) => name === kind);
  if (known === undefined || pattern === undefined || /[\r\n]/.test(pattern)) {
    const shown = text.replace(/\s+/g, " ").slice(0, LONGEST_SHOWN);
    throw new Error(`Not a rule: ${shown}. Rules look like run(git diff *), write(src/**) or read(docs/**).`);
  }
  const problem = PROBLEMS[known](pattern);
  if (problem !== undefined) {
    throw new Error(`Not a rule: ${`${known}(${pattern})`.slice(0, LONGEST_SHOWN)}. Its pattern ${problem}.`);
  }
  return { verdict, kind: known, pattern, source };
}

/** Characters of a wrong pattern that a message shows. */
const LONGEST_SHOWN = 200;

const PROBLEMS: Readonly<Record<RuleKind, (pattern: string) => string | undefined>> = {
  run: patternProblem,
  git: patternProblem,
  network: patternProblem,
  read: globProblem,
  write: globProblem,
  fetch: hostProblem,
  mcp: toolProblem,
  agent: agentProblem,
};

/** The options that hold patterns. */
export interface PatternOptions {
  readonly rules: Readonly<Record<RuleVerdict, readonly string[]>>;
  readonly safe_to_write: readonly SafeToWrite[];
  readonly deny_read: readonly string[];
}

/** What is wrong with the patterns of the user's options, one line each: which option, which pattern, and what. */
export function patternProblems(options: PatternOptions): readonly string[] {
  const lists = RULE_VERDICTS.flatMap((verdict) =>
    options.rules[verdict].flatMap((text) => {
      try {
        parseRule(text, verdict, "user");
        return [];
      } catch (error) {
        return [`rules.${verdict}: ${messageOf(error)}`];
      }
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

/**
 * Which files an engine may read and write under these rules. It asks about writes that are not safe, and the gate
 * then answers by the rule.
 */
export function fileRules(
  { safe_to_write, deny_read }: Pick<FileRules, "safe_to_write" | "deny_read">,
  rules: readonly Rule[],
): FileRules {
  const globs = (verdict: RuleVerdict, kind: RuleKind) =>
    rules.flatMap((rule) => rule.verdict === verdict && rule.kind === kind ? [rule.pattern] : []);
  const asked = [...globs("ask", "write"), ...globs("deny", "write")];
  return {
    safe_to_write: [...safe_to_write, ...asked.map((glob) => ({ glob, safe: false }))],
    deny_read,
    read_rules: { deny: globs("deny", "read"), ask: globs("ask", "read") },
  };
}

/** Globs of all that commands do not see: a command reads without asking. */
export function hiddenFiles({ deny_read, read_rules }: FileRules): string[] {
  return [...deny_read, ...read_rules.deny, ...read_rules.ask];
}

/** The rule that decides on a file; undefined if none speaks of it. */
export function fileRule(
  rules: readonly Rule[],
  kind: "read" | "write",
  path: NamedPath,
): Rule | undefined {
  const names = namesOf(path);
  return deciding(rules, kind, (pattern, verdict) => {
    const matches = (name: string) => matchesGlob(pattern, name);
    // What is forbidden under one of a link's names is forbidden; what is allowed must be so under both.
    return verdict === "allow" ? names.every(matches) : names.some(matches);
  });
}

export type LineRules =
  | { readonly verdict: "deny" | "ask"; readonly rule: Rule }
  /** Every simple command of the line is allowed, each by one of these. */
  | { readonly verdict: "allow"; readonly rules: readonly Rule[] };

/** Kinds of rules on command lines: what runs in a look or writes, what has leave to write git's data, the network. */
export type LineRuleKind = Extract<RuleKind, "run" | "git" | "network">;

/** The verdict of the rules on a command line: deny or ask if they name any part, allow only if they name all. */
export function lineRules(
  rules: readonly Rule[],
  kind: LineRuleKind,
  line: CommandVerdict,
): LineRules | undefined {
  const against = deciding(
    rules,
    kind,
    (pattern, verdict) => verdict !== "allow" && line.commands.some((one) => touches(pattern, one)),
  );
  if (against !== undefined && against.verdict !== "allow") {
    return { verdict: against.verdict, rule: against };
  }
  const own = ownCommands(line);
  if (!line.plain || own.length === 0) return undefined;
  const allowing = own.map((command) =>
    deciding(rules, kind, (pattern, verdict) => verdict === "allow" && covers(pattern, command))
  );
  const found = allowing.flatMap((rule) => rule === undefined ? [] : [rule]);
  return found.length === allowing.length ? { verdict: "allow", rules: [...new Set(found)] } : undefined;
}

/**
 * The rules that "always allow" would write, such as `run(npm test *)`: one for each different command. Together they
 * cover the line.
 *
 * @return undefined where none is sensible: critical lines, text that is only known when it runs, output into files
 */
export function suggestRules(line: CommandVerdict, kind: LineRuleKind): readonly string[] | undefined {
  return suggestPatterns(line)?.map((pattern) => ruleText({ kind, pattern }));
}

/** The rule that decides on fetching an address; undefined if none speaks of it. */
export function fetchRule(rules: readonly Rule[], url: string): Rule | undefined {
  return deciding(rules, "fetch", (pattern) => hostMatches(pattern, url));
}

/** The rule that decides on calling a tool of an MCP server; undefined if none speaks of it. */
export function mcpRule(rules: readonly Rule[], server: string, tool: string): Rule | undefined {
  return deciding(rules, "mcp", (pattern) => toolMatches(pattern, server, tool));
}

/** The rule that decides on starting an agent; undefined if none speaks of it. @param name of a mode, or of a foreign agent */
export function agentRule(rules: readonly Rule[], name: string): Rule | undefined {
  return deciding(rules, "agent", (pattern) => agentMatches(pattern, name));
}

/** Of the rules that match: deny before ask before allow, then the most specific, then the strongest source. */
function deciding(
  rules: readonly Rule[],
  kind: RuleKind,
  matches: (pattern: string, verdict: RuleVerdict) => boolean,
): Rule | undefined {
  const matching = rules.filter((rule) => rule.kind === kind && matches(rule.pattern, rule.verdict));
  const strength = ({ verdict, pattern, source }: Rule) =>
    [RULE_VERDICTS.indexOf(verdict), specificity(pattern), -RULE_SOURCES.indexOf(source)] as const;
  return matching.toSorted((a, b) => {
    const [own, other] = [strength(a), strength(b)];
    return other[0] - own[0] || other[1] - own[1] || other[2] - own[2];
  })[0];
}
