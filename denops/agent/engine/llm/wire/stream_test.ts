/** Whole answers of every shape on every wire, cut in every way. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseScript } from "../../../scripted_model/script.ts";
import { encode } from "../../../scripted_model/wires.ts";
import { bytewise, cutAt, cuts } from "../../../../../tests/support/pieces.ts";
import { hear } from "../../../../../tests/support/wire_play.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import { type WireName, WIRES } from "../../../protocol/providers.ts";

/** The bytes of one answer of the scripted model. */
function bytesOf(name: WireName, script: string): Uint8Array {
  const [answer] = parseScript(script).answers;
  assert.ok(answer);
  const reply = {
    model: "m",
    request: 1,
    firstCall: 1,
    created: 0,
    promptTokens: 9,
    includeUsage: true,
    encrypted: true,
  };
  const parts = [...encode(name, answer, reply)].map((step) => step.kind === "send" ? [...step.bytes] : []);
  return Uint8Array.from(parts.flat());
}

const letters = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .map((text) => text.toWellFormed().replace(/[\r\n\u2028\u2029]/g, "/"));

interface Told {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly script: string;
}

/** An answer and the script for it. */
const answers: fc.Arbitrary<Told> = fc.record({
  thought: fc.option(letters, { nil: undefined }),
  text: fc.option(letters, { nil: undefined }),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom("read_file", "write_file", "x"),
      arguments: fc.dictionary(letters, fc.oneof(letters, fc.integer(), fc.constant(null)), {
        noNullPrototype: true,
      })
        .map((value) => JSON.stringify(value)),
    }),
    { maxLength: 3 },
  ),
  interleave: fc.boolean(),
  pieces: fc.constantFrom(1, 2, 7, 100),
}).map(({ thought, text, calls, interleave, pieces }) => {
  const script = [
    `pieces ${pieces}`,
    ...(interleave ? ["interleave"] : []),
    ...(thought === undefined ? [] : [`think ${thought}`]),
    ...(text === undefined ? [] : [`say ${text}`]),
    ...calls.map((call) => `call ${call.name} ${call.arguments}`),
    "usage 1200 85 200",
  ].join("\n");
  return { thought: thought ?? "", text: text ?? "", calls, script };
});

for (const name of WIRES) {
  Deno.test(`${name}: an answer is heard as it was told, however its bytes are cut`, () => {
    fc.assert(
      fc.property(answers, cuts, ({ thought, text, calls, script }, places) => {
        const bytes = bytesOf(name, script);
        const whole = hear(name, [bytes]);
        assert.equal(whole.message.text, text);
        assert.equal(whole.thought, thought);
        const named = whole.message.calls.map((call) => ({
          name: call.name,
          arguments: call.arguments || "{}",
        }));
        assert.deepEqual(
          named,
          calls.map((call) => ({ ...call, arguments: JSON.stringify(JSON.parse(call.arguments)) })),
        );
        assert.equal(new Set(whole.message.calls.map(({ id }) => id)).size, calls.length);
        assert.equal(whole.finish, calls.length > 0 ? "tool_calls" : "stop");
        const cached = name === "ollama" ? {} : { cachedRead: 200 };
        assert.deepEqual(whole.usage, { input: 1_200, output: 85, cachedRead: 0, cachedWrite: 0, ...cached });
        assert.deepEqual(whole.ends, [{ type: "done" }]);
        assert.deepEqual(hear(name, cutAt(bytes, places)), whole);
        assert.deepEqual(hear(name, bytewise(bytes)), whole);
      }),
      runs(60),
    );
  });
}

const stops: readonly (readonly [script: string, finishes: Readonly<Record<WireName, string>>])[] = [
  ["say a", { openai_chat: "stop", openai_responses: "stop", anthropic_messages: "stop", ollama: "stop" }],
  ["say a\nstop length", {
    openai_chat: "length",
    openai_responses: "length",
    anthropic_messages: "length",
    ollama: "length",
  }],
  ["say a\nstop content_filter", {
    openai_chat: "refused",
    openai_responses: "refused",
    anthropic_messages: "refused",
    ollama: "stop",
  }],
  ["call list", {
    openai_chat: "tool_calls",
    openai_responses: "tool_calls",
    anthropic_messages: "tool_calls",
    ollama: "tool_calls",
  }],
  ["call list\nstop length", {
    openai_chat: "length",
    openai_responses: "length",
    anthropic_messages: "length",
    ollama: "length",
  }],
];

for (const [script, finishes] of stops) {
  Deno.test(`why it stopped: ${script.replace("\n", ", ")}`, () => {
    const heard = Object.fromEntries(WIRES.map((name) => [name, hear(name, [bytesOf(name, script)]).finish]));
    assert.deepEqual(heard, finishes);
  });
}

Deno.test("broken arguments come through as they were written", () => {
  for (const name of WIRES) {
    const { message } = hear(name, [bytesOf(name, 'rawcall edit {"path": "a')]);
    assert.equal(message.calls[0]?.arguments, '{"path": "a', name);
  }
});

Deno.test("without its last mark an answer still has its reason to stop, but no end", () => {
  for (const name of WIRES) {
    const heard = hear(name, [bytesOf(name, "say a\nnodone")]);
    // The event that says why is the last one.
    assert.deepEqual(heard.ends, name === "openai_responses" ? [{ type: "done" }] : [], name);
    assert.equal(heard.finish, name === "ollama" ? undefined : "stop");
  }
});

Deno.test("an error in mid-stream ends it, and says whether to try again", () => {
  const told: readonly (readonly [script: string, message: string, retryable: boolean])[] = [
    ["say a\nerror overloaded_error Overloaded", "Overloaded", true],
    ["say a\nerror The model is overloaded", "The model is overloaded", true],
    ["say a\nerror invalid_request_error No such tool", "No such tool", false],
  ];
  for (const [script, message, retryable] of told) {
    for (const name of WIRES) {
      // Ollama has no kinds, only a text; to Anthropic an error without a kind is one of its own making.
      const known = name === "ollama" ? /overload/i.test(message) : retryable;
      assert.deepEqual(hear(name, [bytesOf(name, script)]).ends, [{
        type: "error",
        message,
        retryable: known,
      }], name);
    }
  }
});
