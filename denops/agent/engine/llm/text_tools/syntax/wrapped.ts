/**
 * Marks around calls of any form: in practice models mix forms and marks. Sources: chat templates are in
 * llama.cpp's models/templates; parsers are in vllm's tool_parsers, sglang's function_call and llama.cpp's
 * common/chat-parser.cpp.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import type { KnownTools, TextCall } from "../tools.ts";
import { argumentTags } from "./argument_tags.ts";
import { namedByTag } from "./child_tags.ts";
import { functionTag } from "./function_tags.ts";
import { invokeTag } from "./invoke_tags.ts";
import { nameObject } from "./name_object.ts";
import { brokenObjects, objects } from "./object.ts";
import { pythonic } from "./pythonic.ts";
import { firstOf, type Read, type Syntax, unread } from "./syntax.ts";

/**
 * The models that use it (undefined: any); opening mark; closing marks (none: the call ends with the answer).
 */
type Row = readonly [models: RegExp | undefined, open: string, ...closes: readonly string[]];

const ANY = undefined;
const MISTRAL = /mistral|mixtral|devstral|magistral|codestral|pixtral/i;
const COHERE = /command|cohere|c4ai|aya/i;
const GIGACHAT = /gigachat/i;

const ROWS: readonly Row[] = [
  // Hermes 2 Pro, Qwen 2.5 and 3, Granite 4, GLM; Granite 3.1 with a list.
  [ANY, "<tool_call>", "</tool_call>"],
  // Jamba, Hunyuan, Apriel, MiniMax M1.
  [ANY, "<tool_calls>", "</tool_calls>"],
  [ANY, "<function_call>", "</function_call>"],
  // Claude's older format, OLMo 3.
  [ANY, "<function_calls>", "</function_calls>"],
  [ANY, "<antml:function_calls>", "</antml:function_calls>"],
  [ANY, "<tools>", "</tools>"],
  [ANY, "<tool>", "</tool>"],
  [ANY, "<tool_use>", "</tool_use>"],
  // LM Studio's own, for models without a template for tools (lmstudio-ai/docs, 1_developer/3_openai-compat/tools.mdx).
  [ANY, "[TOOL_REQUEST]", "[END_TOOL_REQUEST]"],
  // Nemotron Nano 2.
  [/nemotron/i, "<TOOLCALL>", "</TOOLCALL>"],
  // Granite 3, Phi-4 mini.
  [/granite|phi/i, "<|tool_call|>", "<|/tool_call|>", "<|end_tool_call|>"],
  // Gemma 4, and FunctionGemma (vllm, tool_parsers/functiongemma_tool_parser.py).
  [/gemma/i, "<|tool_call>", "<tool_call|>"],
  [/gemma/i, "<start_function_call>", "<end_function_call>"],
  [/lfm/i, "<|tool_call_start|>", "<|tool_call_end|>"],
  [/apertus/i, "<|tools_prefix|>", "<|tools_suffix|>"],
  // Llama 3 and 4.
  [/llama/i, "<|python_tag|>", "<|eom_id|>", "<|eot_id|>"],
  [/llama/i, "<|python_start|>", "<|python_end|>"],
  [MISTRAL, "[TOOL_CALLS]", "</s>"],
  // Command R7B, Command A.
  [COHERE, "<|START_ACTION|>", "<|END_ACTION|>"],
  [/intern/i, "<|action_start|><|plugin|>", "<|action_end|>"],
  // Firefunction v2, Phi-4 mini.
  [/fire|phi/i, "functools["],
  // V3.2 and V4.
  [/deepseek/i, "<｜DSML｜function_calls>", "</｜DSML｜function_calls>"],
  [/deepseek/i, "<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"],
  // GigaChat 3, 3.1 and 3.5 (vllm, tool_parsers/gigachat3_tool_parser.py and gigachat35_tool_parser.py).
  [GIGACHAT, "function call<|role_sep|>", "<|message_sep|>"],
  [GIGACHAT, "<|function_call|>", "</s>"],
  [GIGACHAT, "<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>"],
  [/minimax/i, "<minimax:tool_call>", "</minimax:tool_call>"],
  [/seed/i, "<seed:tool_call>", "</seed:tool_call>"],
  [/longcat/i, "<longcat_tool_call>", "</longcat_tool_call>"],
  // sglang, function_call/dots_detector.py and muse_glimmer_detector.py.
  [/dots/i, "<dots_function_call>", "</dots_function_call>"],
  [/muse/i, "<atem:function_calls>", "</atem:function_calls>"],
  // vllm, tool_parsers/k2_horizon_tool_parser.py and solar_open2_tool_parser.py.
  [/k2-?horizon|ifm/i, "<ifm|tool_calls>", "</ifm|tool_calls>"],
  [/k2-?horizon|ifm/i, "<ifm|tool_call>", "</ifm|tool_call>"],
  [/solar/i, "<|tool_call:start|>", "<|tool_call:end|>"],
];
const OPENS = ROWS.map(([, open]) => open);
const CLOSES = ROWS.flatMap(([, , ...closes]) => closes);
const NAMED = ["<tool_call ", "<function_call ", "<tool name="];

const inside = firstOf([objects, functionTag, invokeTag, namedByTag, argumentTags, nameObject, pythonic]);
const FENCE = /```[\w-]*\s*/y;
const BETWEEN = /[\s,;]*/y;
const TOO_MANY = /[\s}\]`,;]*/y;

/** Reads calls from their opening mark on. */
export const inMarks: Read = (cursor, tools) => {
  const open = NAMED.some((mark) => cursor.sees(mark)) ? undefined : cursor.takeOne(OPENS);
  // The bracket belongs to the list.
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
    const [, , ...closes] = ROWS.find(([, mark]) => mark === open) ?? [ANY, ""];
    return brokenObjects(cursor, tools, closes) ?? misunderstood(cursor, tools, closes);
  }
  closed(cursor);
  return calls;
};

/** One syntax for each family's marks. */
export const wrapped: readonly Syntax[] = [
  { marks: () => NAMED, read: inMarks },
  ...ROWS.map(([models, open]): Syntax => ({
    marks: () => [open],
    read: inMarks,
    ...(models === undefined ? {} : { models }),
  })),
];

const FIRST_NAME = /[\s{["']*(?:call:|functions[.:])?([A-Za-z_]\w*)/y;

/** A call of a known tool in an unknown form. */
function misunderstood(
  cursor: Cursor,
  tools: KnownTools,
  closes: readonly string[],
): readonly TextCall[] | undefined {
  const begin = cursor.at;
  const name = cursor.from(begin).match(FIRST_NAME, 0)?.[1];
  if (name === undefined || tools.closest(name) === undefined) return undefined;
  return cursor.findOne(closes) === undefined ? undefined : unread(cursor, tools, name, begin, closes);
}

const FOLLOWS = ["{", "[", "```", "<function", "<tool", "<invoke", "<｜DSML｜invoke", "<name>"];

/** Whether another call may begin here; if not, nothing has to wait for it. */
function mayFollow(cursor: Cursor, tools: KnownTools): boolean {
  const isResult = cursor.sees("<tool_response");
  return [...FOLLOWS, ...tools.names].some((text) => cursor.sees(text)) && !isResult;
}

/** A call, or more marks around calls. */
function nested(cursor: Cursor, tools: KnownTools): readonly TextCall[] | undefined {
  const { at } = cursor;
  const open = OPENS.find((open) => open.startsWith("<") && cursor.take(open));
  cursor.space();
  const calls = inside(cursor, tools);
  if (calls === undefined) cursor.at = at;
  else if (open !== undefined) closed(cursor);
  return calls;
}

/** Skips closing marks, and extra brackets before them. */
function closed(cursor: Cursor): void {
  for (;;) {
    const { at } = cursor;
    cursor.match(TOO_MANY);
    if (cursor.takeOne(CLOSES) !== undefined) continue;
    // Some models repeat the opening mark instead of the closing one.
    const isOpen = OPENS.some((open) => open.startsWith("<") && cursor.take(open));
    cursor.space();
    if (isOpen && cursor.next === undefined) return;
    cursor.at = at;
    return;
  }
}
