/**
 * Objects without marks, alone or in a row. Qwen 2.5 Coder, Llama 3 and Devstral write them when they ignore
 * their template (ollama/ollama, issue 12174; NousResearch/hermes-agent, pull request 87900). Only for known
 * tools, because files look similar.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { readLiteral } from "../../../../shared/text/literal.ts";
import { isKeyOfCall, NAMES, objectCalls } from "../object_calls.ts";
import type { KnownTools } from "../tools.ts";
import { type Syntax, unread } from "./syntax.ts";

/** The first key of a possible call, and the beginning of its value. */
const HEAD =
  /[[{]\s{0,80}(?:[[{]\s{0,80}){0,2}["'“]?([A-Za-z_]\w{0,40})["'”]?\s{0,9}:\s{0,80}(?:["']([^"']{0,80})["'])?/y;
const CUT_HEAD = /[[{]\s{0,80}(?:[[{]\s{0,80}){0,2}["'“]?(?:[A-Za-z_]\w{0,40})?["'”]?\s{0,9}$/y;

export const bare: Syntax = {
  marks: () => ["{", "["],
  atLine: true,
  weak: true,
  read(cursor, tools) {
    const begin = cursor.at;
    const head = headOf(cursor, tools);
    if (head === undefined) return undefined;
    const own = cursor.from(begin);
    const read = readLiteral(own);
    cursor.at = own.at;
    cursor.metEnd ||= own.metEnd;
    if (read !== undefined) return objectCalls(read, tools, true);
    const isCut = own.metEnd && tools.closest(head.name) !== undefined;
    return isCut ? unread(cursor, tools, head.name, begin, []) : undefined;
  },
};

/** Undefined if the first key rules out a call, so that a large file does not delay the text. */
function headOf(cursor: Cursor, tools: KnownTools): { readonly name: string } | undefined {
  const [, key, name = ""] = cursor.from(cursor.at).match(HEAD, 0) ?? [];
  if (key === undefined) {
    if (cursor.from(cursor.at).match(CUT_HEAD, 0) !== undefined) cursor.metEnd = true;
    return undefined;
  }
  const isOther = NAMES.includes(key) && name !== "" && tools.closest(name) === undefined;
  return isOther || !isKeyOfCall(key, tools) ? undefined : { name: NAMES.includes(key) ? name : "" };
}
