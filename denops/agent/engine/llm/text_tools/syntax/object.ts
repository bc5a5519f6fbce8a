/**
 * `{"name": …, "arguments": {…}}`, or a list of such objects: Hermes, Qwen 2.5 and 3, Granite, Mistral, Llama, xLAM, in the
 * marks of each. Doubled braces come from Qwen 2.5's template, which shows them so.
 */
import { readLiteral, skip } from "../literal.ts";
import { objectCalls } from "../object_calls.ts";
import type { Read } from "./syntax.ts";

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
