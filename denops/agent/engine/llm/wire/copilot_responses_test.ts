/**
 * Copilot gives an item another id in each event of it: its place alone is the same. Source: litellm #30072, vercel/ai
 * #18548.
 */
import assert from "node:assert/strict";
import { Assembly } from "../assemble.ts";
import { wire } from "../registry.ts";

Deno.test("copilot: items of Responses are told apart by their places, whatever their ids", () => {
  let last = 0;
  const id = () => `blob-${++last}`;
  const added = (output_index: number, item: object) => ({
    type: "response.output_item.added",
    output_index,
    item: { id: id(), ...item },
  });
  const done = (output_index: number, item: object) => ({
    ...added(output_index, item),
    type: "response.output_item.done",
  });
  const piece = (type: string, output_index: number, more: object) => ({
    type: `response.${type}`,
    output_index,
    item_id: id(),
    ...more,
  });
  const call = (number: number, args: string) => ({
    ...{ type: "function_call", call_id: `call_${number}`, name: "read_file", arguments: args },
  });
  const reasoning = {
    type: "reasoning",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: "x",
  };
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] };
  const events = [
    { type: "response.created", response: { id: id() } },
    added(0, { type: "reasoning", summary: [] }),
    piece("reasoning_summary_part.added", 0, { summary_index: 0, part: { type: "summary_text", text: "" } }),
    piece("reasoning_summary_text.delta", 0, { summary_index: 0, delta: "Hm." }),
    done(0, reasoning),
    added(1, { type: "message", role: "assistant", content: [] }),
    piece("content_part.added", 1, { content_index: 0, part: { type: "output_text", text: "" } }),
    piece("output_text.delta", 1, { content_index: 0, delta: "I look." }),
    piece("output_text.done", 1, { content_index: 0, text: "I look." }),
    done(1, message),
    added(2, call(1, "")),
    added(3, call(2, "")),
    piece("function_call_arguments.delta", 2, { delta: '{"path":' }),
    piece("function_call_arguments.delta", 3, { delta: '{"path": "b"}' }),
    piece("function_call_arguments.delta", 2, { delta: ' "a"}' }),
    piece("function_call_arguments.done", 2, { arguments: '{"path": "a"}' }),
    done(2, call(1, '{"path": "a"}')),
    done(3, call(2, '{"path": "b"}')),
    {
      type: "response.completed",
      response: {
        id: id(),
        status: "completed",
        output: [reasoning, message, call(1, '{"path": "a"}'), call(2, '{"path": "b"}')],
        usage: { input_tokens: 9, output_tokens: 3 },
      },
    },
  ];
  const decoder = wire("openai_responses").decoder();
  const assembly = new Assembly();
  for (const event of events) {
    for (const told of decoder.step(JSON.stringify(event))) assembly.add(told);
  }
  const { text, calls } = assembly.message({ withCalls: true });
  assert.equal(text, "I look.");
  assert.deepEqual(calls.map(({ arguments: args }) => JSON.parse(args).path), ["a", "b"]);
  assert.equal(assembly.finish, "tool_calls");
});
