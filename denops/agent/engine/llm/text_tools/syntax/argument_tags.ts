/**
 * `<tool_call>n<arg_key>k</arg_key><arg_value>v</arg_value>…</tool_call>`: GLM 4.5 to 5, with line breaks between the tags
 * up to 4.6. Sources: GLM-4.6.jinja in llama.cpp's models/templates; sglang, function_call/glm47_moe_detector.py.
 */
import { asCalls, meetsEnd, type Read, unread } from "./syntax.ts";
import { unwrapped, valueTo } from "./tagged_values.ts";

const NAME = /([A-Za-z_][\w.:/-]*)\s*(?=<)/y;
const CLOSE = "</tool_call>";
const ENDS = { closes: ["</arg_value>"], follows: ["<arg_key>", CLOSE, "<tool_call>"] };

/** From the name on. */
export const argumentTags: Read = (cursor, tools) => {
  const begin = cursor.at;
  const name = cursor.match(NAME, 100)?.[1];
  if (name === undefined) return undefined;
  const given = new Map<string, string>();
  while (cursor.take("<arg_key>")) {
    const end = cursor.find("</arg_key>");
    if (end === -1) return unread(cursor, tools, name, begin, [CLOSE]);
    const key = cursor.text.slice(cursor.at, end).trim();
    cursor.at = end + "</arg_key>".length;
    cursor.space();
    const value = cursor.take("<arg_value>") ? valueTo(cursor, ENDS) : undefined;
    if (value === undefined) return unread(cursor, tools, name, begin, [CLOSE]);
    given.set(key, unwrapped(value));
    cursor.space();
  }
  const isEnd = cursor.sees(CLOSE);
  const isCut = meetsEnd(cursor, () => cursor.sees("<arg_key>") || cursor.sees(CLOSE) || cursor.next);
  if (!isEnd && (isCut || given.size === 0)) {
    return given.size === 0 ? undefined : unread(cursor, tools, name, begin, [CLOSE]);
  }
  return asCalls(tools.call(name, Object.fromEntries(given)));
};
