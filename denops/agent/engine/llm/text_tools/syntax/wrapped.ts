/**
 * Marks around calls of any form: what stands in which marks is mixed in practice. Rows by their sources; those of chat
 * templates are in llama.cpp's models/templates, those of parsers in vllm's tool_parsers, sglang's function_call and
 * llama.cpp's common/chat-parser.cpp.
 */
import type { Cursor } from "../cursor.ts";
import type { KnownTools, TextCall } from "../tools.ts";
import { argumentTags } from "./argument_tags.ts";
import { namedByTag } from "./child_tags.ts";
import { functionTag } from "./function_tags.ts";
import { invokeTag } from "./invoke_tags.ts";
import { nameObject } from "./name_object.ts";
import { brokenObjects, objects } from "./object.ts";
import { pythonic } from "./pythonic.ts";
import { firstOf, type Syntax } from "./syntax.ts";

/** Opening mark → closing marks; none where the end of the answer is the end. */
const MARKS: Readonly<Record<string, readonly string[]>> = {
  // Hermes 2 Pro, Qwen 2.5 and 3, Granite 4; Granite 3.1 with a list; others say it in their own words.
  "<tool_call>": ["</tool_call>"],
  "<tool_calls>": ["</tool_calls>"],
  "<function_call>": ["</function_call>"],
  "<function_calls>": ["</function_calls>"],
  "<antml:function_calls>": ["</antml:function_calls>"],
  "<tools>": ["</tools>"],
  "<tool>": ["</tool>"],
  "<tool_use>": ["</tool_use>"],
  // Nemotron Nano 2.
  "<TOOLCALL>": ["</TOOLCALL>"],
  // Granite 3, Phi-4 mini.
  "<|tool_call|>": ["<|/tool_call|>", "<|end_tool_call|>"],
  // Gemma 4.
  "<|tool_call>": ["<tool_call|>"],
  // LFM2.
  "<|tool_call_start|>": ["<|tool_call_end|>"],
  // Apertus.
  "<|tools_prefix|>": ["<|tools_suffix|>"],
  // Llama 3 and 4.
  "<|python_tag|>": ["<|eom_id|>", "<|eot_id|>"],
  "<|python_start|>": ["<|python_end|>"],
  // Mistral.
  "[TOOL_CALLS]": ["</s>"],
  // LM Studio's own, for models without a template for tools (lmstudio-ai/docs, 1_developer/3_openai-compat/tools.mdx).
  "[TOOL_REQUEST]": ["[END_TOOL_REQUEST]"],
  // Command R7B, Command A.
  "<|START_ACTION|>": ["<|END_ACTION|>"],
  // InternLM 2.
  "<|action_start|><|plugin|>": ["<|action_end|>"],
  // Firefunction v2, Phi-4 mini.
  "functools[": [],
  // DeepSeek V3.2 and V4, MiniMax M2, Seed-OSS, LongCat.
  "<｜DSML｜function_calls>": ["</｜DSML｜function_calls>"],
  "<｜DSML｜tool_calls>": ["</｜DSML｜tool_calls>"],
  "<minimax:tool_call>": ["</minimax:tool_call>"],
  "<seed:tool_call>": ["</seed:tool_call>"],
  "<longcat_tool_call>": ["</longcat_tool_call>"],
};
const OPENS = Object.keys(MARKS);
const CLOSES = Object.values(MARKS).flat();
const NAMED = ["<tool_call ", "<function_call ", "<tool name="];

const inside = firstOf([objects, functionTag, invokeTag, namedByTag, argumentTags, nameObject, pythonic]);
const FENCE = /```[\w-]*\s*/y;
const BETWEEN = /[\s,;]*/y;
const TOO_MANY = /[\s}\]`,;]*/y;

export const wrapped: Syntax = {
  marks: () => [...OPENS, ...NAMED],
  read(cursor, tools) {
    const open = NAMED.some((mark) => cursor.sees(mark)) ? undefined : cursor.takeOne(OPENS);
    // Its bracket is the list's.
    if (open?.endsWith("s[")) cursor.at -= 1;
    const calls: TextCall[] = [];
    for (;;) {
      const { at } = cursor;
      cursor.match(BETWEEN);
      if (calls.length > 0 && !mayFollow(cursor, tools)) {
        cursor.at = at;
        break;
      }
      cursor.match(FENCE, 3);
      const found = nested(cursor, tools);
      if (found === undefined) {
        cursor.at = at;
        break;
      }
      calls.push(...found);
    }
    if (calls.length === 0) {
      cursor.match(BETWEEN);
      cursor.match(FENCE, 3);
      return brokenObjects(cursor, tools, open === undefined ? [] : MARKS[open] ?? []);
    }
    closed(cursor);
    return calls;
  },
};

const FOLLOWS = ["{", "[", "```", "<function", "<tool", "<invoke", "<｜DSML｜invoke", "<name>"];

/** Whether another call may begin here, after one: else nobody has to wait for more. */
function mayFollow(cursor: Cursor, tools: KnownTools): boolean {
  const isResult = cursor.sees("<tool_response");
  return [...FOLLOWS, ...tools.names].some((text) => cursor.sees(text)) && !isResult;
}

/** A call, or further marks around some. */
function nested(cursor: Cursor, tools: KnownTools): readonly TextCall[] | undefined {
  const { at } = cursor;
  const open = OPENS.find((open) => open.startsWith("<") && cursor.take(open));
  cursor.space();
  const calls = inside(cursor, tools);
  if (calls === undefined) cursor.at = at;
  else if (open !== undefined) closed(cursor);
  return calls;
}

/** Past the closing marks, and past brackets that are too many before them. */
function closed(cursor: Cursor): void {
  for (;;) {
    const { at } = cursor;
    cursor.match(TOO_MANY);
    if (cursor.takeOne(CLOSES) !== undefined) continue;
    cursor.at = at;
    return;
  }
}
