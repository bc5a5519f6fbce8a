/**
 * Patterns of permission rules on commands: the inside of `run(git diff *)`.
 *
 * A pattern consists of words. A `*` alone matches any number of words, including none; within a word it
 * matches any characters. Quotes group words with spaces, and a backslash escapes the next character. Pure.
 */
import { type CommandVerdict, judgeCommand } from "../command.ts";
import { hasSubcommands } from "./programs.ts";
import { riskyWords } from "./risky.ts";
import type { SimpleCommand } from "./walk.ts";

/** For each word of a pattern, the texts between its stars: `["", ""]` is a `*` alone. */
type Words = readonly (readonly string[])[];

const isAny = (texts: readonly string[]) => texts.length === 2 && texts.join("") === "";
const isExact = (words: Words) => words.every((texts) => texts.length === 1);

function read(pattern: string): Words {
  return readWords(pattern).words;
}

/** `open`: the unclosed quote, or an empty text. */
function readWords(pattern: string): { readonly words: Words; readonly open: string } {
  const words: string[][] = [];
  let texts: string[] | undefined;
  let open = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (open === "" && /\s/.test(char)) {
      texts = undefined;
      continue;
    }
    if (texts === undefined) words.push(texts = [""]);
    if (char === "\\" && open !== "'" && at + 1 < pattern.length) {
      texts.push((texts.pop() ?? "") + pattern.charAt(++at));
    } else if (open !== "" ? char === open : /['"]/.test(char)) open = open === "" ? char : "";
    else if (char === "*") texts.push("");
    else texts.push((texts.pop() ?? "") + char);
  }
  return { words, open };
}

/** A pattern's problem, as the end of a sentence; undefined if it is valid. */
export function patternProblem(pattern: string): string | undefined {
  const { words, open } = readWords(pattern);
  if (open !== "") return `needs a closing ${open}`;
  return words.length === 0 ? "is empty" : undefined;
}

/**
 * Marks before words: the second one is for words that a rule has to name. No `*` alone matches such a word,
 * but one within the word may match an option's value: `--output=*`.
 */
const [FREE, NAMED] = ["\0", "\x01"];
const CHAR = `[^${FREE}${NAMED}]`;
const ANY_MARK = new RegExp(`[${FREE}${NAMED}]`, "g");

function matches(pattern: Words, words: readonly string[], isRisky: readonly boolean[] = []): boolean {
  let groups = 0;
  // A gap matches as little as possible and never backtracks, so that matching is linear.
  const join = ([first = "", ...rest]: readonly string[], gap: string): string => {
    const last = rest.pop();
    const once = rest.map((text) => `(?=(?<g${++groups}>${gap}?${text}))\\k<g${groups}>`);
    return [first, ...once, last === undefined ? "" : gap + last].join("");
  };
  const word = (texts: readonly string[]) => {
    const start = texts.length === 1 || /^-[^=]*=/.test(texts[0] ?? "") ? `[${FREE}${NAMED}]` : FREE;
    return `${start}${join(texts.map((text) => RegExp.escape(text)), `${CHAR}*`)}(?!${CHAR})`;
  };
  const segments = [""];
  for (const texts of pattern) segments.push(isAny(texts) ? "" : (segments.pop() ?? "") + word(texts));
  const expression = new RegExp(`^${join(segments, `(?:${FREE}${CHAR}*)*`)}$`, "s");
  const line = words.map((word, at) =>
    (isRisky[at] === true ? NAMED : FREE) + word.replaceAll(ANY_MARK, " ")
  );
  return expression.test(line.join(""));
}

/**
 * Whether an allow rule with this pattern covers the command of a plain line: exactly these words, and
 * nothing risky that the rule does not name. Only a rule without `*` covers a command that starts another
 * one; no rule covers one that runs its input. A rule on a read-only program,
 * such as `cat *`, does not cover reading secrets.
 */
export function covers(pattern: string, command: SimpleCommand): boolean {
  const { words, severity, level, starts } = command;
  const wanted = read(pattern);
  if (words.length === 0 || starts === "input" || redefines(words)) return false;
  if (!matches(wanted, words, riskyWords(words))) return false;
  if (isExact(wanted)) return true;
  if (starts === "words") return false;
  const literals = literalWords(wanted);
  const [name = ""] = literals;
  if ((level === "look" && severity === "none") || literals.length === 0) return true;
  if (literals.length === 1 && hasSubcommands(name)) return true;
  const own = judgeCommand(quotePattern([...literals, "x"]));
  return own.severity !== "none" || own.access !== "look";
}

/** A command that changes the shell changes the meaning of later words. */
function redefines([name = "", ...args]: readonly string[]): boolean {
  if (name === "set") return !args.every((arg) => /^-[euxo]+$|^pipefail$/.test(arg));
  return REDEFINES.test(name) || (name === "printf" && args[0]?.startsWith("-v") === true);
}

const REDEFINES =
  /^(alias|unalias|eval|source|\.|trap|exec|enable|hash|shopt|export|declare|typeset|readonly|local|unset|read|mapfile|readarray|let|getopts|bind|complete|fc|history|coproc)$/;

/**
 * Whether an ask or deny rule with this pattern matches the command. Broader than {@link covers}: the
 * program's folder and case are ignored, and so is everything around it.
 */
export function touches(pattern: string, command: SimpleCommand): boolean {
  const [name, ...args] = command.words;
  if (name === undefined) return false;
  const wanted = read(pattern);
  const base = name.slice(name.lastIndexOf("/") + 1);
  const names = [...new Set([name, base, base.toLowerCase()])];
  return withoutLeadingOptions(args).some((rest) => names.some((one) => matches(wanted, [one, ...rest])));
}

const MOST_LEADING = 16;
/** Excludes flags that many programs share, and options that include their value. */
const MAY_TAKE = /^-(?!-no-|-silent$|-quiet$|-verbose$|-bare$|[qvsPp]$)[^=]*$/;

/** `git --no-pager -c a=b push` is a push: returns the arguments, and each rest without leading options. */
function withoutLeadingOptions(args: readonly string[]): readonly (readonly string[])[] {
  const found = [args];
  for (let at = 0; at < Math.min(args.length, MOST_LEADING); at++) {
    // An option, or a possible value of the one before it.
    const skips = /^[-+]./.test(args[at] ?? "") || (at > 0 && MAY_TAKE.test(args[at - 1] ?? ""));
    if (!skips) break;
    found.push(args.slice(at + 1));
  }
  return found;
}

/** The words of a pattern up to its first `*`, with the literal beginning of the word that contains it. */
function literalWords(pattern: Words): readonly string[] {
  const end = pattern.findIndex((texts) => texts.length > 1);
  const last = pattern[end];
  const whole = pattern.slice(0, last === undefined ? undefined : end).flat();
  return last === undefined || isAny(last) ? whole : [...whole, last.join("")];
}

/**
 * How narrow a pattern is: the higher one wins. Counts literal characters; a pattern without `*` is the
 * narrowest.
 */
export function specificity(pattern: string): number {
  const words = read(pattern);
  const literal = words.filter((texts) => !isAny(texts)).reduce(
    (sum, texts) => sum + texts.join("").length + 1,
    0,
  );
  return isExact(words) && words.length > 0 ? literal + 10_000 : literal;
}

/** A pattern that means exactly these words. */
export function quotePattern(words: readonly string[]): string {
  return words.map((word) => {
    const escaped = word.replace(/[\\*]/g, "\\$&");
    if (word !== "" && !/[\s'"]/.test(word)) return escaped;
    return `"${escaped.replaceAll('"', '\\"')}"`;
  }).join(" ");
}

/** The simple commands that rules have to cover. */
export function ownCommands({ commands }: CommandVerdict): readonly SimpleCommand[] {
  return commands.filter(({ inner, words }) => !inner && words.length > 0);
}
