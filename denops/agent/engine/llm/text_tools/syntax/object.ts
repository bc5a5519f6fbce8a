/**
 * `{"name": …, "arguments": {…}}`, or a list of such objects: Hermes, Qwen 2.5 and 3, Granite, Mistral,
 * Llama, xLAM, each with its own marks. Doubled braces come from Qwen 2.5's template, which contains them.
 */
import { Cursor } from "../../../../shared/text/cursor.ts";
import { readLiteral, skip } from "../../../../shared/text/literal.ts";
import { objectCalls } from "../object_calls.ts";
import type { KnownTools, TextCall } from "../tools.ts";
import { type Read, unread } from "./syntax.ts";

export const objects: Read = (cursor, tools) => {
  const isDoubled = cursor.sees("{{");
  if (isDoubled) cursor.at += 1;
  else if (!cursor.sees("{") && !cursor.sees("[")) return undefined;
  const read = readLiteral(cursor);
  if (read === undefined) return undefined;
  if (isDoubled) {
    skip(cursor);
    cursor.take("}");
  }
  return objectCalls(read, tools);
};

/** Finds the name of a call that cannot be parsed. */
const NAME = /["'](?:name|tool|tool_name|function)["']\s*:\s*["']([\w.:/-]+)["']/;
const SHORT_FORM = /^[\s[{]*["']([\w.:/-]+)["']\s*:\s*\{/;
const HEAD = 300;

/**
 * Reads a call at the cursor that cannot be parsed to its end. Before an end mark, missing brackets are
 * added; otherwise the call does not run. Undefined if it names no known tool.
 */
export function brokenObjects(
  cursor: Cursor,
  tools: KnownTools,
  closes: readonly string[],
): readonly TextCall[] | undefined {
  const begin = cursor.at;
  const head = cursor.text.slice(begin, begin + HEAD);
  const name = NAME.exec(head)?.[1] ?? SHORT_FORM.exec(head)?.[1];
  if (name === undefined || tools.closest(name) === undefined) return undefined;
  const read = readLiteral(cursor.from(begin));
  if (read !== undefined && read.open.size === 0) return undefined;
  const end = cursor.findOne(closes);
  const inside = new Cursor(cursor.text.slice(begin, end?.at));
  const calls = end === undefined ? undefined : objects(inside, tools);
  if (end === undefined || calls === undefined || inside.text.slice(inside.at).trim() !== "") {
    return unread(cursor, tools, name, begin, closes);
  }
  cursor.at = end.at + end.needle.length;
  return calls;
}
