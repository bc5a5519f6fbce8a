/** Calls one by one: none is lost, and what was sent stays as it was. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Message } from "../log/messages.ts";
import { oneCallEach } from "./one_call.ts";

const answer = fc.record({ text: fc.constantFrom("", "I look."), calls: fc.nat({ max: 4 }) });
const turns = fc.array(fc.array(answer, { maxLength: 4 }), { maxLength: 4 });

/** A history, and its lengths at which a request was sent. */
function historyOf(played: typeof turns extends fc.Arbitrary<infer Turns> ? Turns : never) {
  const messages: Message[] = [];
  const sent: number[] = [];
  for (const [turn, answers] of played.entries()) {
    messages.push({ role: "user", text: `Turn ${turn}` });
    sent.push(messages.length);
    for (const [at, { text, calls: count }] of answers.entries()) {
      const calls = Array.from({ length: count }, (_, call) => ({
        ...{ id: `c${turn}_${at}_${call}`, name: "read_file", arguments: "{}" },
      }));
      messages.push({ role: "assistant", text, calls, reasoning: [] });
      for (const { id, name } of calls) messages.push({ role: "tool", id, name, text: id, isError: false });
      sent.push(messages.length);
    }
  }
  return { messages, sent };
}

Deno.test("each call stands in a message of its own, before its result; nothing else changes", () => {
  fc.assert(fc.property(turns, (played) => {
    const { messages, sent } = historyOf(played);
    const split = oneCallEach(messages);
    const calls = (list: readonly Message[]) =>
      list.flatMap((one) => one.role === "assistant" ? one.calls.map(({ id }) => id) : []);
    const others = (list: readonly Message[]) =>
      list.flatMap((one) => one.role === "assistant" ? one.text === "" ? [] : [one.text] : [one.text])
        .toSorted();
    assert.deepEqual(calls(split), calls(messages));
    assert.deepEqual(others(split), others(messages));
    for (const [at, message] of split.entries()) {
      if (message.role !== "assistant" || message.calls.length === 0) continue;
      const next = split[at + 1];
      assert.ok(message.calls.length === 1 && next?.role === "tool" && next.id === message.calls[0]?.id);
    }
    for (const length of sent) {
      const before = oneCallEach(messages.slice(0, length));
      assert.deepEqual(split.slice(0, before.length), before);
    }
  }));
});
