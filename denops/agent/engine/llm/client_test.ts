/** The model client against a real HTTP server that answers from a script. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { request, user } from "../../../../tests/support/histories.ts";
import { KEY } from "../../../../tests/support/key.ts";
import { checked, listen, serve, stream } from "../../../../tests/support/model_client.ts";
import { utf8 } from "../../../../tests/support/pieces.ts";
import { events, lines } from "../../../../tests/support/wire_play.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { IS_FULL } from "../../../../tests/support/sample.ts";
import { type WireName, WIRES } from "../../protocol/providers.ts";
import type { ModelEvent } from "./client.ts";

const secrets = [KEY];

for (const wire of WIRES) {
  Deno.test(`${wire}: thoughts, text, calls and usage arrive, and the key goes in a header`, async () => {
    await using server = await ModelServer.start(
      'think Hm.\nsay Hello ü😀\ncall read_file {"path": "a.ts"}\nusage 1200 85\nsplit 3',
      { secrets },
    );
    const { end, text, assembly } = await listen(server.url, { wire });
    assert.equal(end, "done");
    assert.equal(text, "Hello ü😀");
    assert.equal(assembly.calls[0]?.arguments, '{"path":"a.ts"}');
    assert.equal(assembly.usage?.input, 1_200);
    assert.equal(assembly.finish, "tool_calls");
    assert.ok(Object.values(server.requests[0]?.headers ?? {}).some((value) => value.includes(KEY)));
    assert.deepEqual(server.problems, []);
  });
}

/** What an answer ends in; `error` is a part of the message. */
interface Case {
  readonly what: string;
  readonly script: string;
  readonly end: "done" | "failed";
  readonly kind?: string;
  readonly error?: string;
  readonly text?: string;
  /** All wires unless told. */
  readonly wires?: readonly WireName[];
}

const sse: readonly WireName[] = ["openai_chat", "openai_responses", "anthropic_messages"];

const cases: readonly Case[] = [
  { what: "no mark of the end", script: "say Whole\nnodone", end: "done", text: "Whole", wires: sse },
  {
    what: "the body ends before the answer does",
    script: "say Half\neof",
    end: "failed",
    kind: "cut_off",
    error: "was cut off",
    text: "Half",
  },
  {
    what: "the connection breaks in the middle",
    script: "say Half\ncut",
    end: "failed",
    kind: "cut_off",
    error: "was cut off",
    text: "Half",
  },
  {
    what: "an error in the middle",
    script: "say Half\nerror invalid_request_error No such tool",
    end: "failed",
    error: "test stopped with an error: No such tool. Try again.",
    text: "Half",
  },
  {
    what: "an error that could pass, but after text",
    script: "say Half\nerror overloaded_error Overloaded",
    end: "failed",
    error: "Overloaded",
    text: "Half",
  },
  {
    what: "an error that quotes the key",
    script: `say Half\nerror Wrong key ${KEY} for ${KEY}`,
    end: "failed",
    error: "Wrong key [key] for [key]",
    text: "Half",
  },
  {
    what: "garbage in the middle",
    script: `say Half\ngarbage data: {"${KEY}\nsay more`,
    end: "failed",
    kind: "bad_answer",
    error: "Cannot read the answer of test",
    text: "Half",
  },
  {
    what: "broken UTF-8 in the middle",
    script: "say Half\ngarbage \\xff\\xfe{\nsay more",
    end: "failed",
    kind: "bad_answer",
    text: "Half",
    wires: ["ollama"],
  },
  {
    what: "a line that is no event is none of ours",
    script: "say One\ngarbage \\xff\\xfe{\nsay more",
    end: "done",
    text: "One\nmore",
    wires: sse,
  },
  {
    what: "a web page",
    script: "html",
    end: "failed",
    kind: "bad_answer",
    error: "it is a web page, not an API. Check base_url.",
  },
  {
    what: "a web page that says it is text",
    script: "status 200 <!DOCTYPE html><html></html>",
    end: "failed",
    kind: "bad_answer",
    error: "it is a web page",
    wires: sse,
  },
  {
    what: "text",
    script: `status 200 Hello, I am no API. ${KEY}`,
    end: "failed",
    kind: "bad_answer",
    error: "Hello, I am no API. [key]",
    wires: sse,
  },
  {
    what: "text for lines",
    script: "status 200 Hello",
    end: "failed",
    kind: "bad_answer",
    wires: ["ollama"],
  },
  {
    what: "JSON of another kind",
    script: 'status 200 {"id":"1","object":"chat.completion","choices":[{"message":{"content":"Hi"}}]}',
    end: "failed",
    kind: "bad_answer",
    error: "chat.completion",
    wires: ["openai_responses", "anthropic_messages"],
  },
  {
    what: "an error in JSON with status 200",
    script: `status 200 {"error":{"message":"Model is gone","details":"${"x".repeat(900)}"}}`,
    end: "failed",
    error: "test stopped with an error: Model is gone.",
    wires: sse,
  },
  {
    what: "Gemini's list of errors with status 200",
    script: 'status 200 [{"error":{"code":400,"message":"Bad schema","status":"INVALID_ARGUMENT"}}]',
    end: "failed",
    error: "Bad schema",
    wires: ["openai_chat"],
  },
  {
    what: "Ollama's error with status 200",
    script: 'status 200 {"error":"model is gone"}',
    end: "failed",
    error: "test stopped with an error: model is gone.",
    wires: ["ollama"],
  },
  {
    what: "401",
    script: `status 401 {"error":{"message":"Incorrect API key provided: ${KEY}"}}`,
    end: "failed",
    kind: "auth",
    error: "Incorrect API key provided: [key]). Check TEST_API_KEY.",
    wires: sse,
  },
  { what: "403", script: "status 403", end: "failed", kind: "auth", error: "Check TEST_API_KEY." },
  {
    what: "404",
    script: "status 404",
    end: "failed",
    kind: "not_found",
    error: 'Cannot find model "model-1"',
  },
  {
    what: "400",
    script: "status 400",
    end: "failed",
    kind: "bad_request",
    error: "The script answers with HTTP 400)",
  },
  {
    what: "400 for a full window",
    script: "status 400 prompt is too long: 213462 tokens > 200000 maximum",
    end: "failed",
    kind: "window_full",
    error:
      "no longer fits the model's window (HTTP 400: prompt is too long: 213462 tokens > 200000 maximum).",
  },
  {
    what: "422",
    script: 'status 422 {"detail":[{"loc":["body"],"msg":"field required"}]}',
    end: "failed",
    kind: "bad_request",
    error: "field required",
  },
  {
    what: "a server that serves no responses",
    script: 'status 404 {"detail": "Not Found"}',
    end: "failed",
    kind: "setup",
    error: '(HTTP 404: {"detail": "Not Found"}). Set wire = "openai_chat" in providers.test.',
    wires: ["openai_responses"],
  },
  {
    what: "a server that serves no responses, and says so with 200",
    script: 'status 200 {"error": "Unexpected endpoint or method. (POST /v1/responses)"}',
    end: "failed",
    kind: "setup",
    error: 'Set wire = "openai_chat" in providers.test.',
    wires: ["openai_responses"],
  },
  {
    what: "a model that is served by responses alone",
    script: 'status 404 {"error": {"message": "This model is only supported in v1/responses"}}',
    end: "failed",
    kind: "setup",
    error: 'v1/responses). Set wire = "openai_responses" in providers.test.',
    wires: ["openai_chat"],
  },
  {
    what: "404 with a web page",
    script: "status 404 <html><body>nginx</body></html>",
    end: "failed",
    error: "(HTTP 404)",
  },
  {
    what: "an answer whose body is nothing",
    script: "status 400 x-empty=1",
    end: "failed",
    error: "HTTP 400",
  },
];

for (const { what, script, end, kind, error, text = "", wires = WIRES } of cases) {
  Deno.test(`ends as it should: ${what}`, async () => {
    for (const wire of wires) {
      await using server = await ModelServer.start(script, { secrets });
      const heard = await listen(server.url, { wire });
      assert.equal(heard.end, end, `${wire}: ${heard.error}`);
      assert.equal(heard.text, text, wire);
      if (kind !== undefined) assert.equal(heard.error?.kind, kind, `${wire}: ${heard.error}`);
      if (error !== undefined) assert.ok(heard.error?.message.includes(error), `${wire}: ${heard.error}`);
      assert.equal(server.requests.length, 1, `${wire}: not tried again`);
      assert.deepEqual(server.problems, []);
    }
  });
}

Deno.test("nobody listens there: it says so at once", async () => {
  const server = await ModelServer.start("");
  await server[Symbol.asyncDispose]();
  for (const wire of WIRES) {
    const { error, retries } = await listen(server.url, { wire });
    assert.equal(
      error?.message,
      `Cannot reach ${server.url}: connection refused. Is the server running? Check base_url.`,
    );
    assert.deepEqual(retries, []);
  }
});

Deno.test("a redirect is not followed: the key never reaches the other host", async () => {
  await using other = await ModelServer.start("repeat\nsay Stolen");
  for (const code of [301, 302, 303, 307, 308]) {
    await using server = await ModelServer.start(`status ${code} location=${other.url}/v1/chat/completions`);
    const { error } = await listen(server.url);
    assert.equal(error?.kind, "setup");
    assert.match(error?.message ?? "", /it redirects \(HTTP 30\d.*Set base_url/);
  }
  assert.deepEqual([other.requests, other.lookups], [[], []]);
});

Deno.test("a key that HTTP cannot carry is said without showing it", async () => {
  for (const key of ["sk-\nwith-newline", "ключ-ключ"]) {
    const { error } = await listen("http://127.0.0.1:9", { key });
    assert.match(error?.message ?? "", /Check TEST_API_KEY\.$/);
  }
});

Deno.test("a model that refuses a temperature is asked again without, once", async () => {
  const refusal = `{"error":{"message":"${
    "litellm.BadRequestError: ".repeat(12)
  }'temperature' is deprecated"}}`;
  await using server = await ModelServer.start(
    `status 400 ${refusal}\n---\nsay Fine\n---\nstatus 400 ${refusal}\n---\nstatus 400 ${refusal}`,
  );
  const asked = { request: request([user("Hi")], { temperature: 0.1 }) };
  const first = await listen(server.url, asked);
  assert.equal(first.text, "Fine");
  assert.deepEqual(first.retries, []);
  assert.deepEqual(first.refused, ["temperature"]);
  const second = await listen(server.url, asked);
  assert.equal(second.error?.kind, "bad_request");
  assert.deepEqual(server.requests.map(({ body }) => body.temperature), [0.1, undefined, 0.1, undefined]);
});

Deno.test("another refusal is not taken for one of the temperature", async () => {
  await using server = await ModelServer.start("status 400 The context is too long");
  const heard = await listen(server.url, { request: request([user("Hi")], { temperature: 0.1 }) });
  assert.equal(heard.error?.kind, "bad_request");
  assert.deepEqual(heard.refused, []);
  assert.equal(server.requests.length, 1);
});

/** One of those that send events, and the one that sends lines. */
const FRAMINGS: readonly WireName[] = ["openai_chat", "ollama"];

for (const wire of IS_FULL ? WIRES : FRAMINGS) {
  Deno.test(`${wire}: an answer without end is stopped at 8 MB`, async () => {
    await using server = await ModelServer.start("big 100000000", { secrets });
    const { error, text } = await listen(server.url, { wire });
    assert.equal(error?.kind, "too_large");
    assert.ok(text.length > 7_900_000 && text.length < 8_300_000, `${text.length}`);
    assert.equal((await server.aborted()).aborted, true);
  });

  Deno.test(`${wire}: a frame without end is stopped at 8 MB`, async () => {
    const bytes = utf8("data: " + "x".repeat(65_530));
    let sent = 0;
    await using endless = serve(async (http) => {
      await http.begin(200, {});
      for (; !http.gone.aborted; sent += bytes.length) await http.write(bytes);
    });
    assert.equal((await listen(endless.url, { wire })).error?.kind, "too_large");
    assert.ok(sent < 50_000_000, `${sent} bytes were sent`);
  });
}

Deno.test("a long answer in small tokens is whole, however much JSON is around them", async () => {
  const token = { choices: [{ delta: { content: "word " }, logprobs: null }], obfuscation: "x".repeat(300) };
  const many = events(...Array.from({ length: 1_000 }, () => token));
  await using server = serve(async (http) => {
    await http.begin(200, { connection: "close" });
    for (let left = 9_000_000 / many.length; left > 0; left--) await http.write(many);
    await http.write(events({ choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"));
    await http.end();
  });
  const { end, text } = await listen(server.url);
  assert.equal(end, "done");
  assert.ok(text.length > 100_000);
});

Deno.test("an error page without end is read in part only", async () => {
  const page = utf8("x".repeat(65_536));
  let sent = 0;
  await using endless = serve(async (http) => {
    await http.begin(400, {});
    for (; !http.gone.aborted; sent += page.length) await http.write(page);
  });
  const { error } = await listen(endless.url);
  assert.match(error?.message ?? "", /HTTP 400: xxx/);
  assert.ok(sent < 20_000_000, `${sent} bytes were sent`);
});

Deno.test("what breaks off after the reason to stop was whole", async () => {
  await using server = serve(async (http) => {
    await http.begin(200, { "content-type": "text/event-stream" });
    await http.write(events({ choices: [{ delta: { content: "Whole" }, finish_reason: "stop" }] }));
  });
  const { end, text } = await listen(server.url);
  assert.deepEqual([end, text], ["done", "Whole"]);
});

Deno.test("a body that ends within a frame was cut off, it is no garbage", async () => {
  const whole = {
    openai_chat: events({ choices: [{ delta: { content: "Half" } }] }),
    openai_responses: events({ type: "response.output_text.delta", delta: "Half" }),
    anthropic_messages: events({ type: "content_block_delta", delta: { type: "text_delta", text: "Half" } }),
    ollama: lines({ message: { content: "Half" } }),
  };
  for (const wire of WIRES) {
    await using server = serve(async (http) => {
      await http.begin(200, { connection: "close" });
      await http.write(whole[wire]);
      await http.write(whole[wire].subarray(0, 20));
      await http.end();
    });
    const { error, text } = await listen(server.url, { wire });
    assert.deepEqual([error?.kind, text], ["cut_off", "Half"], wire);
  }
});

/** Anything that can happen to an answer, in any order. */
const scripts = fc.tuple(
  fc.array(
    fc.constantFrom(
      "say Hello there",
      "think Hm",
      'call read_file {"path": "a"}',
      "rawcall edit {broken",
      "flood 20",
      "pieces 1",
      "split 1",
      "split 7",
      "interleave",
      "nodone",
      "stop length",
      "usage 5 5",
      "garbage \\xff\\xfe",
      "garbage data: {",
      "garbage : comment",
      'garbage {"error": "x"}',
    ),
    { maxLength: 6 },
  ),
  fc.constantFrom("", "cut", "eof", "error overloaded_error Busy", "error Sorry"),
).map(([lines, end]) => [...lines, end].filter((line) => line !== "").join("\n"));
const instead = fc.constantFrom(
  "html",
  "status 200",
  "status 200 {}",
  "status 200 x",
  "status 500",
  "status 418 {",
);
const stops = fc.option(fc.nat(6), { nil: undefined });

Deno.test("whatever comes, a stream has one end, also if it is cancelled anywhere", async () => {
  await using server = await ModelServer.start("");
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 4, arbitrary: scripts }, instead),
      fc.constantFrom(...WIRES),
      stops,
      async (script, wire, stop) => {
        server.play(script === "" ? "eof" : script);
        const controller = new AbortController();
        const told: ModelEvent[] = [];
        for await (const event of stream(server.url, { wire, signal: controller.signal })) {
          told.push(event);
          if (told.length === stop || event.type === "retry") controller.abort();
        }
        const { end } = checked(told);
        const aborted = told.findIndex((event, at) => at + 1 === stop || event.type === "retry");
        if (aborted >= 0 && aborted < told.length - 1) assert.equal(end, "cancelled");
      },
    ),
    runs(150),
  );
});
