/** Finds the rule that decides: deny before ask before allow, then the most specific one. Pure. */
import { type RuleKind, rulesIn } from "../protocol/access.ts";
import { type CommandVerdict, judgeCommand } from "./command.ts";
import { covers, ownCommands, specificity, touches } from "./command/rules.ts";
import { type NamedPath, namesOf } from "./file_access.ts";
import { matchesGlob } from "./glob.ts";
import { allowsAny } from "./hosts.ts";
import { suggestPatterns } from "./proposals/patterns.ts";
import { hostMatches, nameMatches, namesExactly, toolMatches } from "./remote_rules.ts";
import { parseRule, type Rule, RULE_SOURCES, RULE_VERDICTS, ruleText, type RuleVerdict } from "./rules.ts";

/** The rule that decides on a file; undefined if none matches. */
export function fileRule(
  rules: readonly Rule[],
  kind: "read" | "write",
  path: NamedPath,
): Rule | undefined {
  const names = namesOf(path);
  return deciding(rules, kind, (pattern, verdict) => {
    const matches = (name: string) => matchesGlob(pattern, name);
    // A file denied under one of a link's names is denied; an allowed file must be allowed under both.
    return verdict === "allow" ? names.every(matches) : names.some(matches);
  });
}

export type LineRules =
  | { readonly verdict: "deny" | "ask"; readonly rule: Rule }
  /** Every simple command of the line is allowed by one of these. */
  | { readonly verdict: "allow"; readonly rules: readonly Rule[] };

/**
 * Kinds of rules on command lines: for read-only commands and writes, for writing git's data, and for the
 * network.
 */
type LineRuleKind = Extract<RuleKind, "run" | "git" | "network">;

/** The rules' verdict on a command line: deny or ask if they match any part, allow only if they match all. */
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
 * The rules that "always allow" would write, such as `run(npm test *)`: one for each different command.
 * Together they cover the line.
 *
 * @return undefined if none is sensible: critical lines, text that is unknown before the line runs, output
 * into files
 */
export function suggestRules(line: CommandVerdict, kind: LineRuleKind): readonly string[] | undefined {
  const rules = suggestPatterns(line)?.map((pattern) => ruleText({ kind, pattern }));
  // A rule that reads as a list cannot be added.
  return rules?.every((rule) => rulesIn(rule).length === 1) === true ? rules : undefined;
}

/** Why these rules do not allow a command line, as half a sentence. @param allow texts of valid rules */
export function uncovered(allow: readonly string[], command: string): string {
  const rules = allow.map((text) => parseRule(text, "allow", "user")).filter(({ kind }) => kind === "run");
  const line = judgeCommand(command);
  const own = ownCommands(line);
  if (!line.plain || own.length === 0) return "no --allow can cover this line";
  const other = own.find((command) => !rules.some(({ pattern }) => covers(pattern, command)));
  return other === undefined
    ? "no --allow applies to this line"
    : `no --allow covers ${other.words.join(" ")}`;
}

/** The rule that decides on fetching an address; undefined if none matches. */
export function fetchRule(rules: readonly Rule[], url: string): Rule | undefined {
  return deciding(rules, "fetch", (pattern) => hostMatches(pattern, url));
}

/** Whether a rule names exactly this host, which may then be one of this machine or its network. */
export function opensHost(rules: readonly Rule[], url: string): boolean {
  if (fetchRule(rules, url)?.verdict === "deny") return false;
  return rules.some(({ kind, verdict, pattern }) =>
    kind === "fetch" && verdict !== "deny" && namesExactly(pattern, url)
  );
}

/** The rule that decides on searching with an engine; undefined if none matches. */
export function searchRule(rules: readonly Rule[], engine: string): Rule | undefined {
  return deciding(rules, "search_web", (pattern) => nameMatches(pattern, engine));
}

/**
 * The hosts that commands without network can reach, as policy/hosts.ts reads them. Hosts that a rule denies or asks about
 * are excluded. Empty if no host is left.
 */
export function openHosts(rules: readonly Rule[]): readonly string[] {
  const own = rules.filter(({ kind }) => kind === "host");
  const open = own.filter(({ verdict }) => verdict === "allow").map(({ pattern }) => pattern);
  const closed = own.filter(({ verdict }) => verdict !== "allow").map(({ pattern }) => `!${pattern}`);
  const patterns = [...new Set([...open.sort(), ...closed.sort()])];
  return allowsAny(patterns) ? patterns : [];
}

/** The rule that decides on a tool call of an MCP server; undefined if none matches. */
export function mcpRule(rules: readonly Rule[], server: string, tool: string): Rule | undefined {
  return deciding(rules, "mcp", (pattern) => toolMatches(pattern, server, tool));
}

/**
 * The rule that decides on starting an agent; undefined if none matches. @param name of a mode, or of a
 * foreign agent
 */
export function agentRule(rules: readonly Rule[], name: string): Rule | undefined {
  return deciding(rules, "agent", (pattern) => nameMatches(pattern, name));
}

/** Of the matching rules: deny before ask before allow, then the most specific, then the strongest source. */
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
