import assert from "node:assert/strict";
import fc from "fast-check";
import { Assembly } from "./assemble.ts";
import type { Delta } from "./wire/wire.ts";

function assembled(...deltas: readonly Delta[]): Assembly {
  const assembly = new Assembly();
  for (const delta of deltas) assembly.add(delta);
  return assembly;
}

const start = (index: number, id: string): Delta => ({ type: "call_start", index, id, name: `tool_${id}` });
const piece = (index: number, text: string): Delta => ({ type: "call_arguments", index, text });

Deno.test("nothing came: an empty message, no usage, no reason to stop", () => {
  const assembly = assembled();
  assert.deepEqual(assembly.message({ withCalls: true }), {
    role: "assistant",
    text: "",
    calls: [],
    reasoning: [],
  });
  assert.equal(assembly.usage, undefined);
  assert.equal(assembly.finish, undefined);
});

Deno.test("calls stand by their index, whatever the order in which they came", () => {
  const { calls } = assembled(start(10, "c"), start(2, "b"), start(0, "a"), piece(2, "2"), piece(10, "10"));
  assert.deepEqual(calls, [
    { id: "a", name: "tool_a", arguments: "" },
    { id: "b", name: "tool_b", arguments: "2" },
    { id: "c", name: "tool_c", arguments: "10" },
  ]);
});

Deno.test("equal calls of one answer are all kept", () => {
  const { calls } = assembled(start(0, "a"), piece(0, "{}"), start(1, "a"), piece(1, "{}"));
  assert.equal(calls.length, 2);
});

Deno.test("pieces of a call that never began are dropped", () => {
  assert.deepEqual(assembled(piece(3, "{}"), { type: "call_extra", index: 3, extra: {} }).calls, []);
});

Deno.test("what goes back with a call is gathered", () => {
  const extra = (value: Record<string, unknown>): Delta => ({ type: "call_extra", index: 0, extra: value });
  const { calls } = assembled(start(0, "a"), extra({ a: 1 }), extra({ b: 2 }));
  assert.deepEqual(calls, [{ id: "a", name: "tool_a", arguments: "", extra: { a: 1, b: 2 } }]);
});

Deno.test("a message without its calls keeps text and reasoning", () => {
  const assembly = assembled(
    { type: "thought", text: "Hm" },
    { type: "thought", text: "." },
    { type: "signature", signature: "s" },
    { type: "redacted", data: "r" },
    { type: "thought", text: "So." },
    { type: "signature", signature: "t" },
    { type: "thought", text: "not signed" },
    { type: "text", text: "a" },
    start(0, "a"),
    piece(0, '{"path": "a'),
    { type: "text", text: "b" },
  );
  assert.deepEqual(assembly.message({ withCalls: false }), {
    role: "assistant",
    text: "ab",
    calls: [],
    reasoning: [
      { type: "signed", text: "Hm.", signature: "s" },
      { type: "redacted", data: "r" },
      { type: "signed", text: "So.", signature: "t" },
    ],
  });
  assert.equal(assembly.message({ withCalls: true }).calls.length, 1);
});

Deno.test("the last word on usage and on the reason to stop counts, field by field", () => {
  const assembly = assembled(
    { type: "usage", usage: { input: 10, cachedRead: 4 } },
    { type: "finish", reason: "stop" },
    { type: "usage", usage: { input: 12, output: 3 } },
    { type: "finish", reason: "length" },
    { type: "done" },
  );
  assert.deepEqual(assembly.usage, { input: 12, output: 3, cachedRead: 4, cachedWrite: 0 });
  assert.equal(assembly.finish, "length");
});

Deno.test("pieces of several calls give the same, however they are mixed", () => {
  const texts = fc.array(fc.array(fc.string({ maxLength: 4 }), { maxLength: 6 }), { maxLength: 4 });
  fc.assert(fc.property(texts, fc.infiniteStream(fc.nat()), (calls, choices) => {
    const waiting = calls.map((
      pieces,
      index,
    ) => [start(index, String(index)), ...pieces.map((text) => piece(index, text))]);
    const mixed: Delta[] = [];
    while (waiting.some((rest) => rest.length > 0)) {
      const open = waiting.filter((rest) => rest.length > 0);
      const next = open[Number(choices.next().value) % open.length]?.shift();
      if (next !== undefined) mixed.push(next);
    }
    const expected = calls.map((pieces, index) => ({
      id: String(index),
      name: `tool_${index}`,
      arguments: pieces.join(""),
    }));
    assert.deepEqual(assembled(...mixed).calls, expected);
  }));
});
