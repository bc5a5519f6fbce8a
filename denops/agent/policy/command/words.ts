/**
 * Expands words as bash does, as far as that can be known before the line runs. What cannot is marked UNKNOWN.
 *
 * A variable may have several values (a loop, a branch): a word then has several ways to come out. Pure.
 */
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from "unbash";
import { expandBraces } from "./braces.ts";
import { UNKNOWN } from "./places.ts";

/** Separates the words of an array or of "$@" inside of one value. No shell text can hold it. */
export const BREAK = "\0";

export interface Field {
  readonly value: string;
  /** Not all of it stands in the text: variables, substitutions. */
  readonly expanded: boolean;
  /** Holds unquoted * ? [ and so stands for the names of files. */
  readonly glob: boolean;
}

export interface Surroundings {
  /** The values that a variable may have; UNKNOWN among them if it may have others. */
  variable(name: string): readonly string[];
  /** What `$(…)` prints, if that is known. */
  output(script: ParsedScript): readonly string[] | undefined;
  /** Characters at which an unquoted expansion is split, for a line that sets IFS; as a character class. */
  readonly separators: RegExp;
}

interface Piece {
  readonly text: string;
  readonly quoted: boolean;
  readonly expanded: boolean;
  readonly glob: boolean;
}

/** More ways than these are cut off. */
const MOST_WAYS = 6;
/** Longer words only come from variables that hold each other. */
const LONGEST = 20_000;

const plain = (text: string): Piece => ({ text, quoted: true, expanded: false, glob: false });

/** @return the ways in which the word may come out, each a list of fields; at least one way */
export function expandWord(word: Word, around: Surroundings): readonly (readonly Field[])[] {
  const parts = word.parts;
  if (parts === undefined) return [[{ value: word.value, expanded: false, glob: false }]];
  const lists = parts.some((part) => part.type === "BraceExpansion") ? expandBraces(parts) : [parts];
  if (lists === undefined) return [[{ value: UNKNOWN, expanded: true, glob: true }]];
  let ways: (readonly Field[])[] = [[]];
  for (const list of lists) {
    const next = ways.flatMap((way) =>
      piecesOf(list, false, around).map((pieces) => [...way, ...split(pieces, around.separators)])
    );
    ways = next.slice(0, MOST_WAYS);
  }
  return ways;
}

/** The word as one text, for what is not split: assignments, redirections, here-strings. */
export function expandText(word: Word, around: Surroundings): readonly string[] {
  return expandWord(word, around).map((fields) => fields.map((field) => field.value).join(" "));
}

/** All ways in which a list of words may come out, the most telling first. */
export function combine(words: readonly (readonly (readonly Field[])[])[]): readonly (readonly Field[])[] {
  const ways = Math.min(MOST_WAYS * 2, words.reduce((product, word) => product * word.length, 1));
  return Array.from({ length: ways }, (_, index) => {
    let rest = index;
    return words.flatMap((word) => {
      const way = word[rest % word.length] ?? [];
      rest = Math.floor(rest / word.length);
      return way;
    });
  });
}

/** The text of a here-document's body; where it may be one of several, all of them, one after the other. */
export function expandParts(parts: readonly WordPart[], around: Surroundings): string {
  const texts = piecesOf(parts, true, around).map((pieces) => {
    const long = pieces.reduce((sum, piece) => sum + (piece.expanded ? piece.text.length : 0), 0) > LONGEST;
    return pieces.map((piece) => long && piece.expanded ? UNKNOWN : piece.text).join("");
  });
  return texts.join("\n").replaceAll(BREAK, " ");
}

function piecesOf(
  parts: readonly WordPart[],
  quoted: boolean,
  around: Surroundings,
): readonly (readonly Piece[])[] {
  let ways: Piece[][] = [[]];
  for (const part of parts) {
    const choices = pieceOf(part, quoted, around);
    const [only] = choices;
    if (only !== undefined && choices.length === 1) { for (const way of ways) way.push(...only); }
    else ways = ways.flatMap((way) => choices.map((choice) => [...way, ...choice])).slice(0, MOST_WAYS);
  }
  return ways;
}

function pieceOf(part: WordPart, quoted: boolean, around: Surroundings): readonly (readonly Piece[])[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [[plain(part.value)]];
    case "DoubleQuoted":
    case "LocaleString":
      // The quotes alone make a word, if only an empty one.
      return piecesOf(part.parts, true, around).map((pieces) => [plain(""), ...pieces]);
    case "Glob":
      return [[{ ...plain(part.value), glob: true }]];
    case "ExtendedGlob":
      return [[{ ...plain("*"), glob: true }]];
    case "SimpleExpansion":
      return parameter(part.text.slice(1), quoted, around);
    case "ParameterExpansion":
      return parameterOf(part, quoted, around);
    case "CommandExpansion": {
      const known = part.script === undefined ? undefined : around.output(part.script);
      return ways(known ?? [UNKNOWN], quoted);
    }
    case "ProcessSubstitution":
      return ways([`/dev/fd/${UNKNOWN}`], true);
    case "ArithmeticExpansion":
    case "BraceExpansion":
      return ways([UNKNOWN], quoted);
  }
}

function ways(values: readonly string[], quoted: boolean): readonly (readonly Piece[])[] {
  return values.map((text) => [{ text, quoted, expanded: true, glob: !quoted && /[*?[]/.test(text) }]);
}

/** Unquoted, any piece of IFS stands between words: `rm${IFS}-rf${IFS}/`. */
function parameter(name: string, quoted: boolean, around: Surroundings) {
  if (name === "IFS" && !quoted) return ways([" "], false);
  const values = around.variable(name);
  // "$*" is one word, "$@" as many as there are.
  return ways(name === "*" && quoted ? values.map((value) => value.replaceAll(BREAK, " ")) : values, quoted);
}

function parameterOf(part: ParameterExpansionPart, quoted: boolean, around: Surroundings) {
  if (part.prefix !== undefined) return ways([UNKNOWN], quoted);
  if (part.parameter === "IFS" && !quoted) return ways([" "], false);
  const index = part.index?.value;
  const values = around.variable(part.parameter).map((value) =>
    index === "*" && quoted ? value.replaceAll(BREAK, " ") : value
  );
  const elements = index === "@" || index === "*" || /^[@*]$/.test(part.parameter)
    ? values
    : values.flatMap((value) => value.split(BREAK));
  return ways(operate(part, elements, around).slice(0, MOST_WAYS), quoted);
}

function operate(
  { operation }: ParameterExpansionPart,
  values: readonly string[],
  around: Surroundings,
): readonly string[] {
  if (operation === undefined) return values;
  switch (operation.type) {
    case "Default":
      return operation.operator.endsWith("?")
        ? values
        : [...new Set([...expandText(operation.operand, around), ...values])];
    case "CaseModification": {
      const change = operation.operator;
      if (operation.operand !== undefined || change.length === 1) return [UNKNOWN];
      return values.map((value) => change === "^^" ? value.toUpperCase() : value.toLowerCase());
    }
    case "Slice": {
      const from = operation.offset.value.trim();
      const length = operation.length?.value.trim() ?? "999999";
      if (!/^\d+$/.test(from) || !/^\d+$/.test(length)) return [UNKNOWN];
      return values.map((value) =>
        value.includes(UNKNOWN) ? UNKNOWN : value.slice(Number(from), Number(from) + Number(length))
      );
    }
    case "Replace": {
      const [from, to] = [operation.pattern, operation.replacement];
      if (!isPlain(from) || !isPlain(to) || from.value === "") return [UNKNOWN];
      return values.map((value) =>
        operation.operator === "//"
          ? value.replaceAll(from.value, to.value)
          : operation.operator === "/"
          ? value.replace(from.value, () => to.value)
          : UNKNOWN
      );
    }
    default:
      return [UNKNOWN];
  }
}

/** No expansion and nothing that a pattern would read otherwise. */
function isPlain(word: Word): boolean {
  return word.parts === undefined && !/[*?[\]\\&]/.test(word.value);
}

function split(pieces: readonly Piece[], separators: RegExp): readonly Field[] {
  const fields: Field[] = [];
  let open: Field | undefined;
  const close = () => {
    if (open !== undefined) fields.push(open);
    open = undefined;
  };
  for (const { text, quoted, expanded, glob } of pieces) {
    const chunks = quoted ? text.split(BREAK) : text.split(separators);
    for (const [index, chunk] of chunks.entries()) {
      if (index > 0) close();
      if (chunk === "" && !quoted) continue;
      const value: string = (open?.value ?? "") + chunk;
      open = {
        value: value.length > LONGEST ? UNKNOWN : value,
        expanded: expanded || (open?.expanded ?? false),
        glob: glob || (open?.glob ?? false),
      };
    }
  }
  close();
  return fields;
}
