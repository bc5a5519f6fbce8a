/**
 * MiniMax M3: every tag begins with `]<]minimax[>[`, each argument is a tag of its name, and lists are `item`
 * tags: `]<]minimax[>[<invoke name="n">]<]minimax[>[<path>a.ts]<]minimax[>[</path>]<]minimax[>[</invoke>`.
 * Source: sglang, function_call/minimax_m3.py.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import type { TextCall } from "../tools.ts";
import { type Syntax, unread } from "./syntax.ts";

const SIGN = "]<]minimax[>[";
const sign = "\\]<\\]minimax\\[>\\[\\s*";
const tag = (inside: string) => new RegExp(`\\s*${sign}<${inside}>`, "y");
const CALLS = tag("tool_call");
const INVOKE = tag(`invoke\\s+name="([\\w.:/-]+)"`);
const KEY = tag("(?!invoke|tool_call)([\\w.$-]+)");
const INVOKE_END = tag("/invoke");
const CALLS_END = tag("/tool_call");
const DEEPEST = 20;

export const minimaxM3: Syntax = {
  models: /minimax/i,
  marks: () => [SIGN],
  read(cursor, tools) {
    const calls: TextCall[] = [];
    cursor.match(CALLS);
    for (;;) {
      const begin = cursor.at;
      const name = cursor.match(INVOKE)?.[1];
      if (name === undefined) break;
      const args = children(cursor, 0);
      const isWhole = args !== undefined && cursor.match(INVOKE_END) !== undefined;
      const call = isWhole ? tools.call(name, Object.fromEntries(args)) : undefined;
      if (call === undefined) {
        calls.push(...unread(cursor, tools, name, begin, [`${SIGN}</invoke>`]) ?? []);
        break;
      }
      calls.push(call);
    }
    cursor.match(CALLS_END);
    return calls.length === 0 ? undefined : calls;
  },
};

/** Undefined if an end is missing. */
function children(cursor: Cursor, depth: number): readonly (readonly [string, unknown])[] | undefined {
  const values: (readonly [string, unknown])[] = [];
  for (;;) {
    const key = cursor.match(KEY)?.[1];
    if (key === undefined) return values;
    const value = valueOf(key, cursor, depth);
    if (value === undefined) return undefined;
    values.push([key, value.value]);
  }
}

function valueOf(key: string, cursor: Cursor, depth: number): { readonly value: unknown } | undefined {
  const begin = cursor.at;
  // A space may precede the slash.
  const closes = [`${SIGN}</${key}>`, `${SIGN} </${key}>`];
  const inner = depth < DEEPEST ? children(cursor, depth + 1) : undefined;
  if (inner !== undefined && inner.length > 0) {
    cursor.space();
    if (cursor.takeOne(closes) === undefined) return undefined;
    const isList = inner.every(([name]) => name === "item");
    return { value: isList ? inner.map(([, value]) => value) : Object.fromEntries(inner) };
  }
  const end = cursor.findOne(closes, begin);
  if (inner === undefined || end === undefined) return undefined;
  cursor.at = end.at + end.needle.length;
  return { value: cursor.text.slice(begin, end.at) };
}
