/** Lines that are not parsed, tokens that the parser skips, and the syntax of plain lines. Pure. */
import {
  forEachChild,
  type Function as FunctionNode,
  type ParsedScript,
  type SyntaxNode,
} from "../../deps/unbash.ts";

const DEEPEST = 60;
const LONGEST = 200_000;
const MOST_DOCUMENTS = 60;

/** Nesting without open brackets: function f function f …, $(case x in x) $(case x in x) … */
const CHAINS =
  /(?:\bfunction\s{1,9}\S{1,50}\s{1,9}){12}|(?:[^\s()]{1,50}\s{0,9}\(\s{0,9}\)\s{0,9}){12}|(?:[$<>]\(\s{0,9}case\b[^]{0,200}?){12}/;

/** Counts brackets without regard to quotes: cheap, and errs only on the safe side. */
export function isTooComplex(text: string): boolean {
  if (text.length > LONGEST) return true;
  let depth = 0;
  let documents = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if ("([{".includes(char) && ++depth > DEEPEST) return true;
    if (")]}".includes(char)) depth = Math.max(0, depth - 1);
    if (char === "<" && text.charAt(at + 1) === "<" && ++documents > MOST_DOCUMENTS) return true;
  }
  return CHAINS.test(text);
}

/**
 * The syntax of a line that an allow rule can cover; all other syntax expands, assigns, or changes the
 * meaning of words.
 */
export const PLAIN_SYNTAX: ReadonlySet<string> = new Set(
  `Script Statement Command Pipeline Negation AndOr If Elif While CompoundList Subshell BraceGroup Redirected
  Redirect FileDescriptor Word Literal SingleQuoted DoubleQuoted`.split(/\s+/),
);

/** The parser skips some tokens that bash does not: `env (`. The text between statements must be empty. */
export function leavesOut({ commands, pos, end }: ParsedScript, source: string): boolean {
  // The bodies of here-documents are there too.
  if (source.includes("<<")) return false;
  let at = pos;
  for (const statement of commands) {
    if (!BETWEEN.test(source.slice(at, statement.pos))) return true;
    at = Math.max(at, statement.end);
  }
  return !BETWEEN.test(source.slice(at, end));
}

const BETWEEN = /^(?:[\s;&]|\\\n|#[^\n]*)*$/;

/** A function that starts itself twice is a fork bomb. */
export function startsItself({ name, body }: FunctionNode): boolean {
  let calls = false;
  let spawns = false;
  const look = (node: SyntaxNode) => {
    calls ||= node.type === "Command" && node.name?.value === name.value;
    spawns ||= (node.type === "Statement" && node.background === true) || node.type === "Pipeline";
    forEachChild(node, look);
  };
  look(body);
  return calls && spawns;
}
