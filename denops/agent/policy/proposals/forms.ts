/** The rules that would have answered one request of the log as the user did, from narrow to wide. Pure. */
import { rulesIn } from "../../protocol/access.ts";
import { judgeCommand, type SimpleCommand } from "../command.ts";
import { ownCommands } from "../command/rules.ts";
import type { Circumstances } from "../decide.ts";
import { literalGlob } from "../glob.ts";
import { parseRule, type Rule, ruleProblem, ruleText } from "../rules.ts";
import { judgeCase, lineOf, type LoggedCase, suggestionFor } from "./cases.ts";
import { coversSensitive, folderGlob, isSensitive } from "./files.ts";
import { exactPatterns, starPattern } from "./patterns.ts";

export interface RuleForms {
  readonly logged: LoggedCase;
  /** For exactly this line, file, host or tool. */
  readonly exact: readonly string[];
  /** For a line of one command that may have other arguments: the command, its kinds of rules, the gate's proposal. */
  readonly line?: {
    readonly command: SimpleCommand;
    readonly kinds: readonly Rule["kind"][];
    readonly usual: readonly string[];
  };
  /** For one file: the glob of its folder. */
  readonly folder?: string;
}

type ProposedVerdict = "allow" | "deny";

/** Undefined: no rule should answer this. @param rules of the project, and those that the user does not want */
export function formsOf(
  logged: LoggedCase,
  rules: readonly Rule[],
  base: Circumstances,
): RuleForms | undefined {
  if (judgeCase(logged, rules, base, logged.end === "allowed").verdict !== "ask") return undefined;
  const forms = logged.end === "allowed" ? allowForms(logged, rules, base) : denyForms(logged);
  if (forms === undefined) return undefined;
  const verdict = verdictOf(logged);
  if (!forms.exact.every((text) => ruleProblem(text, verdict) === undefined)) return undefined;
  const added = [...rules, ...forms.exact.map((text) => parseRule(text, verdict, "project"))];
  return judgeCase(logged, added, base).verdict === verdict ? forms : undefined;
}

export function verdictOf({ end }: LoggedCase): ProposedVerdict {
  return end === "rejected" ? "deny" : "allow";
}

function allowForms(
  logged: LoggedCase,
  rules: readonly Rule[],
  base: Circumstances,
): RuleForms | undefined {
  const { access } = logged;
  const suggestion = suggestionFor(logged, rules, base);
  if (suggestion === undefined) return undefined;
  const usual = rulesIn(suggestion);
  const line = lineOf(access);
  if (line !== undefined) return lineForms(logged, line, usual);
  if (access.kind !== "file") return { logged, exact: usual };
  const writes = access.files.filter((file) => file.access === "write");
  if (writes.some((file) => isSensitive(file, base.files))) return undefined;
  const [glob] = writes.flatMap(({ path }) => folderGlob(path.named) ?? []);
  const isPlain = glob !== undefined && !coversSensitive(glob, base.files);
  return { logged, exact: usual, ...isPlain ? { folder: ruleText({ kind: "write", pattern: glob }) } : {} };
}

/** @param usual the gate's rules for the line */
function lineForms(logged: LoggedCase, line: string, usual: readonly string[]): RuleForms | undefined {
  const verdict = judgeCommand(line);
  const patterns = exactPatterns(verdict);
  if (patterns === undefined) return undefined;
  const kinds = [...new Set(usual.map((text) => parseRule(text, "allow", "project").kind))];
  const exact = kinds.flatMap((kind) => patterns.map((pattern) => ruleText({ kind, pattern })));
  // A rule that reads as a list cannot be added.
  if (exact.some((text) => rulesIn(text).length !== 1)) return undefined;
  const [command, ...others] = ownCommands(verdict);
  const hasOthers = command === undefined || others.length > 0 || starPattern(command) === undefined;
  return { logged, exact, ...hasOthers ? {} : { line: { command, kinds, usual } } };
}

/** A part of a line may be harmless elsewhere, so only lines of one command are denied. */
function denyForms(logged: LoggedCase): RuleForms | undefined {
  const { access } = logged;
  const line = lineOf(access);
  if (line !== undefined) {
    const verdict = judgeCommand(line);
    const patterns = ownCommands(verdict).length === 1 ? exactPatterns(verdict) : undefined;
    return patterns && { logged, exact: patterns.map((pattern) => ruleText({ kind: "run", pattern })) };
  }
  const of = (kind: Rule["kind"], pattern: string) => ({ logged, exact: [ruleText({ kind, pattern })] });
  // In a name, a star would mean more than this one.
  const named = (kind: Rule["kind"], name: string) => name.includes("*") ? undefined : of(kind, name);
  switch (access.kind) {
    case "file": {
      const [file, ...others] = access.files.filter((file) => file.access !== "list");
      if (file === undefined || others.length > 0) return undefined;
      const kind = file.access === "write" ? "write" : "read";
      const glob = folderGlob(file.path.named);
      const folder = glob === undefined ? {} : { folder: ruleText({ kind, pattern: glob }) };
      return { ...of(kind, literalGlob(file.path.named)), ...folder };
    }
    case "fetch":
      return of("fetch", URL.parse(access.url)?.host ?? "");
    case "search_web":
      return named("search_web", access.engine);
    case "mcp":
      return named("mcp", `${access.server}/${access.tool}`);
    case "agent":
      return named("agent", access.name);
    default:
      return undefined;
  }
}
