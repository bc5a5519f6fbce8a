/**
 * A tag for each argument. Cline and Roo Code ask for calls as `<read_file><path>a.ts</path></read_file>`
 * (cline/cline, src/core/assistant-message/parse-assistant-message.ts), and models trained on their sessions
 * write them. `<tool_call><name>n</name><arguments>{…}</arguments></tool_call>` and `<tool_call
 * name="n">{…}</tool_call>` mix it with Hermes's format.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { propertiesOf } from "../../../calls/json_schema.ts";
import type { KnownTools } from "../tools.ts";
import { wholeObject } from "./name_object.ts";
import { asCalls, type Read, type Syntax, unread } from "./syntax.ts";
import { unwrapped, valueTo } from "./tagged_values.ts";

const NAMED = /<(?:name|tool_name|tool|function|function_name)>\s{0,9}([\w.:/-]{1,80})\s{0,9}<\/\w{1,20}>/y;
const ARGUMENTS = /<(arguments|args|parameters|params|input)>/y;
const ATTRIBUTE =
  /<(tool_call|function_call|tool|function)\s{1,9}name=["']?([\w.:/-]{1,80})["']?[^<>]{0,80}>/y;

/** The name in a tag of its own, or as an attribute. */
export const namedByTag: Read = (cursor, tools) => {
  const begin = cursor.at;
  const attribute = cursor.match(ATTRIBUTE);
  const name = attribute?.[2] ?? cursor.match(NAMED)?.[1];
  if (name === undefined) return undefined;
  cursor.space();
  const outer = cursor.match(ARGUMENTS)?.[1];
  const close = outer === undefined ? `</${attribute?.[1] ?? "tool_call"}>` : `</${outer}>`;
  const args = argumentsOf(name, close, cursor, tools);
  if (args === undefined) return unread(cursor, tools, name, begin, [close]);
  if (attribute !== undefined && outer !== undefined) {
    cursor.space();
    cursor.take(`</${attribute[1]}>`);
  }
  return asCalls(tools.call(name, args));
};

/** Reads up to and past the closing tag. */
function argumentsOf(
  name: string,
  close: string,
  cursor: Cursor,
  tools: KnownTools,
): Readonly<Record<string, unknown>> | undefined {
  cursor.space();
  const args = cursor.sees("{") ? wholeObject(cursor) : children(name, close, cursor, tools);
  cursor.space();
  return cursor.take(close) ? args : undefined;
}

function children(
  name: string,
  close: string,
  cursor: Cursor,
  tools: KnownTools,
): Readonly<Record<string, string>> | undefined {
  const keys = keysOf(name, tools);
  const follows = [close, ...keys.map((key) => `<${key}>`)];
  const values = new Map<string, string>();
  for (;;) {
    cursor.space();
    const key = keys.find((key) => cursor.take(`<${key}>`));
    if (key === undefined) return Object.fromEntries(values);
    const value = valueTo(cursor, { closes: [`</${key}>`], follows });
    if (value === undefined) return undefined;
    values.set(key, unwrapped(value));
  }
}

function keysOf(name: string, tools: KnownTools): readonly string[] {
  const spec = tools.closest(name);
  return spec === undefined ? [] : Object.keys(propertiesOf(spec));
}

/** Only tools whose names are not words: `<think>` means something else. */
export const toolTags: Syntax = {
  marks: ({ names }) =>
    names.filter((name) => name.includes("_")).flatMap((name) => [`<${name}>`, `<${name}/>`]),
  read(cursor, tools) {
    const begin = cursor.at;
    const name = tools.names.find((name) => cursor.sees(`<${name}>`) || cursor.sees(`<${name}/>`));
    if (name === undefined) return undefined;
    const close = `</${name}>`;
    if (cursor.take(`<${name}/>`)) return asCalls(tools.call(name, {}));
    cursor.take(`<${name}>`);
    const args = argumentsOf(name, close, cursor, tools);
    if (args === undefined) {
      // In prose, a name between such marks may be a placeholder.
      const inside = cursor.from(begin + name.length + 2);
      inside.space();
      const isBegun = keysOf(name, tools).some((key) => inside.sees(`<${key}>`)) || inside.sees("{");
      return isBegun ? unread(cursor, tools, name, begin, [close]) : undefined;
    }
    return asCalls(tools.call(name, args));
  },
};
