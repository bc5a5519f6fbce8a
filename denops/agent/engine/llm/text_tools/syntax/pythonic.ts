/**
 * Calls in Python syntax: `[f(a=1, b="x"), g()]`. Llama 3.2 and 4 (sglang,
 * function_call/pythonic_detector.py), LFM2 (lfm2_detector.py), Gemma 3 in a fence `tool_code`, sometimes
 * inside of `print(…)`. Llama 3.1 writes `f.call(a=1)` for its built-in tools (llama.cpp,
 * common/chat-parser.cpp).
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { readLiteral, skip } from "../../../../shared/text/literal.ts";
import { propertiesOf } from "../../../calls/json_schema.ts";
import type { KnownTools, TextCall } from "../tools.ts";
import { asCalls, type Read, type Syntax } from "./syntax.ts";

const NAME = /(?:print\(\s*)?([A-Za-z_][\w.]*?)(?:\.call)?\s*\(/y;
const KEY = /\s*([A-Za-z_]\w*)\s*=(?!=)\s*/y;
const CUT_KEY = /\s*(?:[A-Za-z_]\w*\s*)?=?$/y;

/** One call, or a list of them. */
export const pythonic: Read = (cursor, tools) => {
  if (!cursor.take("[")) {
    return asCalls(pythonCall(cursor, tools));
  }
  const calls: TextCall[] = [];
  for (;;) {
    skip(cursor);
    if (calls.length > 0 && cursor.take("]")) return calls;
    // Accept a list without its end if every call is complete.
    if (calls.length > 0 && cursor.next === undefined) return calls;
    const call = pythonCall(cursor, tools);
    if (call === undefined) return undefined;
    calls.push(call);
    skip(cursor);
    cursor.take(",");
  }
};

interface Strictness {
  /** Whether arguments need names. */
  readonly isNamed: boolean;
}

function pythonCall(
  outer: Cursor,
  tools: KnownTools,
  strictness: Strictness = { isNamed: false },
): TextCall | undefined {
  const cursor = outer.from(outer.at);
  const call = callAt(cursor, tools, strictness);
  outer.at = cursor.at;
  outer.metEnd ||= cursor.metEnd;
  return call;
}

function callAt(cursor: Cursor, tools: KnownTools, { isNamed }: Strictness): TextCall | undefined {
  const begin = cursor.at;
  // Prose looks similar: "read_file(see below)".
  const cutOff = (name: string) => {
    if (!cursor.metEnd) return undefined;
    cursor.at = cursor.text.length;
    return tools.unread(name, cursor.text.slice(begin));
  };
  const head = cursor.match(NAME, 120);
  const name = head?.[1];
  // The printed call may still arrive.
  if (name === "print" && cursor.text.length - begin < 120) cursor.metEnd = true;
  const spec = name === undefined ? undefined : tools.closest(name);
  if (head === undefined || name === undefined || spec === undefined) return undefined;
  const positions = isNamed ? [] : Object.keys(propertiesOf(spec));
  const entries: [string, unknown][] = [];
  for (let position = 0;; position++) {
    skip(cursor);
    if (cursor.take(")")) break;
    const key = cursor.match(KEY, CUT_KEY)?.[1] ?? positions[position];
    const read = key === undefined ? undefined : readLiteral(cursor);
    if (key === undefined || read === undefined || read.open.size > 0) return cutOff(name);
    entries.push([key, read.value]);
    skip(cursor);
    if (!cursor.take(",") && !cursor.sees(")")) return cutOff(name);
  }
  if (head[0].startsWith("print(")) {
    cursor.space();
    cursor.take(")");
  }
  return tools.call(name, Object.fromEntries(entries));
}

/**
 * Without marks: a list, or a line of its own. Such a line may be the user's code, so arguments need names.
 */
export const bareCall: Syntax = {
  models: /llama|lfm|gemma|olmo|granite|hammer|toolace/i,
  marks: ({ names }) =>
    names.filter((name) => name.includes("_")).flatMap((
      name,
    ) => [`[${name}(`, `${name}(`, `default_api.${name}(`, `print(default_api.${name}(`]),
  atLine: true,
  weak: true,
  read: (cursor, tools) =>
    cursor.sees("[") ? pythonic(cursor, tools) : asCalls(pythonCall(cursor, tools, { isNamed: true })),
};
