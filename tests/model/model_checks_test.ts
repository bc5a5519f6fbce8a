import assert from "node:assert/strict";
import { checkPrefix, checkRequest, checkSecrets } from "./model_checks.ts";
import { historyKey, type JsonObject, transcript } from "./model_messages.ts";
import { signatureOf } from "../../denops/agent/scripted_model/wire_anthropic.ts";
import { chatBody, chatHeaders } from "./model_requests.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

function problems(
  wire: ScriptedWire,
  messages: readonly unknown[],
  extra: JsonObject = {},
): readonly string[] {
  return checkRequest(wire, chatHeaders(wire), { ...chatBody(wire, messages), ...extra });
}

const user = { role: "user", content: "Hi" };
const openaiCalls = {
  role: "assistant",
  content: null,
  tool_calls: ["call_1", "call_2"].map((id) => ({
    id,
    type: "function",
    function: { name: "list", arguments: "{}" },
  })),
};
const openaiResult = (id: string) => ({ role: "tool", tool_call_id: id, content: "a.ts" });
const anthropicCalls = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "Hm.", signature: signatureOf("Hm.") },
    ...["call_1", "call_2"].map((id) => ({ type: "tool_use", id, name: "list", input: {} })),
  ],
};
const anthropicResult = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "a.ts" });
const ollamaCalls = {
  role: "assistant",
  content: "",
  tool_calls: ["list", "read"].map((name) => ({ function: { name, arguments: {} } })),
};
const ollamaResult = (name: string) => ({ role: "tool", tool_name: name, content: "a.ts" });

Deno.test("sound requests have no problems", () => {
  const results = ["call_2", "call_1"];
  assert.deepEqual(
    problems("openai_chat", [
      { role: "system", content: "S" },
      user,
      openaiCalls,
      ...results.map(openaiResult),
    ]),
    [],
  );
  const answer = {
    role: "user",
    content: [...results.map(anthropicResult), { type: "text", text: "Go on" }],
  };
  assert.deepEqual(problems("anthropic_messages", [user, anthropicCalls, answer]), []);
  assert.deepEqual(
    problems("ollama", [user, ollamaCalls, ollamaResult("list"), ollamaResult("read"), user]),
    [],
  );
  const withIds = {
    ...ollamaCalls,
    tool_calls: [{ id: "call_1", function: { name: "list", arguments: {} } }],
  };
  assert.deepEqual(
    problems("ollama", [user, withIds, { role: "tool", tool_call_id: "call_1", content: "" }]),
    [],
  );
});

Deno.test("every call has exactly one result right after it", () => {
  assert.deepEqual(problems("openai_chat", [user, openaiCalls, openaiResult("call_1")]), [
    "call call_2 has no result right after it",
  ]);
  assert.deepEqual(
    problems("openai_chat", [user, openaiCalls, user, openaiResult("call_1"), openaiResult("call_2")]),
    [
      "call call_1 has no result right after it",
      "call call_2 has no result right after it",
      "message 3: result call_1 answers no call right before it",
      "message 4: result call_2 answers no call right before it",
    ],
  );
  const twice = [openaiResult("call_1"), openaiResult("call_2"), openaiResult("call_1")];
  assert.deepEqual(problems("openai_chat", [user, openaiCalls, ...twice]), [
    "message 4: result call_1 answers no call right before it",
  ]);
  assert.deepEqual(
    problems("anthropic_messages", [user, anthropicCalls, {
      role: "user",
      content: [anthropicResult("call_1")],
    }]),
    [
      "call call_2 has no result right after it",
    ],
  );
  assert.deepEqual(problems("ollama", [user, ollamaCalls, ollamaResult("list"), ollamaResult("list")]), [
    "message 3: result list answers no call right before it",
    "call read has no result right after it",
  ]);
});

Deno.test("roles have a legal order", () => {
  const system = { role: "system", content: "S" };
  const said = { role: "assistant", content: "Hello" };
  assert.deepEqual(problems("openai_chat", [user, system]), ["message 1 (system) is not at the beginning"]);
  assert.deepEqual(problems("openai_chat", [system, said]), [
    "message 1 (assistant) should be the user's",
    "the last message is the assistant's",
  ]);
  assert.deepEqual(problems("anthropic_messages", [said, user, user]), [
    "message 0 (assistant) should be the user's",
    "message 2 (user) follows one of the same role",
  ]);
  assert.deepEqual(problems("anthropic_messages", [user, { role: "tool", content: "x" }]), [
    'message 1 has the role "tool"',
  ]);
  assert.deepEqual(problems("ollama", [{ role: "bot", content: "x" }]), ['message 0 has the role "bot"']);
});

Deno.test("no message is empty", () => {
  const nothing = ["message 1 (assistant) is empty"];
  assert.deepEqual(problems("openai_chat", [user, { role: "assistant", content: "" }, user]), nothing);
  assert.deepEqual(
    problems("ollama", [user, { role: "assistant", content: " ", thinking: "Hm" }, user]),
    nothing,
  );
  assert.deepEqual(problems("anthropic_messages", [user, { role: "assistant", content: [] }, user]), [
    ...nothing,
    "message 1 (assistant) has no content",
  ]);
  assert.deepEqual(
    problems("anthropic_messages", [{ role: "user", content: [{ type: "text", text: "" }] }]),
    [
      "message 0 (user) has an empty text block",
    ],
  );
  assert.deepEqual(problems("openai_chat", [{ role: "user" }]), ["message 0 (user) has no content"]);
});

Deno.test("what only Anthropic wants", () => {
  const body = chatBody("anthropic_messages", [user]);
  const { max_tokens: _, ...rest } = body;
  assert.deepEqual(checkRequest("anthropic_messages", {}, rest), [
    "there is no header anthropic-version",
    "there is no header x-api-key",
    "max_tokens is not a positive number",
  ]);
  const late = {
    role: "user",
    content: [{ type: "text", text: "So:" }, anthropicResult("call_1"), anthropicResult("call_2")],
  };
  assert.deepEqual(problems("anthropic_messages", [user, anthropicCalls, late]), [
    "message 2 (user) has other content before a tool result",
  ]);
  const altered = {
    role: "assistant",
    content: [{ type: "thinking", thinking: "Ha.", signature: signatureOf("Hm.") }, {
      type: "text",
      text: "x",
    }],
  };
  assert.deepEqual(problems("anthropic_messages", [user, altered, user]), [
    "message 1 (assistant): the signature does not fit the thinking block",
  ]);
  assert.deepEqual(
    problems("anthropic_messages", [user], {
      thinking: { type: "enabled", budget_tokens: 1024 },
      temperature: 0.1,
    }),
    [
      "temperature must be 1 with thinking",
    ],
  );
  const marked = { type: "text", text: "x", cache_control: { type: "ephemeral" } };
  assert.deepEqual(problems("anthropic_messages", [{ role: "user", content: Array(5).fill(marked) }]), [
    "there are 5 cache_control marks, 4 are allowed",
  ]);
});

Deno.test("streaming, usage and tools are asked for as they should be", () => {
  assert.deepEqual(problems("openai_chat", [user], { stream: false, stream_options: undefined }), [
    "stream is not true",
    "stream_options.include_usage is not true",
  ]);
  assert.deepEqual(
    problems("openai_chat", [user], {
      tools: [{ type: "function", function: { name: "a b", parameters: {} } }],
    }),
    [
      "tool a b has no valid name",
      "tool a b has no description",
      "tool a b has no schema of type object",
    ],
  );
  const tool = { name: "list", description: "Lists.", input_schema: { type: "object" } };
  assert.deepEqual(problems("anthropic_messages", [user], { tools: [tool, tool] }), [
    "tool list is there twice",
  ]);
  assert.deepEqual(problems("openai_chat", [user], { tools: [] }), ["tools is empty, leave it out"]);
  assert.deepEqual(
    problems("ollama", [user, {
      ...ollamaCalls,
      tool_calls: [{ function: { name: "list", arguments: "{}" } }],
    }, ollamaResult("list")]),
    [
      "message 1 (assistant): arguments of list are not an object",
    ],
  );
});

Deno.test("a session only grows", () => {
  assert.deepEqual(checkPrefix(["a", "b"], ["a", "b", "c"]), []);
  assert.deepEqual(checkPrefix(["a", "b"], ["a"]), ["message 1 of the request before is gone: b"]);
  assert.deepEqual(checkPrefix(["same", "old"], ["same", "odd"]), [
    "message 1 is not what it was: old became odd",
  ]);
  const said = (thought: object) => JSON.stringify({ role: "assistant", content: "So.", ...thought });
  const [asked, thought, plain] = [JSON.stringify(user), said({ reasoning_content: "Hm." }), said({})];
  assert.deepEqual(checkPrefix([asked, thought], [asked, plain, asked]), []);
  assert.equal(checkPrefix([asked, thought], [asked, plain, plain]).length, 1);
  assert.equal(checkPrefix([asked, plain], [asked, thought, asked]).length, 1);
});

Deno.test("cache marks and Anthropic's short form change no message", () => {
  const block = { type: "text", text: "Hi", cache_control: { type: "ephemeral" } };
  const before = chatBody("anthropic_messages", [{ role: "user", content: [block] }], { system: "S" });
  const now = chatBody("anthropic_messages", [user, { role: "assistant", content: "Hello" }, user], {
    system: "S",
  });
  assert.equal(historyKey("anthropic_messages", before), historyKey("anthropic_messages", now));
  const transcripts = [before, now].map((body) => transcript("anthropic_messages", body));
  assert.deepEqual(checkPrefix(transcripts[0] ?? [], transcripts[1] ?? []), []);
});

Deno.test("secrets are found in any form and never named", () => {
  const found = checkSecrets(["", 'k"1', "key 2"], { URL: "/v1?key=key%202", body: '{"content":"k\\"1"}' });
  assert.deepEqual(found, ["secret 3 is in the URL", "secret 2 is in the body"]);
});
