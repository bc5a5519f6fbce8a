/**
 * Kimi K3: `<|open|>call tool="n" index="1"<|sep|><|open|>argument key="k"
 * type="string"<|sep|>v<|close|>argument<|sep|>… <|close|>call<|sep|>`. Values of other types are JSON, or
 * all values are in one `json` block; attributes escape `&` and `"` as entities. Sources: Kimi-K3.jinja in
 * llama.cpp's models/templates; sglang, function_call/kimik3_detector.py.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { withoutEntities } from "../../../../shared/text/literal.ts";
import { isRecord } from "../../../calls/json_schema.ts";
import { wholeLiteral } from "../../../../shared/text/literal.ts";
import type { TextCall } from "../tools.ts";
import { type Syntax, unread } from "./syntax.ts";

const TOOLS = /<\|open\|>tools<\|sep\|>\s*/y;
const CALL = /\s*<\|open\|>call\s{1,9}([^<]{0,300})<\|sep\|>\s*/y;
const ARGUMENT = /\s*<\|open\|>(argument|json)\s{0,9}([^<]{0,300})<\|sep\|>/y;
const CALL_END = /\s*<\|close\|>call<\|sep\|>/y;
const TOOLS_END = /\s*<\|close\|>tools<\|sep\|>/y;
const CLOSE = "<|close|>call<|sep|>";

export const kimiK3: Syntax = {
  models: /kimi|moonshot/i,
  marks: () => ["<|open|>tools<|sep|>", "<|open|>call "],
  read(cursor, tools) {
    const calls: TextCall[] = [];
    cursor.match(TOOLS);
    for (;;) {
      const begin = cursor.at;
      const name = attribute(cursor.match(CALL, 400)?.[1] ?? "", "tool");
      if (name === undefined) break;
      const args = argumentsOf(cursor);
      const isWhole = args !== undefined && cursor.match(CALL_END) !== undefined;
      const call = isWhole ? tools.call(name, args) : undefined;
      if (call === undefined) {
        calls.push(...unread(cursor, tools, name, begin, [CLOSE]) ?? []);
        break;
      }
      calls.push(call);
    }
    cursor.match(TOOLS_END);
    return calls.length === 0 ? undefined : calls;
  },
};

function argumentsOf(cursor: Cursor): Readonly<Record<string, unknown>> | undefined {
  const values = new Map<string, unknown>();
  for (;;) {
    const tag = cursor.match(ARGUMENT, 400);
    if (tag === undefined) return Object.fromEntries(values);
    const [, kind = "", attributes = ""] = tag;
    const close = `<|close|>${kind}<|sep|>`;
    const end = cursor.find(close);
    if (end === -1) return undefined;
    const text = cursor.text.slice(cursor.at, end);
    cursor.at = end + close.length;
    const read = kind === "argument" && attribute(attributes, "type") === "string"
      ? undefined
      : wholeLiteral(text.trim());
    if (kind === "json") return isRecord(read?.value) ? read.value : undefined;
    values.set(attribute(attributes, "key") ?? "", read === undefined ? text : read.value);
  }
}

function attribute(attributes: string, name: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1];
  return value === undefined ? undefined : withoutEntities(value);
}
