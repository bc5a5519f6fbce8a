/** Words as a shell will expand them, as far as the text alone says it; and whether there is anything to expand. Pure. */
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from "unbash";
import { UNKNOWN } from "./places.ts";

export interface Surroundings {
  /** The variables of which the line says the value. */
  readonly variables: ReadonlyMap<string, string>;
  /** What `$(…)` prints, if that is known. */
  output(script: ParsedScript): string | undefined;
}

/** Between the values that a variable has one after the other: each is a word of its own, even in quotes. */
export const BREAK = "\u{FFFB}";
/** Longer words only come from variables that hold each other. */
const LONGEST = 20_000;

interface Piece {
  readonly text: string;
  /** Whether spaces in it part words. */
  readonly splits: boolean;
}

const kept = (text: string): Piece => ({ text, splits: false });

/** True if the shell takes the word as it stands: nothing in it expands. */
export function isLiteral(word: Word): boolean {
  return !/(^|[=:])~/.test(word.text) && (word.parts ?? []).every(isLiteralPart);
}

function isLiteralPart(part: WordPart): boolean {
  return part.type === "Literal" || part.type === "SingleQuoted" ||
    (part.type === "DoubleQuoted" && part.parts.every(isLiteralPart));
}

/** @return the words that the shell makes of it, none if it is empty */
export function expandWord(word: Word, around: Surroundings): readonly string[] {
  if (word.parts === undefined) return [word.value];
  return split(word.parts.flatMap((part) => piecesOf(part, around)));
}

/** The word as one text, for what is not split: assignments, redirections, here-strings. */
export function expandText(word: Word, around: Surroundings): string {
  return expandWord(word, around).join(" ");
}

/** The text of a here-document's body. */
export function expandParts(parts: readonly WordPart[], around: Surroundings): string {
  return parts.flatMap((part) => piecesOf(part, around)).map(({ text }) => text).join("").replaceAll(
    BREAK,
    " ",
  );
}

function piecesOf(part: WordPart, around: Surroundings): readonly Piece[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Glob":
      return [kept(part.value)];
    case "DoubleQuoted":
    case "LocaleString":
      // The quotes alone make a word, if only an empty one.
      return [
        kept(""),
        ...part.parts.flatMap((inner) => piecesOf(inner, around)).map(({ text }) => kept(text)),
      ];
    case "SimpleExpansion":
      return [variable(part.text.slice(1), around)];
    case "ParameterExpansion":
      return [parameter(part, around)];
    case "CommandExpansion":
      return [{ text: (part.script && around.output(part.script)) ?? UNKNOWN, splits: true }];
    case "ProcessSubstitution":
      return [kept(`/dev/fd/${UNKNOWN}`)];
    case "ExtendedGlob":
    case "ArithmeticExpansion":
    case "BraceExpansion":
      return [kept(UNKNOWN)];
  }
}

function variable(name: string, { variables }: Surroundings): Piece {
  return { text: variables.get(name) ?? UNKNOWN, splits: true };
}

function parameter(
  { parameter, prefix, index, operation }: ParameterExpansionPart,
  around: Surroundings,
): Piece {
  const plain = variable(parameter, around);
  if (prefix !== undefined || (index !== undefined && !/^[@*]$/.test(index.value))) return kept(UNKNOWN);
  if (operation === undefined) return plain;
  if (operation.type !== "Default") return kept(UNKNOWN);
  if (operation.operator.endsWith("?") || plain.text !== UNKNOWN) return plain;
  return { text: expandText(operation.operand, around), splits: true };
}

function split(pieces: readonly Piece[]): readonly string[] {
  const words: string[] = [];
  let open: string | undefined;
  for (const { text, splits } of pieces) {
    for (const [index, chunk] of text.split(splits ? /[\s\u{FFFB}]+/u : BREAK).entries()) {
      if (index > 0) {
        if (open !== undefined) words.push(open);
        open = undefined;
      }
      if (chunk === "" && splits) continue;
      open = (open ?? "") + chunk;
      if (open.length > LONGEST) open = UNKNOWN;
    }
  }
  return open === undefined ? words : [...words, open];
}
