/**
 * Patterns of permission rules on commands: the inside of `run(git diff *)`.
 *
 * A pattern is words. `*` alone stands for any number of words, none too; within a word for any characters of it.
 * Quotes hold words with spaces together, a backslash takes the meaning from what follows. Pure.
 */
import { judgeCommand } from "../command.ts";
import { hasSubcommands } from "./programs.ts";
import { riskyWords } from "./risky.ts";
import type { SimpleCommand } from "./walk.ts";

/** One word of a pattern: literal texts with anything between them. */
type Piece = { readonly kind: "any" } | { readonly kind: "word"; readonly texts: readonly string[] };

function read(pattern: string): readonly Piece[] {
  return readPieces(pattern).pieces;
}

/** `open`: the quote that is never closed, or nothing. */
function readPieces(pattern: string): { readonly pieces: readonly Piece[]; readonly open: string } {
  const pieces: Piece[] = [];
  let texts: string[] = [""];
  let started = false;
  let quote = "";
  const add = (char: string) => {
    texts.push((texts.pop() ?? "") + char);
    started = true;
  };
  const end = () => {
    if (started) {
      pieces.push(texts.length === 2 && texts.join("") === "" ? { kind: "any" } : { kind: "word", texts });
    }
    texts = [""];
    started = false;
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (char === "\\" && quote !== "'" && at + 1 < pattern.length) add(pattern.charAt(++at));
    else if (quote !== "" && char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) {
      quote = char;
      started = true;
    } else if (char === "*") {
      texts.push("");
      started = true;
    } else if (quote === "" && /\s/.test(char)) end();
    else add(char);
  }
  end();
  return { pieces, open: quote };
}

/** What is wrong with a pattern, as the end of a sentence; undefined if nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const { pieces, open } = readPieces(pattern);
  if (open !== "") return `needs a closing ${open}`;
  return pieces.length === 0 ? "is empty" : undefined;
}

/** The texts must occur in this order, the first at the start, the last at the end. */
function matchesWord(texts: readonly string[], word: string): boolean {
  const [first = "", ...rest] = texts;
  if (rest.length === 0) return word === first;
  const last = rest.pop() ?? "";
  if (!word.startsWith(first) || word.length < first.length + last.length || !word.endsWith(last)) {
    return false;
  }
  const end = word.length - last.length;
  let at = first.length;
  for (const text of rest) {
    const found = word.indexOf(text, at);
    if (found < 0 || found + text.length > end) return false;
    at = found + text.length;
  }
  return true;
}

/**
 * Goes back to the last `*` where it fails: linear in practice, never worse than words × pieces.
 * @param named words that have to be named: no `*` stands for them
 */
function matchesWords(
  pieces: readonly Piece[],
  words: readonly string[],
  named: readonly boolean[] = [],
): boolean {
  let [piece, word] = [0, 0];
  let star = -1;
  let from = 0;
  while (word < words.length) {
    const current = pieces[piece];
    if (current?.kind === "word" && fits(current.texts, words[word] ?? "", named[word] === true)) {
      piece++;
      word++;
    } else if (current?.kind === "any") {
      star = piece++;
      from = word;
    } else if (star >= 0 && named[from] !== true) {
      piece = star + 1;
      word = ++from;
    } else return false;
  }
  return pieces.slice(piece).every(({ kind }) => kind === "any");
}

/** Of a word that has to be named the `*` may stand for an option's value alone: `--output=*`. */
function fits(texts: readonly string[], word: string, named: boolean): boolean {
  return matchesWord(texts, word) && (!named || texts.length === 1 || /^-[^=]*=/.test(texts[0] ?? ""));
}

/**
 * True if an allow rule of this pattern covers the command, of a line that is plain: exactly these words, and nothing
 * besides that the rule does not name. What starts another command is covered by a rule without `*` only, and what runs
 * its input by none. A rule on what only reads, such as `git diff *` or `cat *`, is meant for reading what is no secret.
 */
export function covers(pattern: string, command: SimpleCommand): boolean {
  const { words, severity, level, starts } = command;
  const pieces = read(pattern);
  if (words.length === 0 || starts === "input" || redefines(words)) return false;
  if (!matchesWords(pieces, words, riskyWords(words))) return false;
  if (pieces.every((piece) => piece.kind === "word" && piece.texts.length === 1)) return true;
  if (starts === "words") return false;
  const named = literalWords(pieces);
  const [name = ""] = named;
  if ((level === "look" && severity === "none") || named.length === 0) return true;
  if (named.length === 1 && hasSubcommands(name)) return true;
  const own = judgeCommand(quotePattern([...named, "x"]));
  return own.severity !== "none" || own.access !== "look";
}

/** What changes the shell itself changes what the words after it mean. */
function redefines([name = "", ...args]: readonly string[]): boolean {
  if (name === "set") return !args.every((arg) => /^-[euxo]+$|^pipefail$/.test(arg));
  return REDEFINES.test(name) || (name === "printf" && args[0]?.startsWith("-v") === true);
}

const REDEFINES =
  /^(alias|unalias|eval|source|\.|trap|exec|enable|hash|shopt|export|declare|typeset|readonly|local|unset|read|mapfile|readarray|let|getopts|bind|complete|fc|history|coproc)$/;

/**
 * True if an ask or deny rule of this pattern touches the command. More generous than {@link covers}:
 * the program counts whatever its folder and its case, and nothing around it takes it out of the rule.
 */
export function touches(pattern: string, command: SimpleCommand): boolean {
  const [name, ...args] = command.words;
  if (name === undefined) return false;
  const pieces = read(pattern);
  const base = name.slice(name.lastIndexOf("/") + 1);
  const names = [...new Set([name, base, base.toLowerCase()])];
  return withoutLeadingOptions(args).some((rest) =>
    names.some((one) => matchesWords(pieces, [one, ...rest]))
  );
}

const MOST_LEADING = 16;
/** Not flags as they are common to many programs, nor options that have their value with them. */
const MAY_TAKE = /^-(?!-no-|-silent$|-quiet$|-verbose$|-bare$|[qvsPp]$)[^=]*$/;

/** `git --no-pager -c a=b push` is a push: the arguments, and all that is left of them without options in front. */
function withoutLeadingOptions(args: readonly string[]): readonly (readonly string[])[] {
  const found = [args];
  for (let at = 0; at < Math.min(args.length, MOST_LEADING); at++) {
    // An option, or what may be the value of the one before it.
    const skips = /^[-+]./.test(args[at] ?? "") || (at > 0 && MAY_TAKE.test(args[at - 1] ?? ""));
    if (!skips) break;
    found.push(args.slice(at + 1));
  }
  return found;
}

/** The words of a pattern up to its first `*`; of a word that holds one, what stands in it. */
function literalWords(pieces: readonly Piece[]): readonly string[] {
  const words: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === "any") break;
    words.push(piece.texts.join(""));
    if (piece.texts.length > 1) break;
  }
  return words;
}

/** How narrow a pattern is: the higher wins. Literal characters count, and a pattern without `*` most. */
export function specificity(pattern: string): number {
  const pieces = read(pattern);
  const literal = pieces.reduce(
    (sum, piece) => sum + (piece.kind === "word" ? piece.texts.join("").length + 1 : 0),
    0,
  );
  const exact = pieces.every((piece) => piece.kind === "word" && piece.texts.length === 1);
  return exact && pieces.length > 0 ? literal + 10_000 : literal;
}

/** A pattern that means exactly these words. */
export function quotePattern(words: readonly string[]): string {
  return words.map((word) => {
    const escaped = word.replace(/[\\*]/g, "\\$&");
    if (word !== "" && !/[\s'"]/.test(word)) return escaped;
    return `"${escaped.replaceAll('"', '\\"')}"`;
  }).join(" ");
}
