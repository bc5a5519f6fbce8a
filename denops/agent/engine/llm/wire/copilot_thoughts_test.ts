/** Thoughts that Copilot seals go back to it, and to nobody else. */
import assert from "node:assert/strict";
import { request, user } from "../../../../../tests/support/histories.ts";
import { Assembly } from "../assemble.ts";
import { ownOf } from "../own.ts";
import { wire } from "../registry.ts";

const author = { wire: "openai_chat", provider: "copilot", model: "gemini-3-pro" };

Deno.test("copilot: what a model has thought comes as a thought, and goes back sealed as it came", () => {
  const chat = wire("openai_chat");
  const decoder = chat.decoder();
  const assembly = new Assembly();
  const call = { id: "c1", index: 0, type: "function", function: { name: "read_file", arguments: "{}" } };
  const pieces = [
    { role: "assistant", content: null, reasoning_text: "First " },
    { content: null, reasoning_text: "this." },
    { content: "I look." },
    { content: null, tool_calls: [call], reasoning_opaque: "c2VhbGVk" },
  ];
  for (const delta of pieces) {
    for (const told of decoder.step(JSON.stringify({ choices: [{ index: 0, delta }] }))) assembly.add(told);
  }
  const message = assembly.message({ withCalls: true });
  const at = { text: message.text.length, calls: 0 };
  assert.deepEqual(message.reasoning, [{ type: "signed", text: "First this.", signature: "c2VhbGVk", at }]);
  const result = { role: "tool", id: "c1", name: "read_file", text: "x", isError: false } as const;
  const history = [user("Hi"), { ...message, by: author }, result];
  const sent = (model: string) => {
    const own = ownOf(history, { ...author, model });
    const { body } = chat.encode(request([...own]), {
      baseUrl: "https://api.githubcopilot.com",
      headers: {},
    });
    return JSON.parse(body).messages[2];
  };
  const { reasoning_text, reasoning_opaque, tool_calls } = sent(author.model);
  assert.deepEqual([reasoning_text, reasoning_opaque, tool_calls.length], ["First this.", "c2VhbGVk", 1]);
  assert.deepEqual(Object.keys(sent("another")).sort(), ["content", "role", "tool_calls"]);
});
