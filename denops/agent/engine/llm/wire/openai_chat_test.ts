/** Streams as OpenAI and the services that imitate it send them. */
import assert from "node:assert/strict";
import { bytewise } from "../../../../../tests/support/pieces.ts";
import { deltasOf, events, hear } from "../../../../../tests/support/wire_play.ts";
import type { ToolCall } from "../../log/messages.ts";
import { openaiChat } from "./openai_chat.ts";

const chunk = (delta: unknown, finish: string | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
});
const pieces = (...tool_calls: readonly unknown[]) => chunk({ tool_calls });
const end = (finish: string) => [chunk({}, finish), "[DONE]"];
const heard = (...values: readonly unknown[]) => hear("openai_chat", [events(...values)]);
const called = (...values: readonly unknown[]): readonly ToolCall[] => heard(...values).message.calls;

Deno.test("a recorded answer with text", () => {
  const { message, finish, usage, ends } = heard(
    chunk({ role: "assistant", content: "", refusal: null }),
    chunk({ content: "Hel" }),
    chunk({ content: "lo" }),
    chunk({}, "stop"),
    {
      choices: [],
      usage: {
        prompt_tokens: 19,
        completion_tokens: 10,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      },
    },
    "[DONE]",
  );
  assert.deepEqual(message, { role: "assistant", text: "Hello", calls: [], reasoning: [] });
  assert.equal(finish, "stop");
  assert.deepEqual(usage, { input: 19, output: 10, cachedRead: 4, cachedWrite: 0 });
  assert.deepEqual(ends, [{ type: "done" }]);
});

const a = { id: "a", name: "read_file", arguments: '{"path":"a"}' };
const b = { id: "b", name: "list", arguments: "{}" };

/** How services tell two calls; all of these mean the same. */
const twoCalls: Readonly<Record<string, readonly unknown[]>> = {
  "as OpenAI does: id and name first, then pieces": [
    pieces({ index: 0, id: "a", type: "function", function: { name: "read_file", arguments: "" } }),
    pieces({ index: 0, function: { arguments: '{"path"' } }),
    pieces({ index: 0, function: { arguments: ':"a"}' } }),
    pieces({ index: 1, id: "b", type: "function", function: { name: "list", arguments: "" } }),
    pieces({ index: 1, function: { arguments: "{}" } }),
  ],
  "pieces of both in turn": [
    pieces({ index: 0, id: "a", function: { name: "read_file" } }, {
      index: 1,
      id: "b",
      function: { name: "list" },
    }),
    pieces({ index: 1, function: { arguments: "{" } }, { index: 0, function: { arguments: '{"path":' } }),
    pieces({ index: 0, function: { arguments: '"a"}' } }),
    pieces({ index: 1, function: { arguments: "}" } }),
  ],
  "whole, in one chunk": [
    pieces(
      { index: 0, id: "a", function: { name: "read_file", arguments: '{"path":"a"}' } },
      { index: 1, id: "b", function: { name: "list", arguments: "{}" } },
    ),
  ],
  "numbers from one": [
    pieces({ index: 1, id: "a", function: { name: "read_file", arguments: '{"path":"a"}' } }),
    pieces({ index: 2, id: "b", function: { name: "list", arguments: "{}" } }),
  ],
  "every call has the number 0 (Gemini)": [
    pieces({ index: 0, id: "a", function: { name: "read_file", arguments: '{"path":"a"}' } }),
    pieces({ index: 0, id: "b", function: { name: "list", arguments: "{}" } }),
  ],
  "number 0 for all, and pieces": [
    pieces({ index: 0, id: "a", function: { name: "read_file", arguments: '{"path":' } }),
    pieces({ index: 0, function: { arguments: '"a"}' } }),
    pieces({ index: 0, id: "b", function: { name: "list", arguments: "{" } }),
    pieces({ index: 0, function: { arguments: "}" } }),
  ],
  "no numbers, whole": [
    pieces({ id: "a", function: { name: "read_file", arguments: '{"path":"a"}' } }),
    pieces({ id: "b", function: { name: "list", arguments: "{}" } }),
  ],
  "no numbers, and pieces": [
    pieces({ id: "a", function: { name: "read_file", arguments: '{"path"' } }),
    pieces({ function: { arguments: ':"a"}' } }),
    pieces({ id: "b", function: { name: "list", arguments: "{" } }),
    pieces({ function: { arguments: "}" } }),
  ],
  "no numbers, ids and names again with each piece": [
    pieces({ id: "a", function: { name: "read_file", arguments: '{"path"' } }),
    pieces({ id: "b", function: { name: "list", arguments: "{" } }),
    pieces({ id: "a", function: { name: "read_file", arguments: ':"a"}' } }),
    pieces({ id: "b", function: { name: "list", arguments: "}" } }),
  ],
  "ids and names again with each piece": [
    pieces({ index: 0, id: "a", function: { name: "read_file", arguments: '{"path"' } }),
    pieces({ index: 0, id: "a", function: { name: "read_file", arguments: ':"a"}' } }),
    pieces({ index: 1, id: "b", function: { name: "list", arguments: "{}" } }),
  ],
  "a new id with each piece": [
    pieces({ index: 0, id: "a", function: { name: "read_file", arguments: '{"path"' } }),
    pieces({ index: 0, id: "x1", function: { arguments: ':"a"}' } }),
    pieces({ index: 1, id: "b", function: { name: "list", arguments: "{}" } }),
  ],
};

for (const [what, chunks] of Object.entries(twoCalls)) {
  Deno.test(`two calls: ${what}`, () => {
    assert.deepEqual(called(...chunks, ...end("tool_calls")), [a, b]);
    assert.equal(heard(...chunks, ...end("stop")).finish, "tool_calls");
  });
}

const withoutIds: Readonly<Record<string, readonly unknown[]>> = {
  "numbered": [
    pieces({ index: 0, function: { name: "read_file", arguments: '{"path":"a"}' } }),
    pieces({ index: 1, function: { name: "list", arguments: "{}" } }),
  ],
  "number 0 for all": [
    pieces({ index: 0, id: "", function: { name: "read_file", arguments: '{"path":"a"}' } }),
    pieces({ index: 0, id: "", function: { name: "list", arguments: "{}" } }),
  ],
  "no numbers": [
    pieces({ id: null, function: { name: "read_file", arguments: '{"path":' } }),
    pieces({ function: { arguments: '"a"}' } }),
    pieces({ function: { name: "list", arguments: "{}" } }),
  ],
  "names again with each piece": [
    pieces({ index: 0, function: { name: "read_file", arguments: '{"path":' } }),
    pieces({ index: 0, function: { name: "read_file", arguments: '"a"}' } }),
    pieces({ index: 1, function: { name: "list", arguments: "{}" } }),
  ],
};

for (const [what, chunks] of Object.entries(withoutIds)) {
  Deno.test(`two calls without ids: ${what}`, () => {
    assert.deepEqual(called(...chunks, ...end("tool_calls")), [{ ...a, id: "" }, { ...b, id: "" }]);
  });
}

Deno.test("one id for two numbers is two calls", () => {
  const same = called(
    pieces({ index: 0, id: "a", function: { name: "list", arguments: "{}" } }),
    pieces({ index: 1, id: "a", function: { name: "list", arguments: "{}" } }),
  );
  assert.equal(same.length, 2);
});

Deno.test("arguments in pieces of one character, the stream in pieces of one byte", () => {
  const text = JSON.stringify({ path: "ü😀.ts", content: 'a\n"b"\\' });
  const all = [...text].map((character) => pieces({ index: 0, function: { arguments: character } }));
  const start = pieces({ index: 0, id: "a", function: { name: "write_file", arguments: "" } });
  const { message } = hear("openai_chat", bytewise(events(start, ...all, ...end("tool_calls"))));
  assert.deepEqual(message.calls, [{ id: "a", name: "write_file", arguments: text }]);
});

Deno.test("what belongs to a call and goes back with it (Gemini)", () => {
  const extra = { google: { thought_signature: "c2ln" } };
  const call = { id: "a", function: { name: "list", arguments: "{}" } };
  assert.deepEqual(called(pieces({ ...call, extra_content: extra })), [{ ...b, id: "a", extra }]);
  assert.deepEqual(called(pieces(call), pieces({ extra_content: extra })), [{ ...b, id: "a", extra }]);
});

const thoughts: readonly (readonly [who: string, delta: unknown])[] = [
  ["DeepSeek, vLLM, xAI", { content: null, reasoning_content: "Hm." }],
  ["OpenRouter, Groq", { content: "", reasoning: "Hm." }],
  ["both fields at once", { reasoning: "Hm.", reasoning_content: "Hm." }],
  ["Mistral", {
    content: [{ type: "thinking", thinking: [{ type: "text", text: "H" }, { type: "text", text: "m." }] }],
  }],
];

for (const [who, delta] of thoughts) {
  Deno.test(`reasoning: ${who}`, () => {
    const { thought, message } = heard(chunk(delta), chunk({ content: "So." }), ...end("stop"));
    assert.equal(thought, "Hm.");
    assert.deepEqual(message, { role: "assistant", text: "So.", calls: [], reasoning: [] });
  });
}

Deno.test("content as a list of texts", () => {
  const parts = [{ type: "text", text: "a" }, { type: "reference", reference_ids: [1] }, {
    type: "text",
    text: "b",
  }];
  assert.equal(heard(chunk({ content: parts })).message.text, "ab");
});

Deno.test("a refusal is text", () => {
  assert.equal(heard(chunk({ content: null, refusal: "I can't." })).message.text, "I can't.");
});

const finishes: readonly (readonly [reason: string, finish: string])[] = [
  ["stop", "stop"],
  ["eos", "stop"],
  ["function_call", "stop"],
  ["length", "length"],
  ["model_length", "length"],
  ["content_filter", "refused"],
  ["content_filter: RECITATION", "refused"],
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "refused"],
  ["PROHIBITED_CONTENT", "refused"],
  ["MALFORMED_FUNCTION_CALL", "malformed"],
  ["function_call_filter: MALFORMED_FUNCTION_CALL", "malformed"],
];

for (const [reason, finish] of finishes) {
  Deno.test(`finish_reason ${reason} is ${finish}`, () => assert.equal(heard(...end(reason)).finish, finish));
}

const usages: readonly (readonly [what: string, usage: unknown, counted: unknown])[] = [
  ["no details", { prompt_tokens: 7, completion_tokens: 2 }, {
    input: 7,
    output: 2,
    cachedRead: 0,
    cachedWrite: 0,
  }],
  [
    "thoughts in the sum alone (xAI, Gemini)",
    {
      prompt_tokens: 7,
      completion_tokens: 2,
      total_tokens: 12,
      completion_tokens_details: { reasoning_tokens: 3 },
    },
    { input: 7, output: 5, cachedRead: 0, cachedWrite: 0 },
  ],
  [
    "thoughts in what was said",
    {
      prompt_tokens: 7,
      completion_tokens: 5,
      total_tokens: 12,
      completion_tokens_details: { reasoning_tokens: 3 },
    },
    { input: 7, output: 5, cachedRead: 0, cachedWrite: 0 },
  ],
  ["details without a count", { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: {} }, {
    input: 7,
    output: 2,
    cachedRead: 0,
    cachedWrite: 0,
  }],
  ["null for nothing", { prompt_tokens: 7, completion_tokens: null, prompt_tokens_details: null }, {
    input: 7,
    output: 0,
    cachedRead: 0,
    cachedWrite: 0,
  }],
  ["none", null, undefined],
];

for (const [what, usage, counted] of usages) {
  Deno.test(`usage: ${what}`, () => assert.deepEqual(heard({ choices: null, usage }).usage, counted));
}

Deno.test("usage with the last choice counts too, and an empty one ends nothing", () => {
  const last = { ...chunk({}, "stop"), usage: { prompt_tokens: 7, completion_tokens: 2 } };
  assert.equal(heard(last, "[DONE]").usage?.input, 7);
  assert.deepEqual(heard({ ...chunk({}, "stop"), usage: {} }, "[DONE]").ends, [{ type: "done" }]);
});

const failures: readonly (readonly [what: string, frame: unknown, message: string, retryable: boolean])[] = [
  ["OpenAI", { error: { message: "Boom", type: "server_error", code: null } }, "Boom", true],
  [
    "OpenRouter, a number",
    { error: { code: 502, message: "Bad gateway" }, ...chunk({ content: "" }, "error") },
    "Bad gateway",
    true,
  ],
  ["OpenRouter, a name", { error: { code: "rate_limit_exceeded", message: "Slow down" } }, "Slow down", true],
  [
    "llama.cpp, too long",
    { error: { code: 400, message: "exceeds the context size", type: "exceed_context_size_error" } },
    "exceeds the context size",
    false,
  ],
  ["a text", { error: "model is overloaded" }, "model is overloaded", true],
  ["no message", { error: { code: 7 } }, '{"code":7}', false],
  [
    "DeepSeek",
    chunk({}, "insufficient_system_resource"),
    'finish_reason "insufficient_system_resource"',
    true,
  ],
  ["Mistral", chunk({}, "error"), 'finish_reason "error"', true],
];

for (const [what, frame, message, retryable] of failures) {
  Deno.test(`an error in mid-stream: ${what}`, () => {
    assert.deepEqual(heard(chunk({ content: "a" }), frame).ends, [{ type: "error", message, retryable }]);
  });
}

Deno.test("error: null is no error", () => {
  assert.equal(heard({ ...chunk({ content: "a" }), error: null }, ...end("stop")).message.text, "a");
});

const bodies: readonly (readonly [body: unknown, text: string | undefined])[] = [
  [
    { error: { message: "No key", type: "invalid_request_error", param: null, code: "invalid_api_key" } },
    "No key",
  ],
  [{ error: "No key" }, "No key"],
  [{ object: "error", message: "No key", type: "BadRequestError", code: 400 }, "No key"],
  [[{ error: { code: 400, message: "No key", status: "INVALID_ARGUMENT" } }], "No key"],
  [{ detail: "No key" }, undefined],
  ["No key", undefined],
  [null, undefined],
  [[], undefined],
];

Deno.test("the text of an error's body", () => {
  for (const [body, text] of bodies) assert.equal(openaiChat.errorText(body), text, JSON.stringify(body));
});

Deno.test("a frame that is not of the format is an error of one line", () => {
  for (
    const frame of ["<html>", "7", '{"choices": 7}', '{"choices": [{"delta": {"content": {}}}]}', '"\n"']
  ) {
    assert.throws(
      () => deltasOf("openai_chat", [events(frame)]),
      /^Error: (not JSON|unexpected)[^\n]*$/,
      frame,
    );
  }
});

Deno.test("nothing comes after [DONE], and other services' fields do no harm", () => {
  const strange = {
    ...chunk({ content: "a", annotations: [], audio: null }),
    x_groq: { id: "r" },
    timings: {},
  };
  const { message, ends } = heard(strange, " [DONE] ");
  assert.equal(message.text, "a");
  assert.deepEqual(ends, [{ type: "done" }]);
});
