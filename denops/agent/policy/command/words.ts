/** Expands words as a shell does, as far as the text determines the result, and detects expansions. Pure. */
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from "../../deps/unbash.ts";
import { UNKNOWN } from "./places.ts";

export interface ExpansionScope {
  /** The variables whose values the line sets. */
  readonly variables: ReadonlyMap<string, string>;
  /** The output of `$(…)`, if it is known. */
  output(script: ParsedScript): string | undefined;
}

/** Separates a variable's successive values: each is a word of its own, even in quotes. */
export const BREAK = "\u{FFFB}";
/** Precedes quoted text, which makes a word even if it is empty. */
const KEPT = "\u{FFFA}";
/** Longer words only result from variables that contain each other. */
const LONGEST = 20_000;

/** Whether the shell uses the word literally, without expansions. */
export function isLiteral(word: Word): boolean {
  return !/(^|[=:])~/.test(word.text) && (word.parts ?? []).every(isLiteralPart);
}

function isLiteralPart(part: WordPart): boolean {
  return part.type === "Literal" || part.type === "SingleQuoted" ||
    (part.type === "DoubleQuoted" && part.parts.every(isLiteralPart));
}

/** @return the words that the shell makes of it, none if it is empty */
export function expandWord(word: Word, around: ExpansionScope): readonly string[] {
  if (word.parts === undefined) return [word.value];
  const text = word.parts.map((part) => textOf(part, around)).join("");
  if (text.length > LONGEST) return [UNKNOWN];
  return text.split(BREAK).filter((one) => one !== "").map((one) => one.replaceAll(KEPT, ""));
}

/** The word as one text, where the shell does not split: assignments, redirections, here-strings. */
export function expandText(word: Word, around: ExpansionScope): string {
  return expandWord(word, around).join(" ");
}

/** The text of a here-document's body. */
export function expandParts(parts: readonly WordPart[], around: ExpansionScope): string {
  return parts.map((part) => textOf(part, around, true)).join("").replaceAll(KEPT, "").replaceAll(BREAK, " ");
}

/** @param quoted whether spaces in the expansion do not split words */
function textOf(part: WordPart, around: ExpansionScope, quoted = false): string {
  const expanded = (text: string) => quoted ? KEPT + text : text.replace(/\s+/g, BREAK);
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Glob":
      return KEPT + part.value;
    case "DoubleQuoted":
    case "LocaleString":
      return KEPT + part.parts.map((inner) => textOf(inner, around, true)).join("");
    case "SimpleExpansion":
      return expanded(around.variables.get(part.text.slice(1)) ?? UNKNOWN);
    case "ParameterExpansion":
      return expanded(parameter(part, around));
    case "CommandExpansion":
      return expanded((part.script && around.output(part.script)) ?? UNKNOWN);
    case "ProcessSubstitution":
      return `/dev/fd/${UNKNOWN}`;
    case "ExtendedGlob":
    case "ArithmeticExpansion":
    case "BraceExpansion":
      return UNKNOWN;
  }
}

function parameter(part: ParameterExpansionPart, around: ExpansionScope): string {
  const { parameter, prefix, index, operation } = part;
  const value = around.variables.get(parameter) ?? UNKNOWN;
  if (prefix !== undefined || (index !== undefined && !/^[@*]$/.test(index.value))) return UNKNOWN;
  if (operation === undefined) return value;
  if (operation.type !== "Default") return UNKNOWN;
  return operation.operator.endsWith("?") || value !== UNKNOWN
    ? value
    : expandText(operation.operand, around);
}
