import assert from "node:assert/strict";
import { publishedPrice } from "./prices.ts";
import { PRESETS } from "../protocol/providers.ts";

const at = (preset: string) => PRESETS[preset]?.base_url ?? "";

Deno.test("a dated name is the model's, another model's is not", () => {
  const sonnet = { input: 3, output: 15, cached_read: 0.3, cached_write: 3.75 };
  for (const name of ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-latest"]) {
    assert.deepEqual(publishedPrice(at("anthropic"), name), sonnet, name);
  }
  const cases: readonly (readonly [preset: string, name: string, input: number | undefined])[] = [
    ["anthropic", "claude-opus-4-20250514", 15],
    ["anthropic", "claude-opus-4-5-20251101", 5],
    ["anthropic", "claude-opus-4-9", undefined],
    ["openai", "gpt-4o-2024-08-06", 2.5],
    ["openai", "gpt-4o-2024-05-13", 5],
    ["openai", "gpt-4o-mini-2024-07-18", 0.15],
    ["openai", "gpt-4o-realtime-preview", undefined],
    ["openai", "gpt-5", 1.25],
    ["openai", "gpt-5-chat-latest", 1.25],
    ["openai", "gpt-5.9", undefined],
    ["gemini", "models/gemini-2.5-flash-preview-09-2025", 0.3],
    ["gemini", "gemini-2.5-flash-image", undefined],
    ["xai", "grok-4-0709", 3],
    ["groq", "openai/gpt-oss-120b", 0.15],
    ["mistral", "mistral-large-latest", 0.5],
    ["deepseek", "deepseek-chat", 0.14],
  ];
  for (const [preset, name, input] of cases) {
    assert.equal(publishedPrice(at(preset), name)?.input, input, `${preset} ${name}`);
  }
});

Deno.test("what runs here costs nothing to anyone: no price; nor has what another one bills", () => {
  for (const preset of ["ollama", "llama.cpp", "lmstudio", "vllm", "openrouter"]) {
    assert.equal(publishedPrice(at(preset), "gpt-4o"), undefined, preset);
  }
  assert.equal(publishedPrice("https://proxy.test/v1", "gpt-4o"), undefined);
  assert.equal(publishedPrice("https://api.openai.com/v1/", "gpt-4o")?.output, 10);
});

Deno.test("the models that are taken without a choice have a price", () => {
  for (const [name, { base_url, default_model }] of Object.entries(PRESETS)) {
    if (default_model !== undefined) {
      assert.ok(publishedPrice(base_url, default_model), `${name} ${default_model}`);
    }
  }
});
