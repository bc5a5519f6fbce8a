/**
 * Parses a provider's model list. Sources: openrouter.ai/docs/models, anthropic-sdk-typescript
 * `resources/models.ts`, Mistral's ModelCapabilities and BaseModelCard, LM Studio's `/api/v0/models`,
 * llama.cpp's `/v1/models`, vLLM's ModelCard, Ollama's `/api/tags` and `/api/show`, Groq's and GitHub
 * Copilot's `/models`.
 */
import * as z from "../deps/zod.ts";
import type { ListedModel, Price } from "../protocol/config.ts";

const MOST_MODELS = 2_000;
/** Names are used unescaped in requests, menus and command lines. */
const NAME = /^(?! )[\p{L}\p{N}\p{P}\p{S} ]{1,200}(?<! )$/u;

/** Drops a value of the wrong type. */
export const maybe = <T extends z.ZodType>(type: T) => type.optional().catch(undefined);
const text = maybe(z.string());
const tokens = maybe(z.int().min(1));
const flag = maybe(z.boolean());
const words = maybe(z.array(z.string()));
/** US dollars per token; a negative number means that the price varies. */
const dollars = maybe(z.coerce.number().min(0));
const supported = maybe(z.object({ supported: z.boolean() }));

const Row = z.object({
  id: text,
  name: text,
  model: text,
  /** LM Studio: llm, vlm, embeddings. */
  type: text,
  loaded_context_length: tokens,
  context_length: tokens,
  context_window: tokens,
  max_model_len: tokens,
  max_input_tokens: tokens,
  max_context_length: tokens,
  meta: maybe(z.object({ n_ctx: tokens, n_ctx_train: tokens })),
  architecture: maybe(z.object({ input_modalities: words, output_modalities: words })),
  supported_parameters: words,
  /** Copilot: whether editors offer it, whether the account can use it, its weight in the quota. */
  model_picker_enabled: flag,
  policy: maybe(z.object({ state: text })),
  billing: maybe(z.object({ multiplier: maybe(z.number().min(0)) })),
  pricing: maybe(
    z.object({
      prompt: dollars,
      completion: dollars,
      input_cache_read: dollars,
      input_cache_write: dollars,
    }),
  ),
  capabilities: maybe(z.union([
    z.array(z.string()),
    z.object({
      completion_chat: flag,
      function_calling: flag,
      vision: flag,
      image_input: supported,
      type: text,
      limits: maybe(z.object({ max_prompt_tokens: tokens, max_context_window_tokens: tokens })),
      supports: maybe(z.object({ tool_calls: flag, vision: flag })),
    }),
  ])),
});
type Row = z.infer<typeof Row>;

const rows = maybe(z.array(z.unknown()));
const Answer = z.object({ data: rows, models: rows });

/** The chat models of a list, in its order. Undefined: not a list. Pure. */
export function modelsOf(answer: unknown): readonly ListedModel[] | undefined {
  const { data, models } = Answer.safeParse(answer).data ?? {};
  const listed = data ?? models;
  if (listed === undefined) return undefined;
  const read = readRows(listed);
  // llama.cpp lists a model's abilities in a second list.
  const beside = data === undefined || models === undefined ? new Map<string, Row>() : readRows(models);
  return [...read].slice(0, MOST_MODELS)
    .map(([name, row]) => listedModel(name, { ...beside.get(name), ...row }))
    .filter((model) => model !== undefined);
}

function readRows(listed: readonly unknown[]): Map<string, Row> {
  return new Map(listed.flatMap((one) => {
    const row = Row.safeParse(one).data;
    const name = row?.id ?? row?.name ?? row?.model ?? "";
    if (row === undefined || !NAME.test(name)) return [];
    const { capabilities, ...rest } = row;
    return [[name, capabilities === undefined ? rest : row]];
  }));
}

function listedModel(name: string, row: Row): ListedModel | undefined {
  const { capabilities, architecture, meta } = row;
  const can = Array.isArray(capabilities) ? capabilities : undefined;
  const facts = capabilities === undefined || Array.isArray(capabilities) ? {} : capabilities;
  const answers = !["embeddings", "embedding"].includes(row.type ?? "") &&
    (can === undefined || !can.includes("embedding") || can.includes("completion")) &&
    facts.completion_chat !== false && (facts.type ?? "chat") === "chat" &&
    architecture?.output_modalities?.includes("text") !== false &&
    row.model_picker_enabled !== false && (row.policy?.state ?? "enabled") === "enabled";
  if (!answers) return undefined;
  // A loaded model may have a smaller window than its maximum.
  const window = row.loaded_context_length ?? meta?.n_ctx ?? row.context_length ?? row.context_window ??
    row.max_model_len ?? row.max_input_tokens ?? row.max_context_length ??
    facts.limits?.max_prompt_tokens ?? facts.limits?.max_context_window_tokens ?? meta?.n_ctx_train;
  const vision = architecture?.input_modalities?.includes("image") ?? facts.image_input?.supported ??
    facts.vision ?? facts.supports?.vision ?? visionOf(row.type, can);
  const tools = row.supported_parameters?.includes("tools") ?? facts.function_calling ??
    facts.supports?.tool_calls ?? (can === undefined ? undefined : can.some(isTools) || undefined);
  const price = priceOf(row.pricing);
  const countsAs = row.billing?.multiplier;
  return {
    name,
    ...(price === undefined ? {} : { price }),
    ...(window === undefined ? {} : { context_window: window }),
    ...(vision === undefined ? {} : { vision }),
    ...(tools === undefined ? {} : { tools }),
    ...(countsAs === undefined ? {} : { counts_as: countsAs }),
  };
}

function isTools(capability: string): boolean {
  return capability === "tools" || capability === "tool_use";
}

function visionOf(type: string | undefined, can: readonly string[] | undefined): boolean | undefined {
  if (type === "vlm" || type === "llm") return type === "vlm";
  return can?.some((one) => one === "vision" || one === "multimodal");
}

/** Converts dollars per token to dollars per million tokens. */
function priceOf(pricing: Row["pricing"]): Price | undefined {
  if (pricing?.prompt === undefined || pricing.completion === undefined) return undefined;
  const { prompt, completion, input_cache_read: read, input_cache_write: write } = pricing;
  const million = (dollars: number) => Number((dollars * 1_000_000).toPrecision(10));
  return {
    input: million(prompt),
    output: million(completion),
    ...(read === undefined ? {} : { cached_read: million(read) }),
    ...(write === undefined ? {} : { cached_write: million(write) }),
  };
}

/** One line with the known facts: "131k · $0.59/$0.79 · tools · vision". Pure. */
export function factsLine(model: ListedModel): string {
  const { context_window: window, price, counts_as: countsAs, tools, vision } = model;
  return [
    ...window === undefined ? [] : [short(window)],
    ...price === undefined ? [] : [`$${price.input}/$${price.output}`],
    ...countsAs === undefined ? [] : [`${countsAs}×`],
    ...tools === undefined ? [] : [tools ? "tools" : "no tools"],
    ...vision === true ? ["vision"] : [],
  ].join(" · ");
}

/** As providers write it: 131072 is 131k, 1048576 is 1M. */
function short(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${Math.round(count / 100_000) / 10}M`;
}

/**
 * Gemini's names begin with "models/", Ollama's may end with ":latest"; OpenRouter accepts variants such as
 * ":nitro".
 */
export function isModel(name: string, wanted: string): boolean {
  return [wanted, `models/${wanted}`, `${wanted}:latest`, wanted.replace(/:\w+$/, "")].includes(name);
}

/** The most similar names, the nearest first. Pure. */
export function nearNames(wanted: string, names: readonly string[], most = 3): readonly string[] {
  const pairs = pairsOf(wanted);
  return names.map((name) => {
    const others = pairsOf(name);
    const share = 2 * pairs.intersection(others).size / Math.max(1, pairs.size + others.size);
    return { name, share };
  }).filter(({ share }) => share >= 0.4).sort((one, other) => other.share - one.share)
    .slice(0, most).map(({ name }) => name);
}

function pairsOf(name: string): Set<string> {
  const text = name.toLowerCase();
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
}
