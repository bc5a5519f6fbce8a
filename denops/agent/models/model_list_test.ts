import assert from "node:assert/strict";
import fc from "fast-check";
import { ListedModel } from "../protocol/config.ts";
import { ModelLists, type Provider } from "./ask_models.ts";
import { factsLine, isModel, modelsOf, nearNames } from "./model_list.ts";

const PROVIDER: Provider = {
  name: "test",
  wire: "openai_chat",
  base_url: "http://127.0.0.1:9/v1",
  headers: {},
  api_key: "secret-key-1",
  key_source: "TEST_KEY",
};

/** Rows as the providers write them → name and what is shown of it. */
function shownOf(answer: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries((modelsOf(answer) ?? []).map((model) => [model.name, factsLine(model)]));
}

Deno.test("OpenRouter: window, price, tools, vision; what makes pictures only is left out", () => {
  const row = (id: string, more: object) => ({
    ...{ id, name: "X", created: 1, description: "", per_request_limits: null },
    context_length: 200000,
    architecture: {
      modality: "text+image->text",
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
    },
    pricing: { prompt: "0.000003", completion: "0.000015", image: "0.0048", input_cache_read: "0.0000003" },
    top_provider: { context_length: 200000, max_completion_tokens: 64000, is_moderated: true },
    supported_parameters: ["max_tokens", "tools", "tool_choice"],
    ...more,
  });
  const answer = {
    data: [
      row("anthropic/claude-sonnet-4.5", {}),
      row("openrouter/auto", { pricing: { prompt: "-1", completion: "-1" }, context_length: 2000000 }),
      row("a/picture", { architecture: { input_modalities: ["text"], output_modalities: ["image"] } }),
      row("b/small", {
        context_length: 8192,
        architecture: { input_modalities: ["text"], output_modalities: ["text"] },
        pricing: { prompt: "0", completion: "0" },
        supported_parameters: ["max_tokens"],
      }),
    ],
  };
  assert.deepEqual(shownOf(answer), {
    "anthropic/claude-sonnet-4.5": "200k · $3/$15 · tools · vision",
    "openrouter/auto": "2M · tools · vision",
    "b/small": "8k · $0/$0 · no tools",
  });
  assert.equal(modelsOf(answer)?.[0]?.price?.cached_read, 0.3);
});

Deno.test("each provider's own words for the same: Anthropic, Groq, Mistral, vLLM, Copilot, OpenAI, Gemini", () => {
  assert.deepEqual(
    shownOf({
      data: [
        {
          ...{ type: "model", id: "claude-x", display_name: "X", created_at: "2026-01-01T00:00:00Z" },
          max_input_tokens: 1000000,
          max_tokens: 64000,
          capabilities: { image_input: { supported: true }, batch: { supported: true } },
        },
        { type: "model", id: "claude-tuned", max_input_tokens: null, capabilities: null },
        { id: "groq", object: "model", active: true, context_window: 131072, max_completion_tokens: 32768 },
        {
          ...{ id: "mistral", object: "model", type: "base", max_context_length: 128000 },
          capabilities: { completion_chat: true, function_calling: true, vision: false },
        },
        { id: "mistral-embed", capabilities: { completion_chat: false, function_calling: false } },
        { id: "vllm", object: "model", owned_by: "vllm", root: "x", parent: null, max_model_len: 32768 },
        {
          ...{ id: "copilot", model_picker_enabled: true, object: "model" },
          capabilities: {
            type: "chat",
            limits: { max_context_window_tokens: 128000, max_output_tokens: 16384 },
            supports: { tool_calls: true, vision: true, streaming: true },
          },
        },
        { id: "copilot-embed", capabilities: { type: "embeddings", limits: {} } },
        { id: "gpt-5", object: "model", created: 1, owned_by: "system" },
        { id: "models/gemini-2.5-pro", object: "model", owned_by: "google" },
      ],
    }),
    {
      "claude-x": "1M · vision",
      "claude-tuned": "",
      groq: "131k",
      mistral: "128k · tools",
      vllm: "33k",
      copilot: "128k · tools · vision",
      "gpt-5": "",
      "models/gemini-2.5-pro": "",
    },
  );
});

Deno.test("local servers: what is loaded counts more than what the model was made for", () => {
  const lmstudio = {
    object: "list",
    data: [
      { id: "qwen-vl", type: "vlm", state: "not-loaded", max_context_length: 32768 },
      {
        ...{ id: "llama", type: "llm", state: "loaded", max_context_length: 131072 },
        loaded_context_length: 4096,
        capabilities: ["tool_use"],
      },
      { id: "nomic", type: "embeddings", max_context_length: 2048 },
    ],
  };
  assert.deepEqual(shownOf(lmstudio), { "qwen-vl": "33k · vision", llama: "4k · tools" });
  const llamacpp = (meta: object) => ({
    models: [{ name: "gemma", model: "gemma", capabilities: ["completion", "multimodal"], details: {} }],
    object: "list",
    data: [{ id: "gemma", object: "model", owned_by: "llamacpp", meta: { n_vocab: 262144, ...meta } }],
  });
  assert.deepEqual(shownOf(llamacpp({ n_ctx: 8192, n_ctx_train: 131072 })), { gemma: "8k · vision" });
  assert.deepEqual(shownOf(llamacpp({ n_ctx_train: 131072 })), { gemma: "131k · vision" });
});

Deno.test("what is no list is none; rows that cannot be read are left out", () => {
  for (const answer of [undefined, null, 7, "x", [], {}, { data: 7 }, { error: "no" }]) {
    assert.equal(modelsOf(answer), undefined);
  }
  const odd = [
    null,
    7,
    {},
    { id: "" },
    { id: 7, name: "named" },
    { id: "My Models/a.gguf" },
    { id: "x".repeat(500) },
    { id: "a\nb" },
    { id: "a\u202eb" },
    { id: " a" },
    {
      id: "odd",
      context_length: "long",
      pricing: { prompt: {}, completion: [] },
      capabilities: 9,
    },
  ];
  assert.deepEqual(shownOf({ data: odd }), { named: "", "My Models/a.gguf": "", odd: "" });
});

Deno.test("whatever a list holds: what is read of it is a model, and can be shown", () => {
  const keys = fc.constantFrom(
    "id",
    "name",
    "type",
    "context_length",
    "meta",
    "pricing",
    "capabilities",
    "n_ctx",
    "prompt",
    "architecture",
  );
  const row = fc.dictionary(
    keys,
    fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue()), fc.string(), fc.nat()),
  );
  fc.assert(fc.property(fc.array(row), (data) => {
    for (const model of modelsOf({ data }) ?? []) {
      assert.ok(ListedModel.safeParse(model).success, JSON.stringify(model));
      assert.doesNotMatch(model.name + factsLine(model), /[\p{Cc}\p{Cf}]/u);
    }
  }));
});

Deno.test("Ollama is asked about each model; one that only embeds is left out", async () => {
  const shows: Readonly<Record<string, unknown>> = {
    "qwen3:8b": {
      capabilities: ["completion", "tools", "vision"],
      model_info: { "qwen3.context_length": 40960 },
    },
    "nomic": { capabilities: ["embedding"], model_info: { "bert.context_length": 2048 } },
  };
  const list = await new ModelLists((url, init) => {
    if (url.endsWith("/api/tags")) {
      return Promise.resolve(
        Response.json({ models: ["qwen3:8b", "nomic", "gone"].map((name) => ({ name })) }),
      );
    }
    const { model } = JSON.parse(String(init.body));
    const answer = shows[model];
    return Promise.resolve(
      answer === undefined ? new Response("no", { status: 404 }) : Response.json(answer),
    );
  }).of({ ...PROVIDER, wire: "ollama" });
  assert.deepEqual(list?.map((model) => [model.name, factsLine(model)]), [
    ["qwen3:8b", "41k · tools · vision"],
    ["gone", ""],
  ]);
});

Deno.test("why there is no list is one line without the key; a provider without one is no error", async () => {
  const ask = (fetch: () => Promise<Response>) => new ModelLists(fetch).of(PROVIDER);
  const answer = (status: number, body = "") => () => Promise.resolve(new Response(body, { status }));
  assert.equal(await ask(answer(404)), undefined);
  assert.equal(await ask(answer(200, "<html>")), undefined);
  await assert.rejects(
    ask(answer(401)),
    /test refused the key \(HTTP 401\)\. Check TEST_KEY\.$/,
  );
  const dead = () => Promise.reject(new TypeError("error sending request: connection refused"));
  await assert.rejects(
    ask(dead),
    (error: Error) =>
      /Cannot ask test for its models at .*: connection refused\./.test(error.message) &&
      !error.message.includes("secret"),
  );
});

Deno.test("LM Studio's own list is asked for first; a list is kept, what failed is not", async () => {
  const asked: string[] = [];
  let fails = true;
  const lists = new ModelLists((url, init) => {
    asked.push(new URL(url).pathname);
    assert.equal(new Headers(init.headers).get("authorization"), "Bearer secret-key-1");
    if (fails) return Promise.reject(new Error("connection refused"));
    return Promise.resolve(
      url.includes("/api/v0") ? new Response("", { status: 404 }) : Response.json({ data: [{ id: "a" }] }),
    );
  });
  const provider = { ...PROVIDER, name: "lmstudio" };
  await assert.rejects(lists.of(provider));
  fails = false;
  assert.equal((await lists.of(provider))?.length, 1);
  assert.equal((await lists.of(provider))?.length, 1);
  assert.deepEqual(asked, ["/api/v0/models", "/api/v0/models", "/v1/models"]);
});

Deno.test("names are the same as providers take them, and near ones are found", () => {
  assert.ok(isModel("models/gemini-2.5-pro", "gemini-2.5-pro") && isModel("qwen3:latest", "qwen3"));
  assert.ok(isModel("x/y", "x/y:nitro") && !isModel("gpt-5-mini", "gpt-5"));
  const names = ["claude-sonnet-5", "claude-opus-5", "gpt-5", "gpt-5-mini"];
  assert.deepEqual(nearNames("claude-sonet-5", names), ["claude-sonnet-5", "claude-opus-5"]);
  assert.deepEqual(nearNames("zzz", names), []);
});
