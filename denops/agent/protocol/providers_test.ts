import assert from "node:assert/strict";
import { PRESETS, wireFor } from "./providers.ts";

Deno.test("OpenAI's models that reason are asked in responses, all others in chat completions", () => {
  const openai = PRESETS.openai;
  assert.ok(openai);
  const wires = (models: string) => new Set(models.split(" ").map((model) => wireFor(openai, model)));
  const reasoning =
    "gpt-5 gpt-5-mini gpt-5-pro-2025-10-06 gpt-5.1-codex-max gpt-5.6-sol gpt-6-luna gpt-10 o1 o1-pro " +
    "o3-deep-research o4-mini codex-mini-latest computer-use-preview ft:o4-mini-2025-04-16:me::1 " +
    (openai.default_model ?? "");
  assert.deepEqual([...wires(reasoning)], ["openai_responses"]);
  const others = "gpt-4o gpt-4.1-mini gpt-4-turbo gpt-3.5-turbo chatgpt-4o-latest gpt-4o-search-preview " +
    "gpt-5-search-api ft:gpt-4o-mini-2024-07-18:me::1 omni o my-gpt-5 qwen3:32b";
  assert.deepEqual([...wires(others)], ["openai_chat"]);
});

Deno.test("a provider without such a list has one wire", () => {
  assert.equal(wireFor({ wire: "ollama" }, "gpt-5"), "ollama");
});
