/** Brace expansion, which bash does before all others: `{rm,-rf,/}` is three words. Pure. */
import { parse, type WordPart } from "unbash";

/** More than this many words from one is nothing that a person writes. */
const MOST = 64;

/** @return the lists of parts, one for each word that comes out; undefined if there are too many */
export function expandBraces(parts: readonly WordPart[]): readonly (readonly WordPart[])[] | undefined {
  let lists: (readonly WordPart[])[] = [[]];
  for (const part of parts) {
    const choices = part.type === "BraceExpansion" ? alternatives(part.text) : [[part]];
    if (choices === undefined || lists.length * choices.length > MOST) return undefined;
    lists = lists.flatMap((list) => choices.map((choice) => [...list, ...choice]));
  }
  return lists;
}

function alternatives(text: string): readonly (readonly WordPart[])[] | undefined {
  const inner = text.slice(1, -1);
  const range = rangeOf(inner);
  if (range !== undefined) return range.length > MOST ? undefined : range.map((value) => [literal(value)]);
  const lists: (readonly WordPart[])[] = [];
  for (const choice of splitAtCommas(inner)) {
    const expanded = expandChoice(choice);
    if (expanded === undefined) return undefined;
    lists.push(...expanded);
    if (lists.length > MOST) return undefined;
  }
  return lists;
}

function expandChoice(choice: string): readonly (readonly WordPart[])[] | undefined {
  if (/^[\w.\-/~=+:@%]*$/.test(choice)) return [[literal(choice)]];
  // What stands between the commas is a word of its own, with quotes, expansions and further braces.
  const script = parse(`: x${choice}`);
  const command = script.commands[0]?.command;
  const word = command?.type === "Command" && command.args.length === 1 ? command.args[0] : undefined;
  if (script.errors !== undefined || script.commands.length !== 1 || word?.type !== "Word") return undefined;
  const parts = word.parts ?? [literal(word.value)];
  const lists = expandBraces(parts);
  return lists?.map((list) => dropFirst(list));
}

/** Takes away the "x" that kept the choice from being read as an assignment, a comment or a tilde. */
function dropFirst(parts: readonly WordPart[]): readonly WordPart[] {
  const [first, ...rest] = parts;
  return first?.type === "Literal" ? [literal(first.value.slice(1)), ...rest] : parts;
}

function literal(value: string): WordPart {
  return { type: "Literal", pos: 0, end: value.length, value, text: value };
}

function rangeOf(inner: string): readonly string[] | undefined {
  const match = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(inner);
  if (match === null) return undefined;
  const [, from = "", to = "", by = "1"] = match;
  const numeric = /\d/.test(from);
  const code = (text: string) => numeric ? Number(text) : text.charCodeAt(0);
  const step = Math.max(1, Math.abs(Number(by)));
  const count = Math.floor(Math.abs(code(to) - code(from)) / step) + 1;
  if (count > MOST) return new Array<string>(MOST + 1).fill("");
  const sign = code(to) >= code(from) ? step : -step;
  return Array.from({ length: count }, (_, index) => {
    const value = code(from) + index * sign;
    return numeric ? String(value) : String.fromCharCode(value);
  });
}

function splitAtCommas(inner: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let at = 0; at < inner.length; at++) {
    const char = inner.charAt(at);
    if (char === "\\" && quote !== "'") at++;
    else if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === "'" || char === '"' || char === "`") quote = char;
    else if (char === "{" || char === "(") depth++;
    else if (char === "}" || char === ")") depth--;
    else if (char === "," && depth === 0) {
      found.push(inner.slice(start, at));
      start = at + 1;
    }
  }
  found.push(inner.slice(start));
  return found;
}
