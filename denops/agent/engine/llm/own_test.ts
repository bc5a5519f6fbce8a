import assert from "node:assert/strict";
import type { AssistantMessage, Author } from "../log/messages.ts";
import { ownOf } from "./own.ts";

const CLAUDE: Author = { wire: "anthropic_messages", provider: "anthropic", model: "claude-sonnet-5" };
const answer: AssistantMessage = {
  role: "assistant",
  text: "I look.",
  calls: [{ id: "1", name: "read_file", arguments: '{"path":"a"}', extra: { signature: "s" } }],
  reasoning: [{ type: "signed", text: "hm", signature: "abc" }],
  written: "I look.<tool_call>…",
};

Deno.test("what only its author can read goes back to its author alone", () => {
  const own = { ...answer, by: CLAUDE };
  const user = { role: "user", text: "hi" } as const;
  assert.deepEqual(ownOf([user, own, answer], CLAUDE), [user, own, answer]);
  for (const other of [{ model: "claude-opus-5" }, { provider: "bedrock" }, { wire: "openai_chat" }]) {
    const [, told] = ownOf([user, own], { ...CLAUDE, ...other });
    assert.deepEqual(told, {
      role: "assistant",
      text: "I look.",
      calls: [{ id: "1", name: "read_file", arguments: '{"path":"a"}' }],
      reasoning: [],
      by: CLAUDE,
    });
  }
});
