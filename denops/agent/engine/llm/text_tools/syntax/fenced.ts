/**
 * A fence whose language means calls: Gemma 3's `tool_code`, with calls in Python syntax, sometimes inside of
 * `print(…)` (ai.google.dev/gemma/docs/capabilities/function-calling), and `tool_call` with objects. Other
 * fences contain code.
 */
import { objects } from "./object.ts";
import { pythonic } from "./pythonic.ts";
import { firstOf, type Syntax, takeClose } from "./syntax.ts";

const MARKS = ["```tool_code\n", "```tool_call\n"];
const inside = firstOf([objects, pythonic]);

export const fenced: Syntax = {
  marks: () => MARKS,
  atLine: true,
  read(cursor, tools) {
    cursor.takeOne(MARKS);
    cursor.space();
    const calls = inside(cursor, tools);
    // The end of the answer also ends the fence.
    return takeClose(cursor, ["```"]) || cursor.next === undefined ? calls : undefined;
  },
};
