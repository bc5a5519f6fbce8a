/** Streams as Ollama sends them. */
import assert from "node:assert/strict";
import { deltasOf, hear, lines } from "../../../../../tests/support/wire_play.ts";
import { utf8 } from "../../../../../tests/support/pieces.ts";
import { ollama } from "./ollama.ts";

const heard = (...values: readonly unknown[]) => hear("ollama", [lines(...values)]);
const line = (message: unknown, rest: unknown = {}) => ({
  model: "qwen3",
  created_at: "2026-01-01T00:00:00Z",
  message: Object.assign({ role: "assistant", content: "" }, message),
  done: false,
  ...Object(rest),
});
const end = (done_reason: string | undefined, counts: unknown = {}) =>
  line({}, { done: true, done_reason, total_duration: 4_883_583_458, ...Object(counts) });
const called = (id: string | undefined, name: string, args: unknown) => ({
  tool_calls: [{ ...(id === undefined ? {} : { id }), function: { index: 0, name, arguments: args } }],
});

Deno.test("a recorded answer with a thought, text and calls", () => {
  const { message, thought, finish, usage, ends } = heard(
    line({ thinking: "Look" }),
    line({ thinking: " first." }),
    line({ content: "I will" }),
    line({ content: " look." }),
    line(called("call_a", "read_file", { path: "a.ts", limit: 3 })),
    line(called(undefined, "list", {})),
    end("stop", { prompt_eval_count: 26, eval_count: 29 }),
  );
  assert.equal(thought, "Look first.");
  assert.deepEqual(message, {
    role: "assistant",
    text: "I will look.",
    calls: [
      { id: "call_a", name: "read_file", arguments: '{"path":"a.ts","limit":3}' },
      { id: "", name: "list", arguments: "{}" },
    ],
    reasoning: [],
  });
  assert.equal(finish, "tool_calls");
  assert.deepEqual(usage, { input: 26, output: 29, cachedRead: 0, cachedWrite: 0 });
  assert.deepEqual(ends, [{ type: "done" }]);
});

Deno.test("several calls in one line", () => {
  const { tool_calls: [a] } = called("a", "list", { path: "x" });
  const { tool_calls: [b] } = called("b", "list", { path: "y" });
  const { message } = heard(line({ tool_calls: [a, b] }), line({ tool_calls: [a] }), end("stop"));
  assert.deepEqual(message.calls.map((call) => call.arguments), [
    '{"path":"x"}',
    '{"path":"y"}',
    '{"path":"x"}',
  ]);
});

const odd: readonly (readonly [args: unknown, text: string])[] = [
  [null, "{}"],
  [undefined, "{}"],
  ["{}", "{}"],
  ['{"path": "a', '{"path": "a'],
  [[1], "[1]"],
];

for (const [args, text] of odd) {
  Deno.test(`arguments that are no object: ${JSON.stringify(args)}`, () => {
    assert.equal(heard(line(called("a", "list", args)), end("stop")).message.calls[0]?.arguments, text);
  });
}

const ends: readonly (readonly [what: string, last: unknown, finish: string])[] = [
  ["stop", end("stop"), "stop"],
  ["length", end("length"), "length"],
  ["load", end("load"), "stop"],
  ["no reason", end(undefined), "stop"],
  ["no message", { done: true }, "stop"],
];

for (const [what, last, finish] of ends) {
  Deno.test(`done_reason ${what} is ${finish}`, () => {
    const heardEnd = heard(line({ content: "a" }), last);
    assert.equal(heardEnd.finish, finish);
    assert.deepEqual(heardEnd.usage, { input: 0, output: 0, cachedRead: 0, cachedWrite: 0 });
  });
}

Deno.test("text in the last line counts", () => {
  assert.equal(
    heard(line({ content: "a" }), { ...end("stop"), message: { content: "b" } }).message.text,
    "ab",
  );
});

const errors: readonly (readonly [text: string, retryable: boolean])[] = [
  ["an error was encountered while running the model: unexpected EOF", false],
  ["server busy, please try again", true],
  ["model is loading", true],
  ["timed out waiting for llama runner to start", true],
  ["invalid tool", false],
];

for (const [error, retryable] of errors) {
  Deno.test(`an error in mid-stream: ${error}`, () => {
    assert.deepEqual(heard(line({ content: "a" }), { error }).ends, [{
      type: "error",
      message: error,
      retryable,
    }]);
  });
}

Deno.test("the text of an error's body", () => {
  assert.equal(ollama.errorText({ error: 'model "x" not found' }), 'model "x" not found');
  for (const other of [{ error: { message: "x" } }, null, "x", []]) {
    assert.equal(ollama.errorText(other), undefined);
  }
});

Deno.test("a line that is not of the format is an error of one line", () => {
  for (const text of ["<html>\n", "7\n", '{"message": 7}\n', '{"message": {"tool_calls": [{}]}}\n']) {
    assert.throws(() => deltasOf("ollama", [utf8(text)]), /^Error: (not JSON|unexpected)[^\n]*$/, text);
  }
});
