/** What each wire sends, whole: the bodies are compared with the providers' documented formats. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { checkPrefix, checkRequest } from "../../../../../tests/model/model_checks.ts";
import { isObject, type JsonObject, objects, transcript } from "../../../../../tests/model/model_messages.ts";
import {
  assistant,
  call,
  histories,
  LIST,
  PNG_IMAGE,
  READ_FILE,
  request,
  result,
  user,
} from "../../../../../tests/support/histories.ts";
import { type WireName, WIRES } from "../../../protocol/providers.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { wire } from "../registry.ts";
import type { Endpoint, HttpRequest } from "./wire.ts";

const endpoint: Endpoint = { baseUrl: "https://models.test/v1", apiKey: "sk-1", headers: { "x-team": "7" } };

function encoded(name: WireName, asked: ModelRequest): HttpRequest {
  return wire(name).encode(asked, endpoint);
}

function body(name: WireName, asked: ModelRequest): JsonObject {
  const value: unknown = JSON.parse(encoded(name, asked).body);
  assert.ok(isObject(value));
  return value;
}

const functions = (...tools: readonly unknown[]) =>
  tools.map((tool) => ({ type: "function", function: tool }));
const ephemeral = { cache_control: { type: "ephemeral" } };
const question = request([{ role: "user", text: "Hi" }]);
const full = request([{ role: "user", text: "Hi" }], {
  tools: [READ_FILE, LIST],
  temperature: 0.1,
  maxOutputTokens: 900,
  thinking: [true, false],
});
const json = { "content-type": "application/json" };

Deno.test("openai_chat: the whole request", () => {
  const { url, headers } = encoded("openai_chat", question);
  assert.equal(url, "https://models.test/v1/chat/completions");
  assert.deepEqual(headers, { ...json, authorization: "Bearer sk-1", "x-team": "7" });
  assert.deepEqual(body("openai_chat", question), {
    model: "model-1",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }],
    tools: functions(READ_FILE),
    tool_choice: "auto",
  });
  const { messages: _, ...rest } = body("openai_chat", full);
  assert.deepEqual(rest, {
    model: "model-1",
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.1,
    max_tokens: 900,
    tools: functions(READ_FILE, LIST),
    tool_choice: "auto",
  });
});

Deno.test("openai_chat: OpenAI itself has another name for the limit", () => {
  const { body } = wire("openai_chat").encode(full, { ...endpoint, baseUrl: "https://api.openai.com/v1" });
  const value: unknown = JSON.parse(body);
  assert.ok(isObject(value));
  assert.equal(value.max_completion_tokens, 900);
  assert.ok(!("max_tokens" in value));
});

Deno.test("openai_responses: the whole request; nothing is stored", () => {
  const { url, headers } = encoded("openai_responses", full);
  assert.equal(url, "https://models.test/v1/responses");
  assert.deepEqual(headers, { ...json, authorization: "Bearer sk-1", "x-team": "7" });
  const lax = (...tools: readonly (typeof LIST)[]) =>
    tools.map((tool) => ({ type: "function", ...tool, strict: false }));
  const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }];
  assert.deepEqual(body("openai_responses", { ...full, model: "gpt-5.6-sol", effort: "max" }), {
    model: "gpt-5.6-sol",
    stream: true,
    store: false,
    temperature: 0.1,
    max_output_tokens: 900,
    reasoning: { effort: "max", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    instructions: "Be brief.",
    input,
    tools: lax(READ_FILE, LIST),
    tool_choice: "auto",
    parallel_tool_calls: true,
  });
  assert.deepEqual(body("openai_responses", question), {
    model: "model-1",
    stream: true,
    store: false,
    instructions: "Be brief.",
    input,
    tools: lax(READ_FILE),
    tool_choice: "auto",
    parallel_tool_calls: true,
  });
  const short = request([{ role: "user", text: "Hi" }], { maxOutputTokens: 5, textOnly: true });
  assert.equal(body("openai_responses", short).max_output_tokens, 16);
  assert.equal(body("openai_responses", short).tool_choice, "none");
});

Deno.test("openai_responses: OpenAI is told by a key which session's cache is meant, others are not", () => {
  const keyOf = (messages: ModelRequest["messages"], baseUrl = "https://api.openai.com/v1") => {
    const value: unknown = JSON.parse(
      wire("openai_responses").encode(request(messages), { ...endpoint, baseUrl }).body,
    );
    return isObject(value) ? value.prompt_cache_key : undefined;
  };
  const key = keyOf([user("Hi")]);
  assert.match(String(key), /^[0-9a-f]{32}$/);
  assert.equal(keyOf([user("Hi"), assistant("Hello"), user("Bye")]), key);
  assert.notEqual(keyOf([user("Hi!")]), key);
  assert.equal(keyOf([user("Hi")], "https://gateway.test/v1"), undefined);
});

Deno.test("openai_responses: how much is to be thought, in the model's own words", () => {
  const asked = (model: string, effort: ModelRequest["effort"], baseUrl = "https://api.openai.com/v1") => {
    const changed = request([user("Hi")], { model, ...(effort === undefined ? {} : { effort }) });
    const value: unknown = JSON.parse(
      wire("openai_responses").encode(changed, { ...endpoint, baseUrl }).body,
    );
    return isObject(value) ? [value.reasoning, value.include] : [];
  };
  const summary = "auto";
  const include = ["reasoning.encrypted_content"];
  const local = "http://127.0.0.1:11434/v1";
  assert.deepEqual(asked("gpt-5", undefined), [{ summary }, include]);
  assert.deepEqual(asked("gpt-5", "low"), [{ effort: "low", summary }, include]);
  assert.deepEqual(asked("gpt-5", "max"), [{ effort: "high", summary }, include]);
  assert.deepEqual(asked("gpt-5", "none"), [{ effort: "minimal" }, undefined]);
  assert.deepEqual(asked("gpt-5.6-sol", "none"), [{ effort: "none" }, undefined]);
  assert.deepEqual(asked("o3", "max"), [{ effort: "high", summary }, include]);
  assert.deepEqual(asked("gpt-4.1", "high"), [undefined, undefined]);
  assert.deepEqual(asked("gpt-oss:20b", "max", local), [{ effort: "high", summary }, include]);
  assert.deepEqual(asked("qwen3:32b", "none", local), [{ effort: "none" }, undefined]);
  assert.deepEqual(asked("qwen3:32b", undefined, local), [undefined, undefined]);
});

Deno.test("openai_responses: what the provider has refused is left out", () => {
  const thought = { type: "encrypted", summary: ["Hm."], data: "ZGF0YQ==", text: 0, calls: 0 } as const;
  const asked = (without: NonNullable<ModelRequest["without"]>) =>
    body(
      "openai_responses",
      request([user("Hi"), { ...assistant("So."), reasoning: [thought] }, user("Well?")], {
        model: "gpt-5",
        without,
      }),
    );
  const kinds = (sent: JsonObject) => objects(sent.input).map(({ type }) => type);
  const all = ["message", "reasoning", "message", "message"];
  assert.deepEqual(kinds(asked([])), all);
  assert.ok(!("reasoning" in asked(["reasoning_summary"])) && "include" in asked(["reasoning_summary"]));
  assert.ok(!("include" in asked(["encrypted_reasoning"])) && "reasoning" in asked(["encrypted_reasoning"]));
  assert.deepEqual(kinds(asked(["earlier_reasoning"])), ["message", "message", "message"]);
});

Deno.test("anthropic_messages: the whole request, with cache marks at system, last tool and last two messages", () => {
  const address = { ...endpoint, baseUrl: "https://api.anthropic.com" };
  const { url, headers } = wire("anthropic_messages").encode(full, address);
  assert.equal(url, "https://api.anthropic.com/v1/messages");
  assert.deepEqual(headers, {
    ...json,
    "anthropic-version": "2023-06-01",
    "x-api-key": "sk-1",
    "x-team": "7",
  });
  const tool = ({ name, description, parameters }: typeof LIST) => ({
    name,
    description,
    input_schema: parameters,
  });
  assert.deepEqual(body("anthropic_messages", full), {
    model: "model-1",
    max_tokens: 900,
    stream: true,
    temperature: 0.1,
    system: [{ type: "text", text: "Be brief.", ...ephemeral }],
    tools: [tool(READ_FILE), { ...tool(LIST), ...ephemeral }],
    messages: [{ role: "user", content: [{ type: "text", text: "Hi", ...ephemeral }] }],
  });
  assert.equal(body("anthropic_messages", question).max_tokens, 16_384);
});

Deno.test("ollama: the whole request", () => {
  const { url, headers } = wire("ollama").encode(full, { baseUrl: "http://127.0.0.1:11434", headers: {} });
  assert.equal(url, "http://127.0.0.1:11434/api/chat");
  assert.deepEqual(headers, json);
  assert.equal(encoded("ollama", full).headers.authorization, "Bearer sk-1");
  const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: "Hi" }];
  assert.deepEqual(body("ollama", full), {
    model: "model-1",
    stream: true,
    keep_alive: "30m",
    truncate: false,
    shift: false,
    think: true,
    options: { num_ctx: 8_000, temperature: 0.1, num_predict: 900 },
    messages,
    tools: functions(READ_FILE, LIST),
  });
  assert.deepEqual(body("ollama", request([{ role: "user", text: "Hi" }], { tools: [] })), {
    model: "model-1",
    stream: true,
    keep_alive: "30m",
    truncate: false,
    shift: false,
    options: { num_ctx: 8_000 },
    messages,
  });
});

for (const name of WIRES) {
  Deno.test(`${name}: no tools, no word of tools; no key, no header for it; own headers win`, () => {
    const asked = request([{ role: "user", text: "Hi" }], { tools: [] });
    const sent = body(name, asked);
    assert.ok(!("tools" in sent) && !("tool_choice" in sent));
    const { headers } = wire(name).encode(asked, {
      baseUrl: "http://a.test",
      headers: { "content-type": "x" },
    });
    assert.ok(!("authorization" in headers) && !("x-api-key" in headers));
    assert.equal(headers["content-type"], "x");
  });

  Deno.test(`${name}: a request is a prefix of the next but for cache marks, and its key is in a header only`, () => {
    fc.assert(fc.property(histories, ({ messages, requests }) => {
      let before: readonly string[] = [];
      for (const length of requests) {
        const asked = request(messages.slice(0, length));
        const sent = body(name, asked);
        const now = transcript(name, sent);
        assert.deepEqual(checkPrefix(before, now), []);
        assert.ok(!JSON.stringify(sent).includes("sk-1"));
        assert.equal(encoded(name, asked).body, encoded(name, asked).body);
        before = now;
      }
    }));
  });

  Deno.test(`${name}: no history breaks a rule of the provider`, () => {
    fc.assert(fc.property(histories, ({ messages, requests }) => {
      for (const length of requests) {
        const { headers, body } = encoded(name, request(messages.slice(0, length)));
        const value: unknown = JSON.parse(body);
        assert.ok(isObject(value));
        // The signatures here are not the test server's.
        const wrong = checkRequest(name, headers, value).filter((problem) => !problem.includes("signature"));
        assert.deepEqual(wrong, []);
      }
    }));
  });
}

for (const name of WIRES) {
  Deno.test(`${name}: half a character is sent as a whole one`, () => {
    const half = "a\ud83d";
    const { body } = encoded(
      name,
      request([
        user(half),
        assistant(half, [call("c1", "read_file", JSON.stringify({ path: "😀" }))]),
        result("c1", "read_file", `\ude00b`),
      ]),
    );
    assert.doesNotMatch(body, /\\ud[89a-f]/);
    assert.ok(body.includes("a\ufffd") && body.includes("\ufffdb") && body.includes("😀"));
  });
}

Deno.test("openai_chat: Mistral's models take no user's message right after a tool's", () => {
  const shown = { ...result("c1", "read_file", "An image."), images: [PNG_IMAGE] };
  const asked = [user("Look"), assistant("", [call("c1", "read_file", "{}")]), shown];
  const roles = (model: string) =>
    objects(body("openai_chat", request(asked, { model })).messages).map(({ role }) => role);
  assert.deepEqual(roles("model-1"), ["system", "user", "assistant", "tool", "user"]);
  for (const model of ["mistral-large-latest", "mistralai/Devstral-2", "pixtral-12b"]) {
    assert.deepEqual(roles(model), ["system", "user", "assistant", "tool", "assistant", "user"]);
  }
});

Deno.test("anthropic_messages: never more than four cache marks, and none on reasoning", () => {
  fc.assert(fc.property(histories, ({ messages }) => {
    const sent = JSON.stringify(body("anthropic_messages", request(messages)));
    assert.ok(sent.split('"cache_control"').length - 1 <= 4);
    assert.doesNotMatch(sent, /"signature":"[^"]*","cache_control"/);
  }));
});
