/**
 * `Action:` at the beginning of a line. Command R: followed by a list of calls in a fence `json`
 * (transformers, models/cohere/tokenization_cohere_fast.py, "Create a Command-R tool-use prompt"). ReAct:
 * `Action: n` and `Action Input: …` on the next line (langchain, agents/mrkl/prompt.py), here with an object.
 */
import { wholeObject } from "./name_object.ts";
import { brokenObjects, objects } from "./object.ts";
import { asCalls, type Syntax, takeClose, unread } from "./syntax.ts";

const FENCE = /```\w*\s*/y;
const NAMED = /[`"]?([\w.:/-]+)[`"]?\s*\n\s*Action[ _]Input:\s*(?:```(?:json)?\s*)?/y;

export const action: Syntax = {
  models: /command|cohere|c4ai|aya|qwen-?\d+b/i,
  marks: () => ["Action:"],
  atLine: true,
  read(cursor, tools) {
    const begin = cursor.at;
    cursor.take("Action:");
    cursor.space();
    const { at } = cursor;
    const isFenced = cursor.match(FENCE) !== undefined;
    const name = isFenced ? undefined : cursor.match(NAMED)?.[1];
    if (name !== undefined) {
      if (tools.closest(name) === undefined) return undefined;
      const args = cursor.sees("{") ? wholeObject(cursor) : undefined;
      if (args === undefined) return unread(cursor, tools, name, begin, []);
      takeClose(cursor, ["```"]);
      return asCalls(tools.call(name, args));
    }
    if (!isFenced) cursor.at = at;
    const object = cursor.at;
    const calls = objects(cursor, tools);
    if (calls === undefined) {
      cursor.at = object;
      return brokenObjects(cursor, tools, []);
    }
    takeClose(cursor, ["```"]);
    return calls;
  },
};
