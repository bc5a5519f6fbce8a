/** Whether a hook is for an event. Source: code.claude.com/docs/en/hooks, "Matcher patterns" and "Common fields". Pure. */
import { isRecord } from "../../shared/records.ts";

/** Names only, or a list of them. */
const NAMES = /^[\w\s,|-]+$/;
const LONGEST = 500;
/** A repeated group that repeats something: it can take forever. */
const NESTED = /\([^)]*[+*{][^)]*\)[+*{]/;

/** Half a sentence; undefined if the matcher can be used. */
export function matcherProblem(matcher: string): string | undefined {
  if (matcher.length > LONGEST) return `its matcher has more than ${LONGEST} characters`;
  if (isNames(matcher)) return undefined;
  if (NESTED.test(matcher)) return "its matcher repeats a group that repeats something";
  try {
    new RegExp(matcher);
    return undefined;
  } catch {
    return "its matcher is not a regular expression";
  }
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
/** Between two commands of a line. */
const BETWEEN = /&&|\|\||[;|&\n]/;
/** The field of a tool that a rule is about. */
const FIELDS = ["command", "file_path", "notebook_path", "url", "pattern", "path"];

/** Whether a call matches the rule of a hook. A rule that cannot be read matches every call. */
export function matchesRule(rule: string, tool: string, input: Readonly<Record<string, unknown>>): boolean {
  const [, name, pattern] = RULE.exec(rule.trim()) ?? [];
  if (name === undefined) return true;
  if (!globMatches(name, tool)) return false;
  if (pattern === undefined || !isRecord(input)) return true;
  const text = FIELDS.map((field) => input[field]).find((value) => typeof value === "string");
  if (typeof text !== "string") return true;
  const parts = tool === "Bash" ? [text, ...text.split(BETWEEN)].map((part) => part.trim()) : [text];
  // "git push:*" is the older form of "git push *".
  const glob = pattern.replace(/:\*$/, "*").replace(/^\/\//, "/");
  return parts.some((part) =>
    globMatches(glob, part) || globMatches(glob.replace(/ \*$/, ""), part) || globMatches(`*/${glob}`, part)
  );
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
