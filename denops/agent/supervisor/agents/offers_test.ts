import assert from "node:assert/strict";
import { UserConfig } from "../../protocol/config.ts";
import { Offers } from "./offers.ts";
import type { ProviderWorld } from "./provider.ts";

const user = (options: object) => UserConfig.parse({ state_dir: "/state", ...options });
const world = (answers: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}) => {
  const asked: string[] = [];
  const fetch: ProviderWorld["fetch"] = (url) => {
    asked.push(url);
    const answer = answers[url];
    if (url.startsWith("http://127.0.0.1") && answer === undefined) {
      return Promise.reject(new Error("refused"));
    }
    return Promise.resolve(answer === undefined ? new Response("", { status: 404 }) : Response.json(answer));
  };
  return { asked, env: (name: string) => env[name], fetch, run: () => Promise.reject(new Error("not here")) };
};
const GROQ = {
  name: "groq",
  wire: "openai_chat",
  base_url: "https://api.groq.com/openai/v1",
  headers: {},
  key_source: "X",
} as const;
const LIST = "https://api.groq.com/openai/v1/models";

Deno.test("providers: those that are ready first, and what another one lacks; no key is asked for and no key is shown", async () => {
  const env = { OPENAI_API_KEY: "sk-secret", GOOGLE_API_KEY: "AI-secret" };
  const here = world({ "http://127.0.0.1:1234/v1/models": { data: [] } }, env);
  const own = {
    work: { wire: "openai_chat", base_url: "https://llm.work.test/v1", api_key: "cmd:pass show work" },
    half: { wire: "openai_chat" },
    unset: { wire: "ollama", base_url: "https://gpu.test", api_key: "env:GPU_KEY" },
  };
  const offered = await new Offers(here).providers(user({ providers: own }));
  assert.deepEqual(offered.filter(({ ready }) => ready).map(({ name, text }) => [name, text]), [
    ["work", "key by a command"],
    ["openai", "key from OPENAI_API_KEY"],
    ["gemini", "key from GOOGLE_API_KEY"],
    ["lmstudio", "runs at 127.0.0.1:1234"],
  ]);
  const lacking = new Map(offered.filter(({ ready }) => !ready).map(({ name, text }) => [name, text]));
  assert.equal(lacking.get("half"), 'The provider "half" needs wire and base_url in providers.');
  assert.equal(lacking.get("unset"), "GPU_KEY is not set");
  assert.equal(lacking.get("anthropic"), "ANTHROPIC_API_KEY is not set");
  assert.equal(lacking.get("ollama"), "does not answer at 127.0.0.1:11434");
  assert.doesNotMatch(JSON.stringify(offered), /secret/);
  assert.ok(here.asked.every((url) => url.startsWith("http://127.0.0.1")), here.asked.join());
});

Deno.test("a model by its name: what the list says, the user's prices and window before it, and nothing for a variant's price", async () => {
  const row = { id: "a/b", context_length: 9_000, pricing: { prompt: "0.000001", completion: "0.000002" } };
  const offers = new Offers(world({ [LIST]: { data: [row, { id: "llama-3.1-8b-instant" }] } }));
  const listed = { name: "a/b", context_window: 9_000, price: { input: 1, output: 2 } };
  assert.deepEqual(await offers.find(GROQ, "a/b", user({})), listed);
  assert.deepEqual(await offers.find(GROQ, "a/b:nitro", user({})), {
    name: "a/b:nitro",
    context_window: 9_000,
  });
  const price = { input: 7, output: 8 };
  const models = { "*": { vision: true }, "a/b": { price } };
  const options = { models, model: "a/b", context_window: 5_000 };
  assert.deepEqual(await offers.find(GROQ, "a/b", user(options)), {
    ...{ name: "a/b", context_window: 5_000, price, vision: true },
  });
  assert.equal((await offers.find(GROQ, "llama-3.1-8b-instant", user({}))).price?.input, 0.05);
  await assert.rejects(
    offers.find(GROQ, "llama-3.1-8b", user({})),
    (error: Error) => error.message === 'groq has no model "llama-3.1-8b". Near: llama-3.1-8b-instant.',
  );
  await assert.rejects(offers.find(GROQ, "zzz", user({})), /`:Agent model` lists all\.$/);
});

Deno.test("a model that no list names: an alias, one that the options name, and any where nothing is listed", async () => {
  const alias = { id: "real", max_input_tokens: 4_000 };
  const offers = new Offers(world({ [LIST]: { data: [{ id: "x" }] }, [`${LIST}/latest`]: alias }));
  assert.deepEqual(await offers.find(GROQ, "latest", user({})), { name: "latest", context_window: 4_000 });
  assert.deepEqual(await offers.find(GROQ, "mine", user({ model: "mine" })), { name: "mine" });
  assert.deepEqual(await new Offers(world({})).find(GROQ, "anything", user({})), { name: "anything" });
});
