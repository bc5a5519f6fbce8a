/**
 * gpt-oss: `<|channel|>commentary to=functions.n <|constrain|>json<|message|>{…}<|call|>`. The recipient may
 * precede the channel, and channels other than commentary occur. If a server drops the special tokens,
 * `commentary to=functions.n json{…}` remains. Sources: openai/harmony, docs/format.md; llama.cpp,
 * common/chat-parser.cpp; text-generation-webui, modules/tool_parsing.py; ml-explore/mlx-lm, issue 875.
 */
import { wholeObject } from "./name_object.ts";
import { asCalls, type Syntax, unread } from "./syntax.ts";

const HEAD =
  /(?:<\|start\|>)?(?:assistant)?\s*(?:<\|channel\|>)?(?:commentary|analysis|final)?\s*to=(?:functions?[.:])?([\w.-]+)\s*(?:<\|channel\|>\s*\w+\s*)?(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*(?=\{)/y;
/** The header of a message that is not an object. */
const WORDS_HEAD = /[^{}]{0,200}?\bto=(?:functions?[.:])?([\w.-]+)[^{}]{0,100}?<\|message\|>/y;
const CUT_HEAD = /[^{}]{0,200}$/y;
const CALL = /\s*(?:<\|call\|>|<\|end\|>)/y;

export const harmony: Syntax = {
  models: /gpt-?oss/i,
  marks: () => [
    ...["", "<|start|>assistant"].flatMap((start) =>
      ["commentary", "analysis", "final"].map((channel) => `${start}<|channel|>${channel} to=`)
    ),
    "<|start|>assistant to=",
    "commentary to=functions",
    "assistantcommentary to=",
    "to=functions.",
  ],
  read(cursor, tools) {
    const begin = cursor.at;
    const name = cursor.match(HEAD, 300)?.[1];
    if (name === undefined) {
      // The text may end before the arguments begin.
      cursor.from(begin).match(CUT_HEAD, 200);
      const words = cursor.match(WORDS_HEAD, 300)?.[1];
      if (words === undefined || cursor.find("<|call|>") === -1) return undefined;
      return unread(cursor, tools, words, begin, ["<|call|>"]);
    }
    const args = wholeObject(cursor);
    if (args === undefined) return unread(cursor, tools, name, begin, ["<|call|>", "<|end|>"]);
    cursor.match(CALL);
    return asCalls(tools.call(name, args));
  },
};
