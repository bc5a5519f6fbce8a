/**
 * `<invoke name="n"><parameter name="k">v</parameter>…</invoke>`, with or without a name space: MiniMax M2
 * (unsloth-MiniMax-M2.jinja in llama.cpp's models/templates), DeepSeek V3.2 and V4 with `｜DSML｜` and
 * `string="true|false"` (sglang, function_call/deepseekv32_detector.py), GigaChat 3.5 with `｜GCML｜`, Muse
 * with `atem:` (sglang, function_call/muse_glimmer_detector.py), Claude's older format. The tags may also
 * contain JSON. The name spaces of opening and closing tags may differ.
 */
import type { Cursor } from "../../../../shared/text/cursor.ts";
import { wholeObject } from "./name_object.ts";
import { alone, asCalls, type Read, type Syntax, takeClose, unread } from "./syntax.ts";
import { unwrapped, valueTo } from "./tagged_values.ts";
import { wholeLiteral } from "../../../../shared/text/literal.ts";

/** Name spaces of the tags, with the models that use them; without models, any model may. */
const ROWS: readonly (readonly [space: string, models?: RegExp])[] = [
  ...[[""], ["antml:"], ["minimax:", /minimax/i], ["atem:", /muse/i], ["steptml:", /step-?3/i]] as const,
  ...[["｜DSML｜", /deepseek/i], ["|DSML|", /deepseek/i], ["｜GCML｜", /gigachat/i]] as const,
];
const SPACES = ROWS.map(([space]) => space);
const SPACE = "(?:[｜|](?:DSML|GCML)[｜|]|(?:antml|minimax|atem|steptml):)?";
const OPEN = new RegExp(`<${SPACE}invoke\\s{1,9}name=["']?([\\w.:/-]{1,80})["']?\\s{0,9}>`, "y");
const PARAMETER = new RegExp(
  `<${SPACE}parameter\\s{1,9}name=["']?([\\w.$-]{1,80})["']?(?:\\s+(?:string=["'](true|false)["']|type=["']\\w+["']))?\\s*>`,
  "y",
);
const CUT_PARAMETER = /<(?:[｜|a-z][^<>\n]{0,150})?$/y;
const closing = (name: string) => SPACES.map((space) => `</${space}${name}>`);
const CLOSES = closing("invoke");
const OUTER = ["function_calls", "tool_calls", "tool_call"].flatMap(closing);
const NEXT = SPACES.flatMap((space) => [`<${space}parameter`, `<${space}invoke`]);
const ENDS_OF_CALL = [...SPACES.map((space) => `<${space}invoke`), ...CLOSES, ...OUTER];
const ENDS = { closes: closing("parameter"), follows: [...NEXT, ...CLOSES, ...OUTER] };

export const invokeTag: Read = (cursor, tools) => {
  const begin = cursor.at;
  const name = cursor.match(OPEN)?.[1];
  if (name === undefined) return undefined;
  cursor.space();
  const args = cursor.sees("{") ? wholeObject(cursor) : parameters(cursor);
  if (args === undefined) return unread(cursor, tools, name, begin, CLOSES);
  takeClose(cursor, CLOSES);
  return asCalls(tools.call(name, args));
};

/** Undefined if the end is missing: parameters may be missing too. */
function parameters(cursor: Cursor): Readonly<Record<string, unknown>> | undefined {
  const values = new Map<string, unknown>();
  for (;;) {
    cursor.space();
    const tag = cursor.match(PARAMETER, CUT_PARAMETER);
    if (tag === undefined) break;
    const [, key = "", isString] = tag;
    const value = valueTo(cursor, ENDS);
    if (value === undefined) return undefined;
    values.set(key, isString === undefined ? unwrapped(value) : isString === "true" ? value : typed(value));
  }
  return ENDS_OF_CALL.some((tag) => cursor.sees(tag)) ? Object.fromEntries(values) : undefined;
}

function typed(value: string): unknown {
  const read = wholeLiteral(value.trim());
  return read === undefined ? value : read.value;
}

export const invokeTags = ROWS.map(([space, models]): Syntax => ({
  marks: () => [`<${space}invoke name=`],
  read: alone(invokeTag, OUTER),
  ...(models === undefined ? {} : { models }),
}));
