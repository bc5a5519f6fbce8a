/**
 * `<tool_call>n<arg_key>k</arg_key><arg_value>v</arg_value>…</tool_call>`: GLM 4.5 to 5, with line breaks
 * between the tags up to 4.6 (GLM-4.6.jinja in llama.cpp's models/templates; sglang,
 * function_call/glm47_moe_detector.py). Hunyuan 3 has `<tool_sep>` after the name (vllm,
 * tool_parsers/hy_v3_tool_parser.py); K2 Horizon and Solar Open 2 use other marks (vllm,
 * k2_horizon_tool_parser.py, solar_open2_tool_parser.py).
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { asCalls, firstOf, type Read, unread } from "./syntax.ts";
import { unwrapped, valueTo } from "./tagged_values.ts";

interface Marks {
  /** The marks before a key, between key and value (white space allowed), and after the value. */
  readonly key: string;
  readonly between: readonly string[];
  readonly end: string;
  /** The closing mark of the call. */
  readonly close: string;
}

const MARKS: readonly Marks[] = [
  { key: "<arg_key>", between: ["</arg_key>", "<arg_value>"], end: "</arg_value>", close: "</tool_call>" },
  {
    key: "<ifm|arg_key>",
    between: ["</ifm|arg_key>", "<ifm|arg_value>"],
    end: "</ifm|arg_value>",
    close: "</ifm|tool_call>",
  },
  {
    key: "<|tool_arg:start|>",
    between: ["<|tool_arg:value|>"],
    end: "<|tool_arg:end|>",
    close: "<|tool_call:end|>",
  },
];

const NAME = /([A-Za-z_][\w.:/-]*)\s*(?:<tool_sep>\s*)?(?=<)/y;

/** Reads a call from its name on. */
export const argumentTags: Read = firstOf(MARKS.map((marks): Read => (cursor, tools) => {
  const begin = cursor.at;
  const name = cursor.match(NAME, 100)?.[1];
  if (name === undefined || !(cursor.sees(marks.key) || cursor.sees(marks.close))) return undefined;
  const args = argumentsOf(marks, cursor);
  return args === undefined
    ? unread(cursor, tools, name, begin, [marks.close])
    : asCalls(tools.call(name, Object.fromEntries(args)));
}));

function argumentsOf(
  { key, between, end, close }: Marks,
  cursor: Cursor,
): ReadonlyMap<string, string> | undefined {
  const [keyEnd = "", ...others] = between;
  const values = new Map<string, string>();
  while (cursor.take(key)) {
    const at = cursor.find(keyEnd);
    if (at === -1) return undefined;
    const name = cursor.text.slice(cursor.at, at).trim();
    cursor.at = at + keyEnd.length;
    for (const mark of others) {
      cursor.space();
      if (!cursor.take(mark)) return undefined;
    }
    const value = valueTo(cursor, { closes: [end], follows: [key, close, "<tool_call>"] });
    if (value === undefined) return undefined;
    values.set(name, unwrapped(value));
    cursor.space();
  }
  return cursor.sees(close) || cursor.sees("<tool_call>") ? values : undefined;
}
