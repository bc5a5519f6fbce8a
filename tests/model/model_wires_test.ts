import assert from "node:assert/strict";
import { objects, property } from "./model_messages.ts";
import { ask, frames, stream, wires } from "./model_requests.ts";
import { ModelServer } from "./model_server.ts";
import { signatureOf } from "../../denops/agent/scripted_model/wire_anthropic.ts";

const story = `think Look
think first.
say I will *look* ü😀.
call read_file {"path": "a.ts"}
call list
usage 1200 85 200
`;

Deno.test("OpenAI: chunks, calls by index, usage in a chunk of its own, [DONE]", async () => {
  await using server = await ModelServer.start(story);
  const response = await ask(server.url, "openai_chat", "Hi");
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  const all = frames(await response.text());
  assert.equal(all.at(-1), "[DONE]");
  const chunks = objects(all);
  assert.ok(chunks.every((chunk) => chunk.object === "chat.completion.chunk" && chunk.id === "chatcmpl-1"));
  const choices = chunks.flatMap((chunk) => objects(chunk.choices));
  assert.deepEqual(choices.map((choice) => choice.delta), [
    { role: "assistant", content: "", refusal: null },
    { content: null, reasoning_content: "Look" },
    { content: null, reasoning_content: "\nfirst." },
    { content: "I" },
    { content: " will" },
    { content: " *look*" },
    { content: " ü😀." },
    {
      tool_calls: [{
        index: 0,
        id: "call_1",
        type: "function",
        function: { name: "read_file", arguments: "" },
      }],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"path":"a' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '.ts"}' } }] },
    { tool_calls: [{ index: 1, id: "call_2", type: "function", function: { name: "list", arguments: "" } }] },
    { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
    {},
  ]);
  assert.deepEqual(choices.map((choice) => choice.finish_reason), [...Array(12).fill(null), "tool_calls"]);
  const last = chunks.at(-1);
  assert.deepEqual(last?.choices, []);
  assert.equal(property(last?.usage, "total_tokens"), 1285);
  assert.deepEqual(property(last?.usage, "prompt_tokens_details"), { cached_tokens: 200, audio_tokens: 0 });
  assert.deepEqual(server.problems, []);
});

Deno.test("OpenAI: no usage that was not asked for, which is a problem", async () => {
  await using server = await ModelServer.start("say Hello");
  const body = await (await ask(server.url, "openai_chat", "Hi", { extra: { stream_options: undefined } }))
    .text();
  assert.ok(!body.includes("usage"));
  assert.deepEqual(server.problems, ["request 1 (openai_chat): stream_options.include_usage is not true"]);
});

Deno.test("Anthropic: named events, blocks by index, signature, pings", async () => {
  await using server = await ModelServer.start(story);
  const text = await (await ask(server.url, "anthropic_messages", "Hi")).text();
  const events = objects(frames(text));
  assert.deepEqual(
    [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1]),
    events.map((event) => event.type),
  );
  const start = events[0]?.message;
  assert.deepEqual(property(start, "content"), []);
  assert.deepEqual(property(start, "usage"), {
    input_tokens: 1000,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 200,
    output_tokens: 1,
    service_tier: "standard",
  });
  const blocks = events.slice(1, -2).filter((event) => event.type !== "ping");
  assert.deepEqual(blocks.map((event) => [event.index, event.content_block ?? event.delta ?? "stop"]), [
    [0, { type: "thinking", thinking: "", signature: "" }],
    [0, { type: "thinking_delta", thinking: "Look" }],
    [0, { type: "thinking_delta", thinking: "\nfirst." }],
    [0, { type: "signature_delta", signature: signatureOf("Look\nfirst.") }],
    [0, "stop"],
    [1, { type: "text", text: "" }],
    [1, { type: "text_delta", text: "I" }],
    [1, { type: "text_delta", text: " will" }],
    [1, { type: "text_delta", text: " *look*" }],
    [1, { type: "text_delta", text: " ü😀." }],
    [1, "stop"],
    [2, { type: "tool_use", id: "call_1", name: "read_file", input: {} }],
    [2, { type: "input_json_delta", partial_json: "" }],
    [2, { type: "input_json_delta", partial_json: '{"path":"a' }],
    [2, { type: "input_json_delta", partial_json: '.ts"}' }],
    [2, "stop"],
    [3, { type: "tool_use", id: "call_2", name: "list", input: {} }],
    [3, { type: "input_json_delta", partial_json: "" }],
    [3, "stop"],
  ]);
  assert.ok(events.some((event) => event.type === "ping"));
  assert.deepEqual(events.at(-2)?.delta, { stop_reason: "tool_use", stop_sequence: null });
  assert.equal(property(events.at(-2)?.usage, "output_tokens"), 85);
  assert.deepEqual(events.at(-1), { type: "message_stop" });
  assert.deepEqual(server.problems, []);
});

Deno.test("OpenAI's responses: named events, items by number, whole items when they are done", async () => {
  await using server = await ModelServer.start(story);
  const response = await ask(server.url, "openai_responses", "Hi");
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events = objects(frames(await response.text()));
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), [...events.keys()]);
  const done = events.filter(({ type }) => type === "response.output_item.done");
  assert.deepEqual(done.map(({ output_index, item }) => [output_index, item]), [
    [0, {
      id: "rs_1_0",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Look\nfirst." }],
      encrypted_content: signatureOf("Look\nfirst."),
    }],
    [1, {
      id: "msg_1_1",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "I will *look* ü😀.", annotations: [], logprobs: [] }],
    }],
    ...[["read_file", '{"path":"a.ts"}'], ["list", "{}"]].map(([name, text], at) => [2 + at, {
      id: `fc_1_${2 + at}`,
      type: "function_call",
      status: "completed",
      arguments: text,
      call_id: `call_${1 + at}`,
      name,
    }]),
  ]);
  const last = events.at(-1);
  assert.equal(last?.type, "response.completed");
  assert.equal(property(property(last?.response, "usage"), "input_tokens"), 1200);
  assert.equal(objects(property(last?.response, "output")).length, 4);
  assert.deepEqual(server.problems, []);
});

Deno.test("Ollama: lines, whole calls, counts in the last line", async () => {
  await using server = await ModelServer.start(story);
  const response = await ask(server.url, "ollama", "Hi");
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  const lines = objects(frames(await response.text()));
  assert.deepEqual(lines.map((line) => line.message), [
    { role: "assistant", content: "", thinking: "Look" },
    { role: "assistant", content: "", thinking: "\nfirst." },
    { role: "assistant", content: "I" },
    { role: "assistant", content: " will" },
    { role: "assistant", content: " *look*" },
    { role: "assistant", content: " ü😀." },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "call_1", function: { index: 0, name: "read_file", arguments: { path: "a.ts" } } }],
    },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "call_2", function: { index: 1, name: "list", arguments: {} } }],
    },
    { role: "assistant", content: "" },
  ]);
  assert.deepEqual(lines.map((line) => line.done), [...Array(8).fill(false), true]);
  const { done_reason, prompt_eval_count, eval_count } = lines.at(-1) ?? {};
  assert.deepEqual({ done_reason, prompt_eval_count, eval_count }, {
    done_reason: "stop",
    prompt_eval_count: 1200,
    eval_count: 85,
  });
  assert.deepEqual(server.problems, []);
});

Deno.test("the reason of the end has each provider's word", async () => {
  const script = ["end_turn", "length", "tool_calls", "content_filter"].map((stop) => `stop ${stop}`).join(
    "\n---\n",
  );
  const words = {
    openai_chat: ["stop", "length", "tool_calls", "content_filter"],
    openai_responses: ["completed", "max_output_tokens", "completed", "content_filter"],
    anthropic_messages: ["end_turn", "max_tokens", "tool_use", "refusal"],
    ollama: ["stop", "length", "stop", "stop"],
  };
  for (const wire of wires) {
    await using server = await ModelServer.start(script);
    for (const word of words[wire]) {
      const all = JSON.stringify(await stream(server, wire));
      assert.match(all, new RegExp(`"(finish_reason|stop_reason|done_reason|status|reason)":"${word}"`));
    }
  }
});

Deno.test("interleave streams the arguments of calls in turn", async () => {
  await using server = await ModelServer.start('interleave\npieces 4\ncall a {"x":1}\nrawcall b {broken');
  const chunks = objects(await stream(server, "openai_chat"));
  const calls = chunks.flatMap((chunk) => objects(chunk.choices))
    .flatMap((choice) => objects(property(choice.delta, "tool_calls")));
  const pieces = calls.map((
    call,
  ) => [call.index, property(call.function, "name") ?? property(call.function, "arguments")]);
  assert.deepEqual(pieces, [[0, "a"], [1, "b"], [0, '{"x"'], [1, "{bro"], [0, ":1}"], [1, "ken"]]);
});

Deno.test("flood and big have their size", async () => {
  await using server = await ModelServer.start("flood 3\n---\nbig 5000");
  const text = async () => {
    const lines = objects(await stream(server, "ollama"));
    return lines.map((line) => property(line.message, "content")).join("");
  };
  assert.equal(await text(), "word1 word2 word3 ");
  assert.equal((await text()).length, 5000);
});

Deno.test("errors have each provider's shape", async () => {
  const shapes = {
    openai_chat: {
      status: {
        error: {
          message: "The script answers with HTTP 429.",
          type: "requests",
          param: null,
          code: "rate_limit_exceeded",
        },
      },
      stream: { error: { message: "Too busy", type: "overloaded_error", param: null, code: null } },
    },
    openai_responses: {
      status: {
        error: {
          message: "The script answers with HTTP 429.",
          type: "requests",
          param: null,
          code: "rate_limit_exceeded",
        },
      },
      stream: {
        type: "error",
        error: { type: "overloaded_error", code: "overloaded_error", message: "Too busy", param: null },
        sequence_number: 5,
      },
    },
    anthropic_messages: {
      status: {
        type: "error",
        error: { type: "rate_limit_error", message: "The script answers with HTTP 429." },
        request_id: "req_1",
      },
      stream: { type: "error", error: { type: "overloaded_error", message: "Too busy" } },
    },
    ollama: { status: { error: "The script answers with HTTP 429." }, stream: { error: "Too busy" } },
  };
  for (const wire of wires) {
    await using server = await ModelServer.start(
      "status 429 retry-after=2\n---\nsay a\nerror overloaded_error Too busy\n---\nhtml\n---\nstatus 400 Bad luck",
    );
    const limited = await ask(server.url, wire, "Hi");
    assert.equal(limited.status, 429);
    assert.equal(limited.headers.get("retry-after"), "2");
    assert.deepEqual(await limited.json(), shapes[wire].status);
    assert.deepEqual((await stream(server, wire)).at(-1), shapes[wire].stream);
    const page = await ask(server.url, wire, "Hi");
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(await page.text(), /^<!DOCTYPE html>/);
    assert.equal(await (await ask(server.url, wire, "Hi")).text(), "Bad luck");
  }
});

Deno.test("garbage is a line of its own in the stream", async () => {
  await using server = await ModelServer.start(
    "say a\ngarbage : keep-alive\nsay b\n---\ngarbage {broken\\xff",
  );
  assert.match(await (await ask(server.url, "openai_chat", "Hi")).text(), /\n\n: keep-alive\n\ndata: /);
  const bytes = await (await ask(server.url, "ollama", "Hi")).bytes();
  assert.deepEqual([...bytes.slice(0, 9)], [..."{broken"].map((c) => c.charCodeAt(0)).concat(255, 10));
});
