/** What servers tell of their models, as each of them tells it, and what is made of that. */
import assert from "node:assert/strict";
import { engineConfig } from "../../../../../tests/support/engine_config.ts";
import type { ModelConfig } from "../../../protocol/config.ts";
import { Database } from "../../store/database.ts";
import { SqliteModelFacts } from "../../store/model_facts.ts";
import { Abilities } from "./abilities.ts";
import { serversAt } from "./registry.ts";
import { SMALL_WINDOW, windowOf } from "./window.ts";

type Answers = Readonly<Record<string, unknown>>;

/** A server that answers these paths with JSON, an Error with its status, and no others. */
function served(answers: Answers) {
  const asked: string[] = [];
  const fetchImpl = (input: URL | RequestInfo) => {
    const { pathname, search } = new URL(String(input));
    asked.push(pathname + search);
    const answer = answers[pathname];
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(
      answer === undefined ? new Response("not found", { status: 404 }) : Response.json(answer),
    );
  };
  return { asked, fetchImpl };
}

interface Given {
  readonly wire?: "ollama" | "openai_chat";
  readonly config?: Partial<ModelConfig>;
  readonly facts?: SqliteModelFacts;
}

function abilitiesOf(answers: Answers, { wire = "openai_chat", config = {}, facts }: Given = {}) {
  const { asked, fetchImpl } = served(answers);
  const whole = engineConfig("http://127.0.0.1:9", wire, config);
  const endpoint = { baseUrl: whole.provider.base_url, headers: {} };
  const known = facts ?? new SqliteModelFacts(Database.inMemory());
  return { asked, abilities: new Abilities(whole, endpoint, known, fetchImpl) };
}

async function told(answers: Answers, given: Given = {}) {
  const { abilities, asked } = abilitiesOf(answers, given);
  await abilities.prepare(new AbortController().signal);
  const { tools, parallel, thinking, sees, window } = abilities;
  return { tools, parallel, thinking, sees, tokens: window.tokens, from: window.from, asked };
}

const OLLAMA = {
  "/api/show": {
    parameters: 'stop                           "<|im_end|>"\nnum_ctx                        24576',
    model_info: { "general.architecture": "qwen2", "qwen2.context_length": 131072 },
    capabilities: ["completion", "tools", "insert", "thinking"],
  },
  "/api/ps": { models: [] },
};
const LLAMA_CPP = {
  "/v1/models": {
    object: "list",
    models: [{ name: "q.gguf", capabilities: ["completion"] }],
    data: [{
      id: "q.gguf",
      object: "model",
      created: 1767225600,
      owned_by: "llamacpp",
      meta: {
        vocab_type: 2,
        n_vocab: 151936,
        n_ctx_train: 131072,
        n_embd: 3584,
        n_params: 7615616512,
        size: 4,
      },
    }],
  },
  "/props": {
    default_generation_settings: { id: 0, n_ctx: 8192, params: {} },
    total_slots: 1,
    model_path: "q.gguf",
    chat_template: "{% for … %}",
    chat_template_caps: {
      supports_tools: true,
      supports_tool_calls: true,
      supports_parallel_tool_calls: false,
    },
    modalities: { vision: true, audio: false },
  },
};
const LM_STUDIO = {
  "/v1/models": {
    object: "list",
    data: [{ id: "model-1", object: "model", owned_by: "organization_owner" }],
  },
  "/api/v0/models": {
    object: "list",
    data: [
      { id: "embed", object: "model", type: "embeddings", state: "loaded", max_context_length: 2048 },
      {
        ...{ id: "model-1", object: "model", type: "vlm", publisher: "qwen", arch: "qwen2_vl" },
        ...{ compatibility_type: "mlx", quantization: "4bit", state: "loaded", capabilities: ["tool_use"] },
        ...{ max_context_length: 32768, loaded_context_length: 4096 },
      },
    ],
  },
};
const VLLM = {
  "/v1/models": {
    object: "list",
    data: [{ id: "model-1", object: "model", owned_by: "vllm", root: "Qwen/Qwen3-8B", max_model_len: 40960 }],
  },
};

Deno.test("each kind of server is asked in its own way", async () => {
  const of = { tools: true, parallel: true, thinking: undefined, sees: false };
  assert.deepEqual(await told(OLLAMA, { wire: "ollama" }), {
    ...{ ...of, thinking: [true, false], tokens: 24576, from: "set in Ollama" },
    asked: ["/api/show", "/api/ps"],
  });
  assert.deepEqual(await told(LLAMA_CPP), {
    ...{ ...of, parallel: false, sees: true, tokens: 8192, from: "loaded by llama.cpp" },
    asked: ["/v1/models", "/props?model=model-1&autoload=false"],
  });
  assert.deepEqual(await told(LM_STUDIO), {
    ...{ ...of, sees: true, tokens: 4096, from: "loaded by LM Studio" },
    asked: ["/v1/models", "/api/v0/models"],
  });
  assert.deepEqual(await told(VLLM), {
    ...{ ...of, tokens: 40960, from: "loaded by vLLM" },
    asked: ["/v1/models"],
  });
});

Deno.test("one call at a time: by the name, unless the server tells", async () => {
  const config = { model: "llama3.1:8b" };
  assert.equal(abilitiesOf({}, { config }).abilities.parallel, false);
  assert.equal(abilitiesOf({}, { config: { model: "llama4:scout" } }).abilities.parallel, true);
  const caps = { supports_tools: true, supports_tool_calls: true, supports_parallel_tool_calls: true };
  const props = { ...LLAMA_CPP["/props"], chat_template_caps: caps };
  assert.equal((await told({ ...LLAMA_CPP, "/props": props }, { config })).parallel, true);
});

Deno.test("a template that knows no tools", async () => {
  const caps = { supports_tools: false, supports_tool_calls: false };
  const props = { ...LLAMA_CPP["/props"], chat_template_caps: caps };
  assert.equal((await told({ ...LLAMA_CPP, "/props": props })).tools, false);
  // Servers of before tell nothing of it.
  const { chat_template_caps: _, ...older } = LLAMA_CPP["/props"];
  assert.equal((await told({ ...LLAMA_CPP, "/props": older })).tools, true);
});

Deno.test("a server that tells nothing, or nonsense, is taken for one that can", async () => {
  const nonsense = [
    {},
    { "/v1/models": [] },
    { "/v1/models": { data: "all" }, "/api/v0/models": { data: [{}] } },
    { "/v1/models": LLAMA_CPP["/v1/models"], "/props": { default_generation_settings: { n_ctx: -1 } } },
    { "/v1/models": { data: [{ id: "other", owned_by: "vllm", max_model_len: 1 }] } },
    { "/v1/models": new Error("connection refused") },
  ];
  for (const answers of nonsense) {
    const { tools, parallel, sees, tokens } = await told(answers);
    assert.deepEqual([tools, parallel, sees, tokens], [true, true, false, 128_000], JSON.stringify(answers));
  }
  const shown = { "/api/show": { capabilities: null, model_info: { "a.context_length": "many" } } };
  assert.equal((await told(shown, { wire: "ollama" })).tokens, 32_768);
});

Deno.test("services of the net are not asked", () => {
  const near = [
    ...[
      "http://localhost:8080/v1",
      "http://127.0.0.1/v1",
      "http://[::1]:8080/v1",
      "http://192.168.1.7:1234/v1",
    ],
    ...["http://10.0.0.2/v1", "http://172.20.0.1/v1", "http://gpu:8000/v1", "http://gpu.local:8000/v1"],
  ];
  const far = [
    "https://api.openai.com/v1",
    "https://172.2.0.1/v1",
    "https://10.example.com/v1",
    "https://llm.team.io",
  ];
  assert.deepEqual(near.filter((url) => serversAt("openai_chat", url).length === 0), []);
  assert.deepEqual(near.filter((url) => serversAt("openai_responses", url).length === 0), []);
  assert.deepEqual(far.filter((url) => serversAt("openai_chat", url).length > 0), []);
  assert.deepEqual(serversAt("anthropic_messages", "http://localhost"), []);
  assert.equal(serversAt("ollama", "https://ollama.example.com").length, 1);
});

Deno.test("whose word counts for the window", () => {
  const asked = (...[given, user]: [Parameters<typeof windowOf>[0], number?]) =>
    windowOf(given, user, 32_768).tokens;
  assert.equal(asked({}), 32_768);
  assert.equal(asked({ most: 8_192 }), 8_192);
  assert.equal(asked({ most: 131_072, set: 65_536 }), 65_536);
  assert.equal(asked({ most: 131_072, set: 65_536 }, 9_000), 9_000);
  assert.equal(asked({ most: 8_192 }, 9_000), 8_192);
  // What is loaded is kept if it is of use: another window has it loaded anew.
  assert.equal(asked({ most: 131_072, loaded: 131_072 }), 131_072);
  assert.equal(asked({ most: 131_072, loaded: SMALL_WINDOW }), SMALL_WINDOW);
  assert.equal(asked({ most: 131_072, loaded: 4_096 }), 32_768);
  assert.equal(asked({ most: 4_096, loaded: 4_096 }), 4_096);
  // Where the request decides nothing, what is loaded is all there is.
  const given = (...[given, user]: [Parameters<typeof windowOf>[0], number?]) =>
    windowOf(given, user, undefined).tokens;
  assert.equal(given({ loaded: 4_096, most: 131_072 }, 32_768), 4_096);
  assert.equal(given({ loaded: 4_096, most: 131_072 }, 2_000), 2_000);
  assert.equal(given({ most: 1_000_000 }), 128_000);
});

Deno.test("what was told is known for an hour, also after a restart; what was refused, for a week", async () => {
  using database = Database.inMemory();
  const facts = new SqliteModelFacts(database);
  const signal = new AbortController().signal;
  const first = abilitiesOf(LLAMA_CPP, { facts });
  await first.abilities.prepare(signal);
  await first.abilities.prepare(signal);
  assert.equal(first.asked.length, 2);
  first.abilities.rememberText();

  const again = abilitiesOf({}, { facts });
  await again.abilities.prepare(signal);
  assert.deepEqual([again.asked, again.abilities.window.tokens, again.abilities.inText], [[], 8192, true]);
  // Of another model, or of the same at another place, nothing is known.
  assert.ok(!abilitiesOf({}, { facts, config: { model: "other" } }).abilities.inText);

  database.run("UPDATE model_facts SET time = time - ?", 2 * 3_600_000);
  const later = abilitiesOf({}, { facts });
  await later.abilities.prepare(signal);
  assert.deepEqual([later.asked.length, later.abilities.window.tokens, later.abilities.inText], [
    2,
    128_000,
    true,
  ]);
  database.run("UPDATE model_facts SET time = time - ?", 7 * 24 * 3_600_000);
  assert.ok(!abilitiesOf({}, { facts }).abilities.inText);
});

Deno.test("a window that was refused is a smaller one from then on; without memory it is halved, but for the user's", async () => {
  const { abilities } = abilitiesOf(VLLM);
  abilities.windowRefused(8_192);
  assert.deepEqual(abilities.window, { tokens: 8_192, from: "reported by the server" });
  abilities.windowRefused(100_000);
  assert.equal(abilities.window.tokens, 8_192);

  const facts = new SqliteModelFacts(Database.inMemory());
  const local = abilitiesOf(OLLAMA, { wire: "ollama", facts }).abilities;
  assert.deepEqual([local.memoryRefused(), local.memoryRefused(), local.memoryRefused()], [
    16_384,
    8_192,
    undefined,
  ]);
  assert.deepEqual(local.window, { tokens: 8_192, from: "limited by memory" });
  const again = abilitiesOf(OLLAMA, { wire: "ollama", facts }).abilities;
  assert.equal(again.window.tokens, 8_192);
  const users = abilitiesOf(OLLAMA, { wire: "ollama", config: { context_window: 20_000 } }).abilities;
  assert.equal(users.memoryRefused(), undefined);
  await local.prepare(new AbortController().signal);
});

Deno.test("an answer without an end is not read to its end", async () => {
  let sent = 0;
  const endless = () =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          pull: (stream) => stream.enqueue(new TextEncoder().encode("[".repeat(sent += 1_000_000))),
        }),
      ),
    );
  const config = engineConfig("http://127.0.0.1:9", "ollama");
  const facts = new SqliteModelFacts(Database.inMemory());
  const abilities = new Abilities(config, { baseUrl: "http://127.0.0.1:9", headers: {} }, facts, endless);
  await abilities.prepare(new AbortController().signal);
  assert.equal(abilities.window.tokens, 32_768);
  assert.ok(sent < 20_000_000);
});

Deno.test("a model that Ollama has run elsewhere takes its whole window", async () => {
  const shown = {
    ...OLLAMA["/api/show"],
    parameters: "",
    remote_model: "m",
    remote_host: "https://ollama.com:443",
  };
  assert.equal((await told({ ...OLLAMA, "/api/show": shown }, { wire: "ollama" })).tokens, 131_072);
});

Deno.test("a model that is partly outside of the GPU is told of, with what to do", async () => {
  const loaded = (size_vram: number) => ({
    "/api/ps": {
      models: [{
        name: "model-1:latest",
        model: "model-1:latest",
        size: 9_400_000_000,
        size_vram,
        context_length: 32768,
      }],
    },
  });
  const notices = (vram: number) => abilitiesOf(loaded(vram), { wire: "ollama" }).abilities.answered();
  assert.deepEqual(await notices(6_100_000_000), [
    "model-1 is slow, as the GPU has 6.1 of its 9.4 GB, with a window of 32768 tokens. " +
    "Set limits.context_window to less, or choose a smaller model.",
  ]);
  assert.deepEqual(await notices(9_400_000_000), []);
  // Without a GPU no window makes it fast.
  assert.deepEqual(await notices(0), []);
  assert.deepEqual(await abilitiesOf({}).abilities.answered(), []);
});

Deno.test("what has loaded the model for the first request tells its window then", async () => {
  const [embed, model] = LM_STUDIO["/api/v0/models"].data;
  const state = (more: object) => ({ object: "list", data: [embed, { ...model, ...more }] });
  const answers = { "/api/v0/models": state({ state: "not-loaded", loaded_context_length: undefined }) };
  const { abilities, asked } = abilitiesOf(answers);
  const signal = new AbortController().signal;
  await abilities.prepare(signal);
  assert.deepEqual([abilities.window.tokens, abilities.news()], [32_768, []]);
  answers["/api/v0/models"] = state({ state: "loaded", loaded_context_length: 4_096 });
  await abilities.answered();
  await abilities.prepare(signal);
  assert.equal(asked.length, 4);
  assert.deepEqual([abilities.window.tokens, abilities.news(), abilities.news()], [
    4_096,
    ["model-1 has a window of 4096 tokens, in which little gets done. Load it with 16384 or more."],
    [],
  ]);
  const users = abilitiesOf({}, { config: { context_window: 4_000 } }).abilities;
  assert.deepEqual(users.news(), []);
});
