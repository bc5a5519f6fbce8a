/**
 * A fence that is named after calls: Gemma 3's `tool_code`, with calls as Python writes them, at times inside of `print(…)`
 * (ai.google.dev/gemma/docs/capabilities/function-calling), and `tool_call` with objects. A fence of any other name shows code.
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
    // The end of the answer is one of the fence too.
    return takeClose(cursor, ["```"]) || cursor.next === undefined ? calls : undefined;
  },
};
