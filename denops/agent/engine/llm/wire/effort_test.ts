/** What each service and model is sent for each effort. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { request, user } from "../../../../../tests/support/histories.ts";
import { CHOOSABLE_EFFORTS, type Effort } from "../../../protocol/options/efforts.ts";
import { type WireName, WIRES } from "../../../protocol/providers.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { wire } from "../registry.ts";

const EFFORTS: readonly Effort[] = CHOOSABLE_EFFORTS.filter((one) => one !== "default");

interface Sent {
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
}

function sent(name: WireName, baseUrl: string, changes: Partial<ModelRequest>): Sent {
  const { body, headers } = wire(name).encode(request([user("Hi")], changes), { baseUrl, headers: {} });
  return { body: JSON.parse(body), headers };
}

/** What an effort adds to the body. */
function added(
  name: WireName,
  baseUrl: string,
  model: string,
  effort: Effort,
  more: Partial<ModelRequest> = {},
) {
  const { body } = sent(name, baseUrl, { ...more, model, effort });
  const { body: plain } = sent(name, baseUrl, { ...more, model, thinking: [] });
  return Object.fromEntries(
    Object.entries(body).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(plain[key])),
  );
}

const level = (effort: string) => ({ reasoning_effort: effort });
const OFF = { thinking: { type: "disabled" } };
const ON = { thinking: { type: "enabled" } };
const kwargs = (on: boolean) => ({ chat_template_kwargs: { enable_thinking: on, thinking: on } });
const oss = (effort: string) => ({ ...level(effort), chat_template_kwargs: level(effort) });
const all = (...levels: readonly string[]) => levels.map(level);

/** For none, low, medium, high and max. */
const services: readonly (readonly [host: string, model: string, fields: readonly object[]])[] = [
  [
    "openrouter.ai",
    "z-ai/glm-5",
    ["none", "low", "medium", "high", "xhigh"].map((effort) => ({ reasoning: { effort } })),
  ],
  ["api.deepseek.com", "deepseek-v4-pro", [
    OFF,
    ...["low", "medium", "high", "max"].map((effort) => ({ ...ON, ...level(effort) })),
  ]],
  ["api.moonshot.ai", "kimi-k2.6", [OFF, ON, ON, ON, ON]],
  ["api.moonshot.cn", "kimi-k2-thinking", [{}, {}, {}, {}, {}]],
  ["api.moonshot.ai", "kimi-k3.1-pro", all("low", "low", "high", "high", "max")],
  ["api.z.ai", "glm-4.7", [OFF, ON, ON, ON, ON]],
  ["open.bigmodel.cn", "glm-5.2", [
    OFF,
    ...["low", "high", "high", "max"].map((effort) => ({ ...ON, ...level(effort) })),
  ]],
  [
    "api.z.ai",
    "glm-5.3-flash",
    ["low", "low", "high", "high", "max"].map((effort) => ({ ...ON, ...level(effort) })),
  ],
  ["generativelanguage.googleapis.com", "gemini-2.5-flash", all("none", "low", "medium", "high", "high")],
  [
    "generativelanguage.googleapis.com",
    "gemini-3-flash-preview",
    all("low", "low", "medium", "high", "high"),
  ],
  ["api.groq.com", "qwen/qwen3-32b", all("none", "default", "default", "default", "default")],
  ["api.groq.com", "openai/gpt-oss-120b", all("low", "low", "medium", "high", "high")],
  ["api.groq.com", "llama-3.3-70b-versatile", [{}, {}, {}, {}, {}]],
  ["api.x.ai", "grok-4.3", all("none", "low", "medium", "high", "high")],
  ["api.x.ai", "grok-3-mini", all("low", "low", "high", "high", "high")],
  ["api.x.ai", "grok-4-0709", [{}, {}, {}, {}, {}]],
  ["api.x.ai", "grok-4.20-0309-reasoning", [{}, {}, {}, {}, {}]],
  ["api.mistral.ai", "mistral-small-latest", all("none", "high", "high", "high", "high")],
  ["api.mistral.ai", "magistral-medium-latest", [{}, {}, {}, {}, {}]],
  [
    "dashscope-intl.aliyuncs.com",
    "qwen3-max",
    [false, true, true, true, true].map((on) => ({ enable_thinking: on })),
  ],
  ["api.openai.com", "gpt-4.1", [{}, {}, {}, {}, {}]],
  ["api.openai.com", "gpt-5-chat-latest", [{}, {}, {}, {}, {}]],
  ["api.openai.com", "gpt-5-pro", [{}, {}, {}, {}, {}]],
  ["api.openai.com", "o3", all("low", "low", "medium", "high", "high")],
  ["api.openai.com", "gpt-5-2025-08-07", all("minimal", "low", "medium", "high", "high")],
  ["api.openai.com", "gpt-5.1", all("none", "low", "medium", "high", "high")],
  ["api.openai.com", "gpt-5.1-codex-max", all("low", "low", "medium", "high", "xhigh")],
  ["api.openai.com", "gpt-5.4-mini", all("none", "low", "medium", "high", "xhigh")],
  ["api.openai.com", "gpt-5.6-sol", all("none", "low", "medium", "high", "max")],
  ["127.0.0.1:8080", "qwen3:8b", [kwargs(false), kwargs(true), kwargs(true), kwargs(true), kwargs(true)]],
  ["gpu.lan:8000", "openai/gpt-oss-20b", ["low", "low", "medium", "high", "high"].map(oss)],
  ["api.elsewhere.com", "some-model", all("none", "low", "medium", "high", "high")],
];

for (const [host, model, fields] of services) {
  Deno.test(`efforts at ${host}: ${model}`, () => {
    const url = `https://${host}/v1`;
    assert.deepEqual(EFFORTS.map((effort) => added("openai_chat", url, model, effort)), fields);
  });
}

const adaptive = { type: "adaptive", display: "summarized" };
const binding = { ...adaptive, block_binding: { prefix_mismatch_behavior: "drop_block" } };
const budget = (budget_tokens: number) => ({
  thinking: { type: "enabled", budget_tokens },
  max_tokens: 16_384 + budget_tokens,
});
const efforts = (thinking: object, first: object = { thinking, output_config: { effort: "low" } }) => [
  first,
  { thinking, output_config: { effort: "low" } },
  { thinking, output_config: { effort: "medium" } },
  { thinking, output_config: { effort: "high" }, max_tokens: 32_768 },
  { thinking, output_config: { effort: "max" }, max_tokens: 64_000 },
];

const claudes: readonly (readonly [model: string, fields: readonly object[]])[] = [
  ["claude-3-5-haiku-latest", [{}, {}, {}, {}, {}]],
  ["claude-opus-4-1-20250805", [{}, budget(2_048), budget(8_192), budget(15_000), budget(15_000)]],
  ["claude-opus-4-20250514", [{}, budget(2_048), budget(8_192), budget(15_000), budget(15_000)]],
  ["claude-haiku-4-5", [{}, budget(2_048), budget(8_192), budget(15_000), budget(31_999)]],
  ["claude-4.5-opus", [{}, budget(2_048), budget(8_192), budget(15_000), budget(31_999)]],
  ["claude-opus-4-6", efforts({ type: "adaptive" }, OFF)],
  ["claude-opus-4-7", efforts(adaptive, OFF)],
  ["claude-sonnet-5", efforts(adaptive, OFF)],
  ["claude-fable-5", efforts(adaptive)],
  ["claude-opus-5-5", efforts(binding)],
  ["claude-mythos-5-1", efforts(adaptive)],
];

for (const [model, fields] of claudes) {
  Deno.test(`efforts of ${model}`, () => {
    const url = "https://api.anthropic.com";
    assert.deepEqual(EFFORTS.map((effort) => added("anthropic_messages", url, model, effort)), fields);
  });
}

Deno.test("a Claude that thinks unasked does so in sight; one that checks what was before its thoughts drops them", () => {
  const url = "https://api.anthropic.com";
  const asked = (model: string) => {
    const { body, headers } = sent("anthropic_messages", url, { model });
    return [body.thinking, body.output_config, headers["anthropic-beta"]];
  };
  assert.deepEqual(asked("claude-sonnet-4-5"), [undefined, undefined, undefined]);
  assert.deepEqual(asked("claude-opus-4-8"), [undefined, undefined, undefined]);
  assert.deepEqual(asked("claude-sonnet-5"), [adaptive, undefined, undefined]);
  assert.deepEqual(asked("claude-fable-5-1"), [binding, undefined, "thinking-binding-controls-2026-08-01"]);
  const { headers } = wire("anthropic_messages").encode(
    request([user("Hi")], { model: "claude-fable-5-1" }),
    {
      baseUrl: url,
      headers: { "anthropic-beta": "mine-1" },
    },
  );
  assert.equal(headers["anthropic-beta"], "mine-1,thinking-binding-controls-2026-08-01");
});

Deno.test("who thinks takes no temperature, and the user's limit holds for thoughts and answer", () => {
  const url = "https://api.anthropic.com";
  const body = (changes: Partial<ModelRequest>) =>
    sent("anthropic_messages", url, { model: "claude-sonnet-4-5", temperature: 0.1, ...changes }).body;
  assert.equal(body({}).temperature, 0.1);
  assert.equal(body({ effort: "high" }).temperature, undefined);
  assert.equal(body({ effort: "none" }).temperature, 0.1);
  const { thinking, max_tokens } = body({ effort: "max", maxOutputTokens: 8_000 });
  assert.deepEqual([thinking, max_tokens], [{ type: "enabled", budget_tokens: 4_000 }, 8_000]);
  assert.equal(body({ effort: "low", maxOutputTokens: 2_000 }).thinking, undefined);
});

Deno.test("Ollama takes what it says that it takes", () => {
  const think = (thinking: ModelRequest["thinking"], effort?: Effort) =>
    sent("ollama", "http://127.0.0.1:11434", { thinking, effort }).body.think;
  const each = (thinking: ModelRequest["thinking"]) =>
    [undefined, ...EFFORTS].map((effort) => think(thinking, effort));
  assert.deepEqual(each(undefined), [undefined, undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual(each([false]), [undefined, false, undefined, undefined, undefined, undefined]);
  assert.deepEqual(each([true, false]), [true, false, true, true, true, true]);
  assert.deepEqual(each(["low", "medium", "high"]), [undefined, "low", "low", "medium", "high", "high"]);
  assert.deepEqual(each([true, false, "low", "high", "max"]), [true, false, "low", "low", "high", "max"]);
});

Deno.test("a server that refuses to be told of reasoning is told nothing, and no effort makes a body that cannot be read", () => {
  const name = fc.constantFrom(...WIRES);
  const host = fc.constantFrom(...services.map(([host]) => host));
  const model = fc.oneof(fc.constantFrom(...services.map(([, model]) => model)), fc.string());
  fc.assert(fc.property(name, host, model, fc.constantFrom(...EFFORTS), (name, host, model, effort) => {
    const url = `https://${host}`;
    const silent = sent(name, url, { model, effort, thinking: [] }).body;
    assert.deepEqual(silent, sent(name, url, { model, thinking: [] }).body);
    assert.ok(!/thinking|effort|"think"/.test(JSON.stringify({ ...silent, model: "" })));
    sent(name, url, { model, effort });
  }));
});
