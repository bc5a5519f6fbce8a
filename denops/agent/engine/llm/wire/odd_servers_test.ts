/**
 * Servers that speak a wire almost: what they send as an answer, and what they are sent next. Sources: issues of Ollama,
 * vLLM, SGLang, LiteLLM, new-api, one-api and of clients of such servers (openai-python, vercel/ai, Roo Code, Cherry Studio).
 */
import assert from "node:assert/strict";
import { objects, property } from "../../../../../tests/model/model_messages.ts";
import { END_TURN, startEngine } from "../../../../../tests/support/engine_session.ts";
import type { WireName } from "../../../protocol/providers.ts";

const ARGUMENTS = { path: "a.txt" };
const TEXT = JSON.stringify(ARGUMENTS);
const PIECES = ['{"path":', ' "a.txt"}'];

interface Odd {
  readonly what: string;
  readonly wire?: WireName;
  /** Frames of a stream. */
  readonly frames?: readonly unknown[];
  /** One JSON in place of a stream. */
  readonly whole?: unknown;
  /** Calls that it has; one unless told. */
  readonly calls?: number;
}

const call = (more: object = {}, fn: object = {}) => ({
  index: 0,
  id: "call_1",
  type: "function",
  function: { name: "read_file", arguments: TEXT, ...fn },
  ...more,
});
const chunk = (delta: unknown, finish: string | null = null) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const END = chunk({}, "tool_calls");
const USAGE = { prompt_tokens: 10, completion_tokens: 5 };
const message = (content: string | null, more: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content, ...more }, finish_reason: "tool_calls" }],
});

const block = (more: object) => ({
  type: "content_block_start",
  index: 0,
  content_block: { type: "tool_use", id: "call_1", name: "read_file", ...more },
});
const START = { type: "message_start", message: { usage: { input_tokens: 10 } } };
const STOP = [
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
];
const ITEM = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read_file" };

const ODD: readonly Odd[] = [
  {
    what: "arguments are an object",
    frames: [chunk({ tool_calls: [call({}, { arguments: ARGUMENTS })] }), END],
  },
  {
    what: "arguments begin as an empty object",
    frames: [
      chunk({ tool_calls: [call({}, { arguments: {} })] }),
      ...PIECES.map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
      END,
    ],
  },
  {
    what: "an index is a text",
    frames: [
      chunk({ tool_calls: [call({ index: "0" }, { arguments: PIECES[0] })] }),
      chunk({ tool_calls: [{ index: "0", function: { arguments: PIECES[1] } }] }),
      END,
    ],
  },
  {
    what: "two calls, whose indexes are texts",
    calls: 2,
    frames: [
      chunk({
        tool_calls: [
          call({ index: "0" }, { arguments: PIECES[0] }),
          call({ index: "1", id: "call_2" }, { arguments: PIECES[0] }),
        ],
      }),
      chunk({
        tool_calls: [{ index: "0", function: { arguments: PIECES[1] } }, {
          index: "1",
          function: { arguments: PIECES[1] },
        }],
      }),
      END,
    ],
  },
  {
    what: "an index is missing",
    frames: [
      chunk({ tool_calls: [call({ index: undefined }, { arguments: PIECES[0] })] }),
      chunk({ tool_calls: [{ function: { arguments: PIECES[1] } }] }),
      END,
    ],
  },
  { what: "an id is a number", frames: [chunk({ tool_calls: [call({ id: 7 })] }), END] },
  { what: "the only call is in no list", frames: [chunk({ tool_calls: call() }), END] },
  { what: "a message in place of a delta", frames: [message("Look.", { tool_calls: [call()] })] },
  {
    what: "a legacy function call",
    frames: [
      chunk({ function_call: { name: "read_file", arguments: PIECES[0] } }),
      chunk({ function_call: { arguments: PIECES[1] } }),
      chunk({}, "function_call"),
    ],
  },
  {
    what: "one whole JSON",
    whole: { ...message("Look.", { tool_calls: [call({ index: undefined })] }), usage: USAGE },
  },
  {
    what: "one whole JSON with two calls",
    calls: 2,
    whole: message(null, {
      tool_calls: [call({ index: undefined }), call({ index: undefined, id: "call_2" })],
    }),
  },
  {
    what: "one whole JSON with a legacy call",
    whole: message(null, { function_call: { name: "read_file", arguments: TEXT } }),
  },
  {
    what: "one whole JSON of 40 kB",
    whole: message(Array.from({ length: 8_000 }, (_, at) => at).join(" "), { tool_calls: [call()] }),
  },
  {
    what: "a block begins with its input",
    wire: "anthropic_messages",
    frames: [START, block({ input: ARGUMENTS }), ...STOP],
  },
  {
    what: "a block begins with its input as a text",
    wire: "anthropic_messages",
    frames: [START, block({ input: TEXT }), ...STOP],
  },
  {
    what: "a block begins with its input and never stops",
    wire: "anthropic_messages",
    frames: [START, block({ input: ARGUMENTS }), ...STOP.slice(1)],
  },
  {
    what: "a block begins with its input, which comes in pieces too",
    wire: "anthropic_messages",
    frames: [
      START,
      block({ input: ARGUMENTS }),
      ...PIECES.map((text) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: text },
      })),
      ...STOP,
    ],
  },
  {
    what: "an index is a text",
    wire: "anthropic_messages",
    frames: [
      START,
      { ...block({ input: {} }), index: "0" },
      ...PIECES.map((text) => ({
        type: "content_block_delta",
        index: "0",
        delta: { type: "input_json_delta", partial_json: text },
      })),
      ...STOP,
    ],
  },
  {
    what: "one whole JSON",
    wire: "anthropic_messages",
    whole: {
      type: "message",
      content: [{ type: "text", text: "Look." }, {
        type: "tool_use",
        id: "call_1",
        name: "read_file",
        input: ARGUMENTS,
      }],
      stop_reason: "tool_use",
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  },
  {
    what: "arguments are an object",
    wire: "openai_responses",
    frames: [
      { type: "response.output_item.added", output_index: 0, item: { ...ITEM, arguments: "" } },
      { type: "response.output_item.done", output_index: 0, item: { ...ITEM, arguments: ARGUMENTS } },
      { type: "response.completed", response: {} },
    ],
  },
  {
    what: "an index is a text",
    wire: "openai_responses",
    frames: [
      { type: "response.output_item.added", output_index: "0", item: { ...ITEM, arguments: "" } },
      { type: "response.function_call_arguments.done", output_index: "0", arguments: TEXT },
      { type: "response.completed", response: {} },
    ],
  },
  {
    what: "one whole JSON",
    wire: "openai_responses",
    whole: {
      object: "response",
      output: [{ type: "message", content: [{ type: "output_text", text: "Look." }] }, {
        ...ITEM,
        arguments: TEXT,
      }],
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  },
  {
    what: "arguments are a text",
    wire: "ollama",
    frames: [{
      message: { content: "", tool_calls: [{ function: { name: "read_file", arguments: TEXT } }] },
      done: true,
    }],
  },
];

function scriptOf({ wire, frames, whole }: Odd): string {
  const next = "\n---\nexpect alpha\nsay Done";
  if (whole !== undefined) return `status 200 ${JSON.stringify(whole)}${next}`;
  const lines = (frames ?? []).map((frame) => JSON.stringify(frame));
  const text = lines.map((line) => wire === "ollama" ? `${line}\n` : `data: ${line}\n\n`).join("");
  return `garbage ${text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\neof${next}`;
}

/** The calls of the newest answer in a request, each with its arguments. */
function callsIn(body: Readonly<Record<string, unknown>>, wire: WireName): readonly unknown[] {
  const parsed = (value: unknown) => typeof value === "string" ? JSON.parse(value) : value;
  if (wire === "openai_responses") {
    return objects(body["input"]).filter(({ type }) => type === "function_call")
      .map(({ name, arguments: args }) => [name, parsed(args)]);
  }
  return objects(body["messages"]).flatMap((message) =>
    wire === "anthropic_messages"
      ? objects(message["content"]).filter(({ type }) => type === "tool_use").map((
        { name, input },
      ) => [name, input])
      : objects(message["tool_calls"]).map((call) => {
        const made = property(call, "function");
        return [property(made, "name"), parsed(property(made, "arguments"))];
      })
  );
}

for (const odd of ODD) {
  const { what, wire = "openai_chat", calls = 1 } = odd;
  Deno.test(`${wire}: ${what}`, async () => {
    await using engine = await startEngine({
      wire,
      files: { "a.txt": "alpha\n" },
      script: scriptOf({ ...odd, wire }),
    });
    assert.deepEqual(await engine.prompt("Look"), END_TURN);
    const made = Array.from({ length: calls }, () => ["read_file", ARGUMENTS]);
    assert.deepEqual(callsIn(engine.server.requests[1]?.body ?? {}, wire), made);
    assert.deepEqual(engine.server.problems, []);
    const said = engine.messages().find(({ role }) => role === "assistant");
    const isSaid = JSON.stringify([odd.frames, odd.whole]).includes("Look.");
    if (isSaid) assert.equal(said?.text, "Look.");
  });
}

const UNKNOWN_STREAM_OPTIONS = [
  `{"error":{"message":"Unknown parameter: 'stream_options'.","param":"stream_options","code":"unknown_parameter"}}`,
  `{"error":{"message":"Extra inputs are not permitted, field: 'stream_options'"}}`,
  `{"detail":"Extra parameters ['stream_options'] are not allowed when extra-parameters is not set."}`,
  `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`,
  `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`,
];

for (const refusal of UNKNOWN_STREAM_OPTIONS) {
  Deno.test(`stream_options are left out once they were refused: ${refusal.slice(0, 70)}`, async () => {
    await using engine = await startEngine({
      script: `status ${refusal.includes("loc") ? 422 : 400} ${refusal}\n---\nsay One\n---\nsay Two`,
    });
    assert.deepEqual(await engine.prompt("Hi"), END_TURN);
    assert.deepEqual(await engine.prompt("Again"), END_TURN);
    const [first, ...others] = engine.server.requests.map(({ body }) => body);
    assert.deepEqual(others.map((body) => body["stream_options"]), [undefined, undefined]);
    const { stream_options, ...rest } = first ?? {};
    assert.deepEqual(stream_options, { include_usage: true });
    assert.deepEqual(others[0], rest);
  });
}

const UNSUPPORTED =
  `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`;

Deno.test("max_tokens are max_completion_tokens once they were refused, and stream_options too", async () => {
  await using engine = await startEngine({
    config: { max_output_tokens: 77 },
    script: [
      `status 400 {"error":{"message":"${UNSUPPORTED}","param":"max_tokens","code":"unsupported_parameter"}}`,
      `status 400 ${UNKNOWN_STREAM_OPTIONS[0]}`,
      "say One",
      "say Two",
    ].join("\n---\n"),
  });
  assert.deepEqual(await engine.prompt("Hi"), END_TURN);
  assert.deepEqual(await engine.prompt("Again"), END_TURN);
  const limits = engine.server.requests.map(({ body }) => [
    body["max_tokens"],
    body["max_completion_tokens"],
    body["stream_options"] !== undefined,
  ]);
  assert.deepEqual(limits, [
    [77, undefined, true],
    [undefined, 77, true],
    [undefined, 77, false],
    [undefined, 77, false],
  ]);
});

for (
  const [what, words] of [
    ["too many", "max_tokens is too large: 77. This model supports at most 10 completion tokens."],
    ["of the wrong kind", "max_tokens must be at least 100"],
  ] as const
) {
  Deno.test(`max_tokens that are ${what} are not asked for by another name`, async () => {
    await using engine = await startEngine({
      config: { max_output_tokens: 77 },
      script: `status 400 {"error":{"message":"${words}"}}\n---\nsay One`,
    });
    const end = await engine.prompt("Hi");
    assert.equal(end.type, "failed");
    assert.equal(engine.server.requests.length, 1);
  });
}

Deno.test("a refusal that comes again is told: nothing is asked for a third time", async () => {
  const refusal = `status 400 ${UNKNOWN_STREAM_OPTIONS[0]}`;
  await using engine = await startEngine({ script: [refusal, refusal, "say One"].join("\n---\n") });
  assert.equal((await engine.prompt("Hi")).type, "failed");
  assert.equal(engine.server.requests.length, 2);
});
