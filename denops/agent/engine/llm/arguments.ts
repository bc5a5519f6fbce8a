/** Parses the JSON arguments of a tool call, valid or broken. Pure. */
import { jsonrepair } from "../../deps/jsonrepair.ts";
import { messageOf } from "../../shared/errors.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string };

/** Limits for the characters and the nesting of one call's arguments. No tool needs a tenth of them. */
const LARGEST = 4_000_000;
const DEEPEST = 100;

/** Parses a call's arguments; broken JSON is repaired once. */
export function parseArguments(text: string): ParsedArguments {
  if (text.length > LARGEST) return { ok: false, error: `they have more than ${LARGEST} characters` };
  if (isTooDeep(text)) return { ok: false, error: `they are nested more than ${DEEPEST} deep` };
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    const value: unknown = JSON.parse(text);
    // Some models write null for "no arguments".
    return { ok: true, value: value ?? {} };
  } catch (error) {
    const value = repair(text);
    if (value !== undefined) return { ok: true, value };
    return { ok: false, error: messageOf(error).replace(/\s+/g, " ") };
  }
}

/**
 * A call's arguments as an object, for wires that require one. Invalid arguments are wrapped, so that the
 * model sees what it wrote.
 */
export function argumentsObject(text: string): Record<string, unknown> {
  const parsed = parseArguments(text);
  if (
    parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value)
  ) {
    return { ...parsed.value };
  }
  return { invalid_json: text };
}

/**
 * A call's arguments as JSON text of an object. Servers that parse the arguments of earlier calls (vLLM,
 * llama.cpp, SGLang, Ollama) refuse every later request over broken ones; some templates also refuse
 * arguments that are not an object.
 */
export function argumentsText(text: string): string {
  return text.trimStart().startsWith("{") && isWhole(text) ? text : JSON.stringify(argumentsObject(text));
}

/** Whether a text is complete JSON. */
export function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

/** Counts brackets outside of strings. Broken JSON makes the strings a guess. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (inString && character === "\\") at += 1;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}

function repair(text: string): unknown {
  const object = wholeObject(text);
  if (object === undefined) return undefined;
  try {
    return JSON.parse(jsonrepair(object));
  } catch {
    return undefined;
  }
}

const LITERAL = /^(?:true|false|null|True|False|None|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/**
 * Parses a text that is a complete object, else returns undefined. Truncated text is never closed, because
 * that would run half a write. Every string must end and be in a valid position; then no prefix of valid JSON
 * passes. Unknown escapes are kept.
 */
function wholeObject(text: string): string | undefined {
  const lead = /^\s*(?:```(?:json)?\s*)?/.exec(text)?.[0].length ?? 0;
  let object = "";
  let depth = 0;
  /** The last structural character, or "a" after a string or a word. */
  let before = "";
  for (let at = lead; at < text.length;) {
    const token = tokenAt(text, at);
    if (token === undefined) return undefined;
    const { kind, end } = token;
    const part = text.slice(at, end);
    if (before === "" && part !== "{") return undefined;
    if (kind === "atom") {
      if (before === "a" || before === "}" || before === "]") return undefined;
      const key = /^\s*:/.test(text.slice(end, end + 100));
      const word = part[0] !== '"' && part[0] !== "'";
      if (word && !key && !LITERAL.test(part)) return undefined;
      object += part.replace(/\\(?:(["'\\/bfnrt]|u[0-9a-fA-F]{4})|)/g, (all, known) => known ? all : "\\\\");
      before = "a";
    } else {
      object += part;
      if (kind === "mark") before = part;
      if (part === "{" || part === "[") depth++;
      if ((part === "}" || part === "]") && --depth === 0) {
        // One extra brace, or the end of a fence, may follow.
        return /^[\s}\]`;]*$/.test(text.slice(end)) ? object : undefined;
      }
    }
    at = end;
  }
  return undefined;
}

interface Token {
  readonly kind: "space" | "mark" | "atom";
  readonly end: number;
}

/** Undefined for an unterminated string and for characters that are only valid in a string. */
function tokenAt(text: string, at: number): Token | undefined {
  const first = text.charAt(at);
  if (/\s/.test(first)) return { kind: "space", end: at + 1 };
  if ("{}[]:,".includes(first)) return { kind: "mark", end: at + 1 };
  if (first === '"' || first === "'") {
    for (let end = at + 1; end < text.length; end++) {
      const character = text.charAt(end);
      if (character === "\\") end++;
      else if (character === first) return { kind: "atom", end: end + 1 };
    }
    return undefined;
  }
  const [word] = /^[\w.+-]+/.exec(text.slice(at, at + 100)) ?? [];
  return word === undefined ? undefined : { kind: "atom", end: at + word.length };
}
