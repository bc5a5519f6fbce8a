/** Words as a shell will expand them, as far as the text alone says it; and whether there is anything to expand. Pure. */
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from "../../deps/unbash.ts";
import { UNKNOWN } from "./places.ts";

export interface ExpansionScope {
  /** The variables of which the line says the value. */
  readonly variables: ReadonlyMap<string, string>;
  /** The output of `$(…)`, if it is known. */
  output(script: ParsedScript): string | undefined;
}

/** Between the values that a variable has one after the other: each is a word of its own, even in quotes. */
export const BREAK = "\u{FFFB}";
/** Before what is kept as it is: even where it is empty, it makes a word. */
const KEPT = "\u{FFFA}";
/** Longer words only come from variables that hold each other. */
const LONGEST = 20_000;

/** True if the shell takes the word as it stands: nothing in it expands. */
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

/** The word as one text, for what is not split: assignments, redirections, here-strings. */
export function expandText(word: Word, around: ExpansionScope): string {
  return expandWord(word, around).join(" ");
}

/** The text of a here-document's body. */
export function expandParts(parts: readonly WordPart[], around: ExpansionScope): string {
  return parts.map((part) => textOf(part, around, true)).join("").replaceAll(KEPT, "").replaceAll(BREAK, " ");
}

/** @param quoted spaces in what it expands to part no words */
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
