/**
 * DeepSeek V3, R1: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>n` and the arguments in a
 * fence `json`; V3.1: `…begin｜>n<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`. The marks also occur in other spellings.
 * Sources: the templates in llama.cpp's models/templates and its common/chat-parser.cpp. Step 3 has
 * `<steptml:invoke name="n">` between the marks (sglang, function_call/step3_detector.py).
 */
import type { TextCall } from "../tools.ts";
import { invokeTag } from "./invoke_tags.ts";
import { wholeObject } from "./name_object.ts";
import { type Syntax, takeClose, unread } from "./syntax.ts";

const BAR = "[｜|]";
const GAP = "(?:▁|_| |\\\\_)";
const mark = (inside: string) => new RegExp(`<${BAR}${inside}${BAR}>\\s*`, "y");
const CALLS = mark(`tool${GAP}calls(?:${GAP}begin)?`);
const CALL = mark(`tool${GAP}call${GAP}begin`);
const SEPARATOR = mark(`tool${GAP}sep`);
const END = mark(`tool${GAP}calls?${GAP}end`);
const NAME = /\s*([\w.:/-]+)\s*/y;
const FENCE = /```\w*\s*/y;

const spelled = (...words: readonly string[]) =>
  ["｜", "|"].flatMap((bar) => ["▁", "_", " ", "\\_"].map((gap) => `<${bar}${words.join(gap)}${bar}>`));
const CLOSES = [...spelled("tool", "call", "end"), ...spelled("tool", "calls", "end")];

export const deepseek: Syntax = {
  models: /deepseek|step-?3/i,
  marks: () => [
    ...spelled("tool", "calls", "begin"),
    ...spelled("tool", "calls"),
    ...spelled("tool", "call", "begin"),
  ],
  read(cursor, tools) {
    const calls: TextCall[] = [];
    cursor.match(CALLS);
    for (;;) {
      const begin = cursor.at;
      const isMarked = cursor.match(CALL) !== undefined;
      const first = cursor.match(NAME, 100)?.[1];
      const isTyped = cursor.match(SEPARATOR) !== undefined;
      const second = isTyped ? cursor.match(NAME, 100)?.[1] : undefined;
      const name = [second, first].find((one) => tools.closest(one ?? "") !== undefined) ?? second ?? first;
      if (name === undefined || !(isTyped || isMarked)) {
        cursor.at = begin;
        break;
      }
      const invoked = cursor.sees("<steptml:") ? invokeTag(cursor, tools) : undefined;
      if (invoked !== undefined) {
        calls.push(...invoked);
        if (!ended()) break;
        continue;
      }
      cursor.match(FENCE);
      const args = cursor.sees("{") ? wholeObject(cursor) : undefined;
      const call = args === undefined ? undefined : tools.call(name, args);
      if (call === undefined) return [...calls, ...unread(cursor, tools, name, begin, CLOSES) ?? []];
      calls.push(call);
      takeClose(cursor, ["```"]);
      if (!ended()) break;
    }
    ended();
    return calls.length === 0 ? undefined : calls;

    function ended(): boolean {
      const { at } = cursor;
      cursor.space();
      if (cursor.match(END) !== undefined) return true;
      cursor.at = at;
      return cursor.text.startsWith("<", at);
    }
  },
};
