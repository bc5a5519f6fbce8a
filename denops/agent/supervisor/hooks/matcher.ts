/** Whether a hook is for an event. Source: code.claude.com/docs/en/hooks, "Matcher patterns" and "Common fields". Pure. */
import { judgeCommand } from "../../policy/command.ts";
import { touches } from "../../policy/command/rules.ts";
import { isRecord } from "../../shared/records.ts";

/** Names only, or a list of them. */
const NAMES = /^[\w\s,|-]+$/;
const LONGEST = 500;
/** Ways to match that a matcher may try. The approval of its hook comes later. */
const MOST_WAYS = 300_000;
/** Characters of a name of a tool, at most. */
const LONGEST_NAME = 64;

/** Half a sentence; undefined if the matcher can be used. */
export function matcherProblem(matcher: string): string | undefined {
  if (matcher.length > LONGEST) return `its matcher has more than ${LONGEST} characters`;
  if (isNames(matcher)) return undefined;
  try {
    new RegExp(matcher);
  } catch {
    return "its matcher is not a regular expression";
  }
  return waysOf(matcher) > MOST_WAYS ? "its matcher can take too long to compare" : undefined;
}

/** At most so many ways of matching a name are tried from each of its characters. Groups may not be repeated. */
function waysOf(matcher: string): number {
  const text = matcher.replace(/\\[^]/g, "x").replace(/\[[^\]]*\]/g, "x").replace(
    /\(\?(?:<?[=!]|:|<\w+>)/g,
    "(",
  );
  if (/\)[*+{]/.test(text)) return Infinity;
  const outer: { others: number; ways: number }[] = [];
  // Of the alternatives before, and of this one so far.
  let [others, ways] = [0, 1];
  for (const [mark] of text.matchAll(/[()|?*+{]/g)) {
    if (mark === "(") {
      outer.push({ others, ways });
      [others, ways] = [0, 1];
    } else if (mark === ")") {
      const before = outer.pop() ?? { others: 0, ways: 1 };
      [others, ways] = [before.others, before.ways * (others + ways)];
    } else if (mark === "|") [others, ways] = [others + ways, 1];
    else ways *= mark === "?" ? 2 : LONGEST_NAME;
  }
  return others + ways;
}

/** @param subject such as the name of a tool; undefined: the event has none, and every matcher fits */
export function matches(matcher: string, subject: string | undefined): boolean {
  if (subject === undefined || matcher === "" || matcher === "*") return true;
  if (isNames(matcher)) return matcher.split(/[|,]/).some((name) => name.trim() === subject);
  return new RegExp(matcher).test(subject);
}

function isNames(matcher: string): boolean {
  return matcher === "" || matcher === "*" || NAMES.test(matcher);
}

/** "Bash(git push *)" */
const RULE = /^([\w*-]+)(?:\(([^]*)\))?$/;
/** The field of a tool that a rule is about. */
const FIELDS = ["command", "file_path", "notebook_path", "url", "pattern", "path"];

/**
 * Whether a call matches the rule of a hook, for a command line: whether one of its commands does, at any depth. A rule
 * or a line that cannot be read matches.
 */
export function matchesRule(rule: string, tool: string, input: Readonly<Record<string, unknown>>): boolean {
  const [, name, pattern] = RULE.exec(rule.trim()) ?? [];
  if (name === undefined) return true;
  if (!globMatches(name, tool)) return false;
  if (pattern === undefined || !isRecord(input)) return true;
  const text = FIELDS.map((field) => input[field]).find((value) => typeof value === "string");
  if (typeof text !== "string") return true;
  // "git push:*" is the older form of "git push *".
  const glob = pattern.replace(/:\*$/, "*").replaceAll("**/", "*");
  // The folder before a path is not judged.
  const globs = [glob, glob.replace(/ \*$/, ""), `*/${glob.replace(/^[.~]?\/+/, "")}`];
  const { commands, parsed } = tool === "Bash" ? judgeCommand(text) : { commands: [], parsed: true };
  if (!parsed || commands.some((command) => touches(glob, command))) return true;
  const parts = [text, ...commands.map((command) => command.text)];
  return parts.some((part) => globs.some((one) => globMatches(one, part)));
}

/** `*` stands for any text. Linear: it looks for the pieces one after another. */
function globMatches(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob.replace(/\*+/g, "*").split("*");
  if (rest.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
