/** Streams as Anthropic sends them. */
import assert from "node:assert/strict";
import { utf8 } from "../../../../../tests/support/pieces.ts";
import { deltasOf, events, hear } from "../../../../../tests/support/wire_play.ts";
import { anthropicMessages } from "./anthropic_messages.ts";

const heard = (...values: readonly unknown[]) => hear("anthropic_messages", [events(...values)]);

const start = (usage: unknown = { input_tokens: 25, output_tokens: 1 }) => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", content: [], model: "claude", usage },
});
const block = (index: number, content_block: unknown) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, delta: unknown) => ({ type: "content_block_delta", index, delta });
const stop = (index: number) => ({ type: "content_block_stop", index });
const text = (index: number, text: string) => delta(index, { type: "text_delta", text });
const json = (index: number, partial_json: string) =>
  delta(index, { type: "input_json_delta", partial_json });
const end = (stop_reason: string, usage: unknown = { output_tokens: 15 }) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
  { type: "message_stop" },
];

/** With its `event:` lines and pings, as in the documents. */
const recorded = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":472,"output_tokens":2}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Okay"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":", I look"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"path\\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \\"a.ts\\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

`;

Deno.test("a recorded answer with text and a call", () => {
  for (const body of [recorded, recorded.replaceAll("\n", "\r\n"), recorded.replaceAll("data: ", "data:")]) {
    const { message, finish, usage, ends } = hear("anthropic_messages", [utf8(body)]);
    assert.deepEqual(message, {
      role: "assistant",
      text: "Okay, I look",
      calls: [{ id: "toolu_1", name: "read_file", arguments: '{"path": "a.ts"}' }],
      reasoning: [],
    });
    assert.equal(finish, "tool_calls");
    assert.deepEqual(usage, { input: 472, output: 89, cachedRead: 0, cachedWrite: 0 });
    assert.deepEqual(ends, [{ type: "done" }]);
  }
});

Deno.test("reasoning keeps each block's own text and signature, in order", () => {
  const thinking = (index: number, thinking: string) => delta(index, { type: "thinking_delta", thinking });
  const { message, thought } = heard(
    start(),
    block(0, { type: "thinking", thinking: "", signature: "" }),
    thinking(0, "First"),
    thinking(0, " this."),
    delta(0, { type: "signature_delta", signature: "c2lnMQ==" }),
    stop(0),
    block(1, { type: "redacted_thinking", data: "ZGF0YQ==" }),
    stop(1),
    block(2, { type: "thinking", thinking: "", signature: "" }),
    thinking(2, "Then that."),
    delta(2, { type: "signature_delta", signature: "c2lnMg==" }),
    stop(2),
    block(3, { type: "text", text: "" }),
    text(3, "So."),
    stop(3),
    ...end("end_turn"),
  );
  assert.deepEqual(message.reasoning, [
    { type: "signed", text: "First this.", signature: "c2lnMQ==" },
    { type: "redacted", data: "ZGF0YQ==" },
    { type: "signed", text: "Then that.", signature: "c2lnMg==" },
  ]);
  assert.equal(message.text, "So.");
  assert.equal(thought, "First this.Then that.");
});

Deno.test("reasoning whose text is left out still has its signature", () => {
  const { message } = heard(
    block(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "signature_delta", signature: "c2ln" }),
    stop(0),
  );
  assert.deepEqual(message.reasoning, [{ type: "signed", text: "", signature: "c2ln" }]);
});

Deno.test("blocks in turn, a call without arguments, and blocks of the server's own tools", () => {
  const { message } = heard(
    start(),
    block(0, { type: "tool_use", id: "a", name: "list", input: {} }),
    block(1, { type: "tool_use", id: "b", name: "read_file", input: {} }),
    block(2, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
    json(1, '{"path"'),
    json(2, '{"query": "x"}'),
    json(0, ""),
    json(1, ':"b"}'),
    stop(1),
    stop(0),
    block(3, { type: "web_search_tool_result", tool_use_id: "s", content: [] }),
    ...end("tool_use"),
  );
  assert.deepEqual(message.calls, [
    { id: "a", name: "list", arguments: "" },
    { id: "b", name: "read_file", arguments: '{"path":"b"}' },
  ]);
});

const finishes: readonly (readonly [reason: string, finish: string])[] = [
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "paused"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "window_full"],
  ["refusal", "refused"],
];

for (const [reason, finish] of finishes) {
  Deno.test(`stop_reason ${reason} is ${finish}`, () =>
    assert.equal(heard(start(), ...end(reason)).finish, finish));
}

const usages: readonly (readonly [what: string, first: unknown, last: unknown, counted: unknown])[] = [
  [
    "what was read from the cache and written to it is input too",
    { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: 90, output_tokens: 1 },
    { output_tokens: 40 },
    { input: 1_000, output: 40, cachedRead: 900, cachedWrite: 90 },
  ],
  [
    "the last count holds, for it is cumulative",
    { input_tokens: 10, output_tokens: 1 },
    { input_tokens: 12, cache_read_input_tokens: 3, output_tokens: 40 },
    { input: 15, output: 40, cachedRead: 3, cachedWrite: 0 },
  ],
  [
    "null in the last count says nothing",
    { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 },
    { input_tokens: null, cache_read_input_tokens: null, output_tokens: 40 },
    { input: 15, output: 40, cachedRead: 5, cachedWrite: 0 },
  ],
  ["none at all", null, null, { input: 0, output: 0, cachedRead: 0, cachedWrite: 0 }],
];

for (const [what, first, last, counted] of usages) {
  Deno.test(`usage: ${what}`, () =>
    assert.deepEqual(heard(start(first), ...end("end_turn", last)).usage, counted));
}

const errors: readonly (readonly [type: string, retryable: boolean])[] = [
  ["overloaded_error", true],
  ["api_error", true],
  ["rate_limit_error", true],
  ["timeout_error", true],
  ["invalid_request_error", false],
  ["authentication_error", false],
];

for (const [type, retryable] of errors) {
  Deno.test(`an error in mid-stream: ${type}`, () => {
    const { ends, message } = heard(start(), text(0, "a"), {
      type: "error",
      error: { type, message: "Sorry" },
    });
    assert.deepEqual(ends, [{ type: "error", message: "Sorry", retryable }]);
    assert.equal(message.text, "a");
  });
}

Deno.test("kinds of events, blocks and deltas that are yet to come do no harm", () => {
  const { message } = heard(
    start(),
    { type: "weather", sunny: true },
    block(0, { type: "hologram" }),
    delta(0, { type: "hologram_delta", points: [] }),
    delta(0, { type: "citations_delta", citation: {} }),
    block(1, { type: "text", text: "a" }),
    text(1, "b"),
    ...end("end_turn"),
  );
  assert.equal(message.text, "ab");
});

Deno.test("the text of an error's body", () => {
  const body = {
    type: "error",
    error: { type: "not_found_error", message: "model: x" },
    request_id: "req_1",
  };
  assert.equal(anthropicMessages.errorText(body), "model: x");
  for (const other of [{ error: "x" }, { message: "x" }, null, "x"]) {
    assert.equal(anthropicMessages.errorText(other), undefined);
  }
});

Deno.test("a frame that is not of the format is an error of one line", () => {
  for (const frame of ["<html>", "7", "[]", '{"type": 7}', '{"type":"content_block_start","index":"a"}']) {
    assert.throws(
      () => deltasOf("anthropic_messages", [events(frame)]),
      /^Error: (not JSON|unexpected)[^\n]*$/,
    );
  }
});
