/**
 * Kimi K2:
 * `<|tool_calls_section_begin|><|tool_call_begin|>functions.n:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…`;
 * the section's mark is sometimes missing. Sources: moonshotai-Kimi-K2-Thinking.jinja in llama.cpp's
 * models/templates; MoonshotAI/Kimi-K2, docs/tool_call_guidance.md; NousResearch/hermes-agent, issue 24534.
 */
import type { TextCall } from "../tools.ts";
import { wholeObject } from "./name_object.ts";
import { type Syntax, unread } from "./syntax.ts";

const SECTION = /<\|tool_calls?_section_begin\|>\s*/y;
const CALL = /<\|tool_call_begin\|>\s*([\w.:/-]+)\s*(?:<\|tool_call_argument_begin\|>)?\s*/y;
const END = /\s*(?:<\|tool_call_end\|>\s*)?(?:<\|tool_calls?_section_end\|>)?/y;
const CLOSES = ["<|tool_call_end|>", "<|tool_calls_section_end|>"];

export const kimiK2: Syntax = {
  models: /kimi|moonshot/i,
  marks: () => ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>", "<|tool_call_begin|>"],
  read(cursor, tools) {
    const calls: TextCall[] = [];
    cursor.match(SECTION);
    for (;;) {
      const begin = cursor.at;
      const name = cursor.match(CALL)?.[1];
      if (name === undefined) break;
      const args = cursor.sees("{") ? wholeObject(cursor) : undefined;
      const call = args === undefined ? undefined : tools.call(name, args);
      if (call === undefined) return [...calls, ...unread(cursor, tools, name, begin, CLOSES) ?? []];
      calls.push(call);
      cursor.match(END);
    }
    return calls.length === 0 ? undefined : calls;
  },
};
