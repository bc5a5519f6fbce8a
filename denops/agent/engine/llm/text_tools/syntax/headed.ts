/**
 * Messages with a header. Inkling: `<|message_model|>n<|content_invoke_tool_json|>{"name": …}
 * <|end_message|>` (sglang, function_call/inkling_detector.py). Muse: `<|start|>assistant
 * to=functions.n<|message|>` before its invoke tags (sglang, function_call/muse_glimmer_format.py). GigaChat
 * 3 ends its words with a mark before the call (GigaChat3-10B-A1.8B.jinja in llama.cpp's models/templates).
 */
import type { Syntax } from "./syntax.ts";
import { inMarks } from "./wrapped.ts";

const HEAD =
  /<\|message_sep\|>\s*(?=function call<\|role_sep\|>)|<\|message_model\|>[\w.-]{0,80}\s*<\|content_invoke_tool_json\|>|(?:<\|start\|>)?(?:assistant )?to=functions\.[\w.-]{1,80}<\|message\|>/y;

export const headed: Syntax = {
  models: /inkling|muse|gigachat/i,
  marks: () => ["<|message_sep|>", "<|message_model|>", "<|start|>assistant to=functions.", "to=functions."],
  read: (cursor, tools) => cursor.match(HEAD, 200) === undefined ? undefined : inMarks(cursor, tools),
};
