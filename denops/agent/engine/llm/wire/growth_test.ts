/** What an answer costs grows with its length, however it is cut: for every wire, its framing and its assembly. */
import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../../tests/support/growth.ts";
import { events, hear, lines } from "../../../../../tests/support/wire_play.ts";
import { type WireName, WIRES } from "../../../protocol/providers.ts";
import { readAnswer } from "../answer.ts";
import { wire } from "../registry.ts";

type Shape = "texts" | "pieces of one call" | "calls" | "one long text";

interface Frames {
  text(text: string): unknown;
  /** The start of a call, or a piece of its arguments. */
  start(at: number): unknown;
  piece(at: number, text: string): unknown;
}

const chat = (delta: unknown) => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta }],
});
const block = (index: number, delta: unknown) => ({ type: "content_block_delta", index, delta });
const ollama = (message: object) => ({
  ...{ model: "m", created_at: "2026-01-01T00:00:00Z", done: false },
  message: { role: "assistant", content: "", ...message },
});

const FRAMES: Readonly<Record<WireName, Frames>> = {
  openai_chat: {
    text: (content) => chat({ content }),
    start: (index) =>
      chat({
        tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "list", arguments: "" } }],
      }),
    piece: (index, text) => chat({ tool_calls: [{ index, function: { arguments: text } }] }),
  },
  openai_responses: {
    text: (delta) => ({
      type: "response.output_text.delta",
      output_index: 0,
      item_id: "m",
      content_index: 0,
      delta,
    }),
    start: (at) => ({
      ...{ type: "response.output_item.added", output_index: at },
      item: { type: "function_call", id: `f${at}`, call_id: `c${at}`, name: "list", arguments: "" },
    }),
    piece: (at, delta) => ({
      ...{ type: "response.function_call_arguments.delta", output_index: at },
      ...{ item_id: `f${at}`, delta },
    }),
  },
  anthropic_messages: {
    text: (text) => block(0, { type: "text_delta", text }),
    start: (at) => ({
      ...{ type: "content_block_start", index: at },
      content_block: { type: "tool_use", id: `c${at}`, name: "list", input: {} },
    }),
    piece: (at, partial_json) => block(at, { type: "input_json_delta", partial_json }),
  },
  ollama: {
    text: (content) => ollama({ content }),
    start: (at) => ollama({ tool_calls: [{ function: { index: at, name: "list", arguments: { at } } }] }),
    // Its calls come whole.
    piece: (_, thinking) => ollama({ thinking }),
  },
};

function answer(name: WireName, shape: Shape, size: number): readonly unknown[] {
  const { text, start, piece } = FRAMES[name];
  const all = Array.from({ length: size }, (_, at) => at);
  switch (shape) {
    case "texts":
      return all.map(() => text("word "));
    case "pieces of one call":
      return [start(1), piece(1, '{"a":"'), ...all.map(() => piece(1, "word ")), piece(1, '"}')];
    case "calls":
      return all.flatMap((at) => [start(at + 1), piece(at + 1, "{}")]);
    case "one long text":
      // A string of more than 64 kB is an object of its own for V8, which costs more.
      return [text("word ".repeat(size * 5))];
  }
}

const SHAPES: readonly Shape[] = ["texts", "pieces of one call", "calls", "one long text"];
/** Bytes of a piece of the body. */
const CUT = 100;

for (const name of WIRES) {
  Deno.test(`${name}: an answer costs time in proportion, whole and in pieces`, async () => {
    const rows = SHAPES.flatMap((shape) => [{ shape, cut: false }, { shape, cut: true }]);
    await assertEachLinear(rows, ({ shape, cut }, size) => {
      const frames = answer(name, shape, size);
      const body = name === "ollama" ? lines(...frames) : events(...frames);
      const places = Array.from({ length: Math.ceil(body.length / CUT) }, (_, at) => at * CUT);
      const pieces = cut ? places.map((at) => body.subarray(at, at + CUT)) : [body];
      return () => {
        const { message, thought } = hear(name, pieces);
        assert.ok(message.text.length + message.calls.length + thought.length > 0);
      };
    }, 150);
  });
}

Deno.test("anthropic_messages: calls that begin with their input cost time in proportion", async () => {
  const start = (index: number) => ({
    ...{ type: "content_block_start", index },
    content_block: { type: "tool_use", id: `c${index}`, name: "list", input: { index } },
  });
  const { text } = FRAMES.anthropic_messages;
  await assertEachLinear(["calls, then text"], (_, size) => {
    const all = Array.from({ length: size }, (_, at) => at);
    const body = events(...all.map(start), ...all.map(() => text("word ")));
    return () => assert.equal(hear("anthropic_messages", [body]).message.calls.length, size);
  }, 150);
});

Deno.test("one JSON in place of a stream costs time in proportion", async () => {
  const target = { baseUrl: "", provider: "", model: "", keySource: "", secrets: [] };
  await assertEachLinear(["text"], (_, size) => {
    const content = "word ".repeat(size * 200);
    const bytes = new TextEncoder().encode(JSON.stringify({ choices: [{ message: { content } }] }));
    return async () => {
      const body = new ReadableStream({
        type: "bytes",
        start(controller) {
          for (let at = 0; at < bytes.length; at += 1_000) controller.enqueue(bytes.slice(at, at + 1_000));
          controller.close();
        },
      });
      let length = 0;
      for await (const deltas of readAnswer(new Response(body), wire("openai_chat"), target, () => {})) {
        for (const delta of deltas) if (delta.type === "text") length += delta.text.length;
      }
      assert.equal(length, content.length);
    };
  }, 150);
});
