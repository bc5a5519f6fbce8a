/** Streams as OpenAI and servers that imitate it send them. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { bytewise, cutAt } from "../../../../../tests/support/pieces.ts";
import { deltasOf, events, hear } from "../../../../../tests/support/wire_play.ts";
import { assertEachLinear } from "../../../../../tests/support/growth.ts";
import { IS_FULL } from "../../../../../tests/support/sample.ts";

const heard = (...values: readonly unknown[]) => hear("openai_responses", [events(...values)]);
const added = (output_index: number, item: unknown) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: unknown) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const said = (output_index: number, delta: string) => ({
  type: "response.output_text.delta",
  output_index,
  item_id: `msg_${output_index}`,
  content_index: 0,
  delta,
  logprobs: [],
});
const summary = (output_index: number, summary_index: number, delta: string) => ({
  type: "response.reasoning_summary_text.delta",
  output_index,
  item_id: `rs_${output_index}`,
  summary_index,
  delta,
});
const part = (output_index: number, summary_index: number) => ({
  type: "response.reasoning_summary_part.added",
  output_index,
  item_id: `rs_${output_index}`,
  summary_index,
  part: { type: "summary_text", text: "" },
});
const json = (output_index: number, delta: string) => ({
  type: "response.function_call_arguments.delta",
  output_index,
  item_id: `fc_${output_index}`,
  delta,
});
const completed = (more: object = {}) => ({
  type: "response.completed",
  response: { status: "completed", ...more },
});
const message = (id: string, phase?: string) => ({
  id,
  type: "message",
  role: "assistant",
  status: "in_progress",
  content: [],
  ...(phase === undefined ? {} : { phase }),
});
const call = (id: string, call_id: string, name: string, text = "") => ({
  id,
  type: "function_call",
  call_id,
  name,
  arguments: text,
});
const usage = {
  input_tokens: 1_200,
  input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 50 },
  output_tokens: 80,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 1_280,
};

const READ = { id: "call_1", name: "read_file", arguments: '{"path":"a.ts"}' };

/** As gpt-5 and codex models send it: a thought, a word, another thought, calls. */
const RECORDED = [
  { type: "response.created", response: { id: "resp_1", status: "in_progress", usage: null, error: null } },
  { type: "response.in_progress", response: { id: "resp_1", status: "in_progress" } },
  added(0, { id: "rs_0", type: "reasoning", encrypted_content: "half", summary: [] }),
  part(0, 0),
  summary(0, 0, "**Looking**"),
  { type: "response.reasoning_summary_text.done", output_index: 0, summary_index: 0, text: "**Looking**" },
  part(0, 1),
  summary(0, 1, "**Then**"),
  done(0, {
    id: "rs_0",
    type: "reasoning",
    encrypted_content: "whole",
    summary: [{ type: "summary_text", text: "**Looking**" }, { type: "summary_text", text: "**Then**" }],
  }),
  added(1, message("msg_1", "commentary")),
  { type: "response.content_part.added", output_index: 1, content_index: 0, part: { type: "output_text" } },
  said(1, "I "),
  said(1, "look."),
  { type: "response.output_text.done", output_index: 1, content_index: 0, text: "I look." },
  done(1, { ...message("msg_1", "commentary"), content: [{ type: "output_text", text: "I look." }] }),
  added(2, { id: "rs_2", type: "reasoning", encrypted_content: "x", summary: [] }),
  done(2, { id: "rs_2", type: "reasoning", encrypted_content: "silent", summary: [] }),
  added(3, call("fc_3", "call_1", "read_file")),
  json(3, '{"path":'),
  json(3, '"a.ts"}'),
  {
    type: "response.function_call_arguments.done",
    output_index: 3,
    item_id: "fc_3",
    arguments: READ.arguments,
  },
  done(3, call("fc_3", "call_1", "read_file", READ.arguments)),
  added(4, call("fc_4", "call_2", "list")),
  json(4, "{}"),
  done(4, call("fc_4", "call_2", "list", "{}")),
  completed({ usage }),
];

Deno.test("a recorded answer: thoughts, text and calls, and what goes back in its place", () => {
  const { message, thought, finish, usage, ends } = heard(...RECORDED);
  assert.deepEqual(message, {
    role: "assistant",
    text: "I look.",
    calls: [READ, { id: "call_2", name: "list", arguments: "{}" }],
    reasoning: [
      { type: "encrypted", summary: ["**Looking**", "**Then**"], data: "whole", text: 0, calls: 0 },
      { type: "phase", phase: "commentary", text: 0 },
      { type: "encrypted", summary: [], data: "silent", text: 7, calls: 0 },
    ],
  });
  assert.equal(thought, "**Looking**\n\n**Then**");
  assert.equal(finish, "tool_calls");
  assert.deepEqual(usage, { input: 1_200, output: 80, cachedRead: 1_000, cachedWrite: 50 });
  assert.deepEqual(ends, [{ type: "done" }]);
});

Deno.test("cut anywhere it is the same answer", () => {
  const bytes = events(...RECORDED);
  const whole = hear("openai_responses", [bytes]);
  assert.deepEqual(hear("openai_responses", bytewise(bytes)), whole);
  const places = fc.array(fc.nat({ max: bytes.length }), { maxLength: 6 });
  fc.assert(fc.property(places, (at) => assert.deepEqual(hear("openai_responses", cutAt(bytes, at)), whole)));
});

/** How servers tell a call; all of these mean the same. */
const calls: Readonly<Record<string, readonly unknown[]>> = {
  "whole, in the last event of its arguments": [
    added(0, call("fc_0", "call_1", "read_file")),
    {
      type: "response.function_call_arguments.done",
      output_index: 0,
      item_id: "fc_0",
      arguments: READ.arguments,
    },
    done(0, call("fc_0", "call_1", "read_file", READ.arguments)),
  ],
  "only when it is done": [done(0, call("fc_0", "call_1", "read_file", READ.arguments))],
  "its rest when it is done": [
    added(0, call("fc_0", "call_1", "read_file")),
    json(0, '{"path"'),
    done(0, call("fc_0", "call_1", "read_file", READ.arguments)),
  ],
  "as Copilot does: with an id for each event": [
    added(0, call("one", "call_1", "read_file")),
    { ...json(0, '{"path":'), item_id: "two" },
    { ...json(0, '"a.ts"}'), item_id: "three" },
    done(0, call("four", "call_1", "read_file", READ.arguments)),
  ],
  "as llama.cpp does: nothing is numbered, and the pieces bear the call's id": [
    { type: "response.output_item.added", item: { ...call("", "call_1", "read_file"), id: undefined } },
    { type: "response.function_call_arguments.delta", item_id: "call_1", delta: '{"path":' },
    { type: "response.function_call_arguments.delta", item_id: "call_1", delta: '"a.ts"}' },
    { type: "response.output_item.done", item: call("call_1", "call_1", "read_file", READ.arguments) },
  ],
  "after a text of the same number": [
    added(0, message("msg_0")),
    said(0, "I look."),
    added(0, call("fc_0", "call_1", "read_file")),
    json(0, READ.arguments),
    done(0, { ...message("msg_0"), content: [{ type: "output_text", text: "I look." }] }),
    done(0, call("fc_0", "call_1", "read_file", READ.arguments)),
  ],
  "after a text of the same number, only when it is done": [
    added(0, message("msg_0")),
    said(0, "I look."),
    done(0, call("fc_0", "call_1", "read_file", READ.arguments)),
  ],
  "without any name in its pieces": [
    { type: "response.output_item.added", item: call("fc", "call_1", "read_file") },
    { type: "response.function_call_arguments.delta", delta: READ.arguments },
    { type: "response.output_item.done", item: call("fc", "call_1", "read_file", READ.arguments) },
  ],
};

for (const [what, frames] of Object.entries(calls)) {
  Deno.test(`a call ${what}`, () => {
    const { message, finish } = heard(...frames, completed());
    assert.deepEqual(message.calls, [READ]);
    assert.equal(finish, "tool_calls");
  });
}

Deno.test("pieces of two calls in turn", () => {
  const { message } = heard(
    added(0, call("fc_0", "call_1", "read_file")),
    added(1, call("fc_1", "call_2", "list")),
    json(1, "{"),
    json(0, READ.arguments),
    json(1, "}"),
    completed(),
  );
  assert.deepEqual(message.calls, [READ, { id: "call_2", name: "list", arguments: "{}" }]);
});

Deno.test("thoughts that follow each other are paragraphs; one after a text begins anew", () => {
  const deltas = deltasOf("openai_responses", [
    events(
      ...[
        added(0, { id: "rs_0", type: "reasoning" }),
        part(0, 0),
        summary(0, 0, "A."),
        part(0, 1),
        summary(0, 1, "B."),
      ],
      ...[added(1, { id: "rs_1", type: "reasoning" }), part(1, 0), summary(1, 0, "C.")],
      ...[said(2, "So."), added(3, { id: "rs_3", type: "reasoning" }), part(3, 0), summary(3, 0, "D.")],
    ),
  ]);
  const told = deltas.map((delta) =>
    delta.type === "thought" || delta.type === "text" ? delta.text : delta.type
  );
  assert.deepEqual(told, ["A.", "\n\n", "B.", "\n\n", "C.", "So.", "D."]);
});

Deno.test("whatever is lost, doubled or out of order, nothing is thrown, and it ends at most once", () => {
  const frames = fc.array(fc.constantFrom(...RECORDED), { maxLength: 40 });
  fc.assert(fc.property(frames, (frames) => {
    const { ends, message } = heard(...frames);
    assert.ok(ends.length <= frames.filter((frame) => frame.type === "response.completed").length);
    assert.ok(message.calls.length <= frames.length);
  }));
});

Deno.test("an answer of very many items takes no longer for each", async () => {
  await assertEachLinear(["calls"], (_, count) => {
    const many = Array.from(
      { length: count },
      (_, at) => [added(at, call(`fc_${at}`, `c${at}`, "list")), json(at, "{}")],
    );
    return () => assert.equal(heard(...many.flat(), completed()).message.calls.length, count);
  }, IS_FULL ? 5_000 : 500);
});

Deno.test("a thought in the open, as servers of one's own send it, is shown and does not go back", () => {
  const item = { type: "reasoning", id: "rs_0", summary: [], encrypted_content: "" };
  const content = [{ type: "reasoning_text", text: "Hm." }];
  const streamed = [
    { type: "response.output_item.added", item: { ...item, content: [] } },
    { type: "response.reasoning_text.delta", item_id: "rs_0", delta: "Hm." },
  ];
  for (const before of [streamed, []]) {
    const last = { type: "response.output_item.done", item: { ...item, content } };
    const { thought, message } = heard(...before, last, completed(), "[DONE]");
    assert.equal(thought, "Hm.");
    assert.deepEqual(message.reasoning, []);
  }
});

Deno.test("a text that comes only when it is done is told once", () => {
  const whole = { ...message("msg_0"), content: [{ type: "output_text", text: "Hello" }] };
  assert.equal(heard(done(0, whole), completed()).message.text, "Hello");
  assert.equal(heard(said(0, "Hello"), done(0, whole), completed()).message.text, "Hello");
  assert.equal(heard(added(0, message("msg_0")), done(0, whole), completed()).message.text, "Hello");
});

Deno.test("a refusal in the model's own words is its answer", () => {
  const { message: { text }, finish } = heard(
    added(0, message("msg_0")),
    { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "I can't " },
    { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "help." },
    done(0, { ...message("msg_0"), content: [{ type: "refusal", refusal: "I can't help." }] }),
    completed(),
  );
  assert.deepEqual([text, finish], ["I can't help.", "stop"]);
});

Deno.test("why it stopped", () => {
  const incomplete = (reason: string | null) => ({
    type: "response.incomplete",
    response: { status: "incomplete", incomplete_details: reason === null ? null : { reason }, usage },
  });
  const finishes = ["max_output_tokens", "content_filter", "something_new", null].map((reason) => {
    const { finish, usage, ends } = heard(said(0, "Half"), incomplete(reason));
    assert.equal(usage?.input, 1_200);
    assert.deepEqual(ends, [{ type: "done" }]);
    return finish;
  });
  assert.deepEqual(finishes, ["length", "refused", "stop", "stop"]);
});

Deno.test("a failure says what it is, in any of its places, and whether to try again", () => {
  const failed = (error: unknown) => ({ type: "response.failed", response: { status: "failed", error } });
  const told: readonly (readonly [frame: unknown, message: string, retryable: boolean])[] = [
    [failed({ code: "server_error", message: "We are sorry." }), "We are sorry.", true],
    [failed({ code: "rate_limit_exceeded", message: "Too fast." }), "Too fast.", true],
    [
      failed({ code: "context_length_exceeded", message: "Your input exceeds." }),
      "Your input exceeds.",
      false,
    ],
    [failed({ code: "invalid_image", message: "No image." }), "No image.", false],
    [failed({ code: "server_is_overloaded", message: "" }), "server_is_overloaded", true],
    [failed(null), "it gave no reason", false],
    [{ type: "error", code: "server_error", message: "Flat.", param: null }, "Flat.", true],
    [
      { type: "error", error: { type: "invalid_request_error", code: null, message: "Deep." } },
      "Deep.",
      false,
    ],
    [{ type: "error", error: { type: "error", code: 503, message: "By number." } }, "By number.", true],
    [{ type: "error", code: 429, message: "By number." }, "By number.", true],
  ];
  for (const [frame, message, retryable] of told) {
    assert.deepEqual(heard(said(0, "Half"), frame).ends, [{ type: "error", message, retryable }]);
  }
});

Deno.test("a policy that refuses in mid-stream is a refusal, in the provider's words", () => {
  const error = { code: "invalid_prompt", message: "We've limited access to this content." };
  const deltas = deltasOf("openai_responses", [events({ type: "response.failed", response: { error } })]);
  assert.deepEqual(deltas, [
    { type: "finish", reason: "refused", why: error.message },
    { type: "done" },
  ]);
});

Deno.test("events and items that it does not know say nothing", () => {
  const { message } = heard(
    { type: "response.queued" },
    { type: "response.web_search_call.searching", item_id: "ws_1", output_index: 0 },
    added(0, { id: "ws_1", type: "web_search_call", status: "in_progress" }),
    { type: "response.something.new", delta: { text: "x" } },
    done(0, { id: "ws_1", type: "web_search_call" }),
    { type: "response.output_text.delta", delta: { no: "text" } },
    { type: "response.output_item.added" },
    json(7, "lost"),
    said(1, "Hello"),
    completed({ usage: null }),
  );
  assert.deepEqual(message, { role: "assistant", text: "Hello", calls: [], reasoning: [] });
});

Deno.test("what is no event is said in one line", () => {
  assert.throws(() => heard("nonsense"), /^Error: not JSON: "nonsense"$/);
  assert.throws(() => heard({ no: "type" }), /^Error: unexpected type in/);
});
