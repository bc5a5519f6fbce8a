import assert from "node:assert/strict";
import { UserConfig } from "../../protocol/config.ts";
import { PRESETS } from "../../protocol/providers.ts";
import { engineConfig, type ProviderWorld } from "./provider.ts";

const world: ProviderWorld = {
  env: () => "sk-test-1234",
  fetch: () => Promise.reject(new Error("nothing is asked for")),
  run: () => Promise.reject(new Error("nothing is run")),
};

async function openai(own: Readonly<Record<string, unknown>>) {
  const user = UserConfig.parse({ provider: "openai", providers: { openai: own }, state_dir: "/s" });
  const { provider: { wire, wires, base_url } } = await engineConfig(user, world, []);
  return { wire, wires, base_url };
}

Deno.test("OpenAI has a wire for some models, at any address, until the user sets one for all", async () => {
  const { base_url, wires } = PRESETS.openai ?? {};
  assert.deepEqual(await openai({}), { wire: "openai_chat", wires, base_url });
  const other = "https://gateway.test/v1";
  assert.deepEqual(await openai({ base_url: other }), { wire: "openai_chat", wires, base_url: other });
  for (const wire of ["openai_chat", "openai_responses"]) {
    assert.deepEqual(await openai({ wire }), { wire, wires: undefined, base_url });
  }
});

Deno.test("Ollama without a model: the command that installs one is named", async () => {
  const user = UserConfig.parse({ provider: "ollama", state_dir: "/s" });
  const empty = { ...world, fetch: () => Promise.resolve(Response.json({ models: [] })) };
  await assert.rejects(engineConfig(user, empty, []), {
    message: "Cannot use ollama: it has no models. Run `ollama pull qwen3-coder`.",
  });
});
