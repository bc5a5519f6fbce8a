/**
 * `<function=n><parameter=k>v</parameter>…</function>`: Qwen3-Coder, Nemotron 3, Seed-OSS, Step 3.5, often
 * without the surrounding tag; values have their own lines. `<function name="n"><param name="k">`: MiniCPM5
 * (sglang, function_call/minicpm5_detector.py). Sources: Qwen3-Coder's chat_template.jinja; sglang,
 * function_call/qwen3_coder_detector.py; QwenLM/Qwen3-Coder, issue 475. With JSON between the tags: Llama
 * 3.1's format for custom tools, Functionary v3.1 (llama.cpp, common/chat-parser.cpp).
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { propertiesOf } from "../../../calls/json_schema.ts";
import type { KnownTools } from "../tools.ts";
import { wholeObject } from "./name_object.ts";
import { alone, asCalls, type Read, type Syntax, takeClose, unread } from "./syntax.ts";
import { unwrapped, valueTo } from "./tagged_values.ts";

const OPEN = /<function(?:=|\s{1,9}name=)\s{0,9}["']?([\w.:/-]{1,80})["']?\s{0,9}>/y;
const PARAMETER = /<param(?:eter)?(?:=|\s{1,9}name=)\s{0,9}["']?([\w.$-]{1,80})["']?\s{0,9}>/y;
/** MiniCPM5's group around its parameters. */
const GROUP = /<\/?arguments>\s*/y;
const CDATA = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/;
const CUT_PARAMETER = /<(?:p[^<>\n]{0,120})?$/y;
const CLOSES = ["</function>", "</tool_call>", "</seed:tool_call>"];
const ENDS = {
  closes: ["</parameter>", "</param>"],
  follows: [
    "<param",
    "</arguments>",
    "</function",
    "</tool_call",
    "</seed:tool_call",
    "<function",
    "<tool_call",
  ],
};

export const functionTag: Read = (cursor, tools) => {
  const begin = cursor.at;
  const name = cursor.match(OPEN)?.[1];
  if (name === undefined) return undefined;
  cursor.space();
  const args = cursor.sees("{") ? wholeObject(cursor) : parameters(name, cursor, tools);
  if (args === undefined) return unread(cursor, tools, name, begin, ["</function>"]);
  takeClose(cursor, ["</function>"]);
  return asCalls(tools.call(name, args));
};

/** Undefined if the end is missing: parameters may be missing too. */
function parameters(
  name: string,
  cursor: Cursor,
  tools: KnownTools,
): Readonly<Record<string, string>> | undefined {
  const spec = tools.closest(name);
  const properties = spec === undefined ? {} : propertiesOf(spec);
  const values = new Map<string, string>();
  for (;;) {
    cursor.space();
    cursor.match(GROUP, 12);
    const key = cursor.match(PARAMETER, CUT_PARAMETER)?.[1];
    if (key === undefined) break;
    const value = unclosedValue(cursor, (other) =>
      other in properties && other !== key && !values.has(other)) ??
      valueTo(cursor, ENDS);
    if (value !== undefined) {
      values.set(key, textOf(value));
      continue;
    }
    // The last parameter lacks its closing tag.
    const end = cursor.find("</function>");
    if (end === -1) return undefined;
    values.set(key, textOf(cursor.text.slice(cursor.at, end)));
    cursor.at = end;
    break;
  }
  const isEnd = [...CLOSES, "<function", "<tool_call"].some((tag) => cursor.sees(tag));
  return isEnd ? Object.fromEntries(values) : undefined;
}

function textOf(value: string): string {
  return CDATA.exec(value)?.[1] ?? unwrapped(value);
}

/** A value without its closing tag, if another parameter of the tool begins on the next line. */
function unclosedValue(cursor: Cursor, isNext: (key: string) => boolean): string | undefined {
  const begin = cursor.at;
  const close = cursor.find("</parameter>");
  const limit = close === -1 ? cursor.text.length : close;
  // Characters after the limit do not matter.
  const next = cursor.from(begin);
  for (
    let at = next.find("\n<parameter", begin);
    at !== -1 && at < limit;
    at = next.find("\n<parameter", at + 1)
  ) {
    const key = cursor.from(at + 1).match(PARAMETER)?.[1];
    if (key === undefined || !isNext(key)) continue;
    cursor.at = at + 1;
    return cursor.text.slice(begin, at + 1);
  }
  cursor.at = begin;
  return undefined;
}

export const functionTags: Syntax = {
  marks: () => ["<function=", "<function name="],
  read: alone(functionTag, ["</tool_call>", "</seed:tool_call>"]),
};
