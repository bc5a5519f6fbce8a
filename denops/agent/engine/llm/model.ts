/** The configured model: what the loop talks to. */
import { z } from "../../deps/zod.ts";
import type { ModelConfig, Price } from "../../protocol/config.ts";
import type { Author, KeptFor, ModelRequest, Prompt } from "../core/messages.ts";
import { type ModelEvent, streamModel } from "./client.ts";
import type { Target } from "./failures.ts";
import { wire } from "./registry.ts";
import { ownOf } from "./own.ts";
import { withoutReasoning } from "./reasoning.ts";
import { formFor } from "./text_tools/forms.ts";
import { withTextCalls } from "./text_tools/reading.ts";
import { inText } from "./text_tools/request.ts";
import { type ThoughtHabit, withThoughts } from "./thoughts.ts";
import { seesByName, withoutImages } from "./vision.ts";
import type { Endpoint } from "./wire/wire.ts";

/** Tokens of context where neither the user nor the provider says. */
const DEFAULT_WINDOW = 128_000;
/** A local model's context costs memory: what Ollama is asked for unless the user says. */
const OLLAMA_WINDOW = 32_768;
/** Answers with calls in their text after which they are asked for in text. */
const MOST_IN_TEXT = 2;

export interface Model {
  readonly provider: string;
  readonly name: string;
  /** As what it writes is marked. */
  readonly author: Author;
  readonly price?: Price | undefined;
  /** Tokens that fit; known exactly only after the first request to some providers. */
  readonly contextWindow: number;
  /** Whether it can be shown images; known for sure only after the first request to some providers. */
  readonly sees: boolean;
  /** How long it wants thoughts back that are not signed; undefined: not at all. */
  readonly keeps?: KeptFor | undefined;
  stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<ModelEvent, void>;
}

interface Abilities {
  /** See ModelRequest. */
  readonly thinking: ModelRequest["thinking"];
  readonly tools: boolean;
  readonly sees: boolean;
  readonly window: number;
}

const ShowAnswer = z.object({
  capabilities: z.array(z.string()).optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
  /** Since 0.40; "[false]" of one that cannot think. */
  thinking: z.object({ values: z.array(z.union([z.boolean(), z.string()])) }).optional().catch(undefined),
});

export function createModel(config: ModelConfig, fetchImpl: typeof fetch = fetch): Model {
  const { provider } = config;
  const endpoint: Endpoint = {
    baseUrl: provider.base_url.replace(/\/+$/, ""),
    headers: provider.headers,
    ...(provider.api_key === undefined ? {} : { apiKey: provider.api_key }),
  };
  const target: Target = {
    baseUrl: endpoint.baseUrl,
    provider: provider.name,
    model: config.model,
    keySource: provider.key_source,
    secrets: secretsOf(endpoint),
  };
  let temperature = config.temperature;
  let abilities: Abilities = {
    thinking: undefined,
    tools: true,
    sees: config.vision ?? seesUnasked(config),
    window: config.context_window ?? (provider.wire === "ollama" ? OLLAMA_WINDOW : DEFAULT_WINDOW),
  };
  let asked = provider.wire !== "ollama";
  const form = formFor(config.model);
  let hasNativeTools = config.native_tools ?? true;
  let answersInText = 0;
  let notice: string | undefined;
  const protocol = wire(provider.wire);
  const keeps = protocol.keeps(config.model, endpoint.baseUrl);
  let takesThoughts = true;
  const habit: ThoughtHabit = { swallowed: undefined };
  /** From here on tools are described in the prompt, and calls stand in the answer's text. */
  const goOnInText = (reason: string) => {
    hasNativeTools = false;
    notice = `${config.model} ${reason}: its tool calls are asked for, and read, as text.`;
  };

  /** Ollama knows what each model can do; asked once, and a failure shows with the request itself. */
  async function askAbilities(signal: AbortSignal): Promise<void> {
    const response = await fetchImpl(`${endpoint.baseUrl}/api/show`, {
      method: "POST",
      body: JSON.stringify({ model: config.model }),
      headers: {
        "content-type": "application/json",
        ...(endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` }),
        ...endpoint.headers,
      },
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    });
    const shown = ShowAnswer.safeParse(await response.json());
    if (!response.ok || !shown.success) return;
    asked = true;
    const can = shown.data.capabilities ?? ["tools"];
    const [, length] = Object.entries(shown.data.model_info ?? {})
      .find(([key]) => key.endsWith(".context_length")) ?? [];
    const most = typeof length === "number" ? length : abilities.window;
    abilities = {
      thinking: shown.data.thinking?.values ?? thinkingOf(config.model, can),
      tools: can.includes("tools"),
      sees: abilities.sees || (config.vision === undefined && can.includes("vision")),
      window: Math.min(abilities.window, most),
    };
  }

  const author: Author = { wire: provider.wire, provider: provider.name, model: config.model };
  return {
    provider: provider.name,
    name: config.model,
    author,
    get keeps() {
      return takesThoughts ? keeps : undefined;
    },
    price: config.price,
    get contextWindow() {
      return abilities.window;
    },
    get sees() {
      return abilities.sees;
    },
    async *stream(prompt, signal) {
      if (!asked) await askAbilities(signal).catch(() => {});
      const isLeftToUs = config.native_tools === undefined;
      if (hasNativeTools && isLeftToUs && !abilities.tools && prompt.tools.length > 0) {
        goOnInText("has no tool calls of its own");
      }
      const own = ownOf(prompt.messages, author);
      const messages = takesThoughts ? own : withoutReasoning(own);
      const request: ModelRequest = {
        ...prompt,
        // Another model, that sees, may have read some earlier in the session.
        messages: abilities.sees ? messages : withoutImages(messages),
        model: config.model,
        contextWindow: abilities.window,
        thinking: abilities.thinking,
        ...(temperature === undefined ? {} : { temperature }),
        ...(config.max_output_tokens === undefined ? {} : { maxOutputTokens: config.max_output_tokens }),
      };
      const options = {
        wire: protocol,
        endpoint,
        target,
        timeout: config.request_timeout,
        fetch: fetchImpl,
        temperatureRefused: () => void (temperature = undefined),
        imagesRefused: () => void (abilities = { ...abilities, sees: false }),
        // A signature is refused for what it stands on: the next one may hold.
        reasoningRefused: () => void (takesThoughts = keeps === undefined),
        effortRefused: () => {
          abilities = { ...abilities, thinking: [] };
          if (prompt.effort === undefined) return;
          notice = `${config.model} cannot be told how much to think: it thinks as it does by itself.`;
        },
        toolsRefused: (refused: ModelRequest) => {
          if (!isLeftToUs) return undefined;
          goOnInText("is served without tool calls");
          return inText(refused, form);
        },
      };
      const told = (calls: number) => {
        if (calls > 0) answersInText += 1;
        if (hasNativeTools && isLeftToUs && answersInText >= MOST_IN_TEXT) {
          goOnInText("has written its tool calls into its answer twice");
        }
      };
      const sent = hasNativeTools ? request : inText(request, form);
      for await (
        const event of withTextCalls(withThoughts(streamModel(sent, options, signal), habit), prompt, told)
      ) {
        if (notice !== undefined) yield { type: "notice", text: notice };
        notice = undefined;
        yield event;
      }
    },
  };
}

/** What Ollama's `think` takes, where it names abilities alone. Source: docs/capabilities/thinking.mdx. */
function thinkingOf(model: string, abilities: readonly string[]): ModelRequest["thinking"] {
  if (!abilities.includes("thinking")) return undefined;
  return /gpt-?oss/i.test(model) ? ["low", "medium", "high"] : [true, false];
}

/** Ollama is asked; Anthropic's models all see; of others only the name is known. */
function seesUnasked({ provider, model }: ModelConfig): boolean {
  switch (provider.wire) {
    case "ollama":
      return false;
    case "anthropic_messages":
      return true;
    case "openai_chat":
      return seesByName(model);
  }
}

/** The model that the user has set for summaries, of the same provider. */
export function createSummarizer(config: ModelConfig): Model | undefined {
  const { summary_model: model, price: _, summary_price: price, ...rest } = config;
  if (model === undefined || model === config.model) return undefined;
  return createModel({ ...rest, model, ...(price === undefined ? {} : { price }) });
}

/** Another model of the same provider, by its name. */
export function otherModel(config: ModelConfig, name: string): Model {
  const { price: _, ...rest } = config;
  const price = config.models.find((one) => one.name === name)?.price;
  return createModel({ ...rest, model: name, ...(price === undefined ? {} : { price }) });
}

/** A short key is a local server's dummy and may be any word. */
const SHORTEST_SECRET = 8;

function secretsOf({ apiKey, headers }: Endpoint): readonly string[] {
  const named = Object.entries(headers).filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
  return [apiKey ?? "", ...named.map(([, value]) => value.replace(/^(?:Bearer|Basic) /i, ""))]
    .filter((secret) => secret.length >= SHORTEST_SECRET);
}
