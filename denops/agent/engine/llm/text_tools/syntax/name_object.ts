/**
 * A name, then its arguments as an object. Mistral from tokenizer version 11 on: `[TOOL_CALLS]name[ARGS]{…}`,
 * with `[CALL_ID]…` between (vllm, tool_parsers/mistral_tool_parser.py); Gemma 4: `call:name{…}` (sglang,
 * function_call/gemma4_detector.py); servers that drop special tokens leave `name{…}` and
 * `functions.name:0{…}`.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { readLiteral } from "../../../../shared/text/literal.ts";
import { isRecord } from "../../../calls/json_schema.ts";
import { asCalls, type Read, type Syntax, unread } from "./syntax.ts";

const NAME = /[A-Za-z_][\w.:/-]*/y;
const BETWEEN = /\s*(?:\[CALL_ID\]\s*[\w-]+)?\s*(?:\[ARGS\])?\s*(?:\((?=\{))?/y;

export const nameObject: Read = (cursor, tools) => {
  const begin = cursor.at;
  const [name] = cursor.match(NAME, 100) ?? [];
  if (name === undefined) return undefined;
  const [between = ""] = cursor.match(BETWEEN, 100) ?? [];
  // The marks between name and arguments may be truncated.
  if (!["{", "({", "[ARGS]", "[CALL_ID]"].map((mark) => cursor.sees(mark))[0]) {
    const isCall = between.includes("[ARGS]") && cursor.next !== undefined;
    return isCall ? unread(cursor, tools, name, begin, []) : undefined;
  }
  const args = wholeObject(cursor);
  if (args === undefined) return unread(cursor, tools, name, begin, []);
  if (between.includes("(")) cursor.take(")");
  return asCalls(tools.call(name, args));
};

/** The object at the cursor; undefined if its end is missing. */
export function wholeObject(cursor: Cursor): Readonly<Record<string, unknown>> | undefined {
  const read = readLiteral(cursor);
  return read !== undefined && isRecord(read.value) && read.open.size === 0 ? read.value : undefined;
}

/** Without marks, only for known tools. */
export const bareName: Syntax = {
  models: /mistral|devstral|magistral|gemma|kimi|gpt-?oss/i,
  marks: ({ names }) => names.flatMap((name) => [`${name}{`, `${name} {`, `${name}\n{`, `functions.${name}`]),
  atLine: true,
  weak: true,
  read: nameObject,
};

/** Functionary v3.2 (llama.cpp, common/chat-parser.cpp). */
export const functionary: Syntax = {
  models: /functionary/i,
  marks: ({ names }) => names.map((name) => `>>>${name}\n`),
  read(cursor, tools) {
    cursor.take(">>>");
    return nameObject(cursor, tools);
  },
};
