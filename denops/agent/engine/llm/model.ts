/** The configured model: what the loop talks to. */
import { z } from "../../deps/zod.ts";
import type { ListedModel, ModelConfig, Price } from "../../protocol/config.ts";
import { wireFor, type WireName } from "../../protocol/providers.ts";
import type { Author, Initiator, ModelRequest, Prompt, Refusable } from "../core/messages.ts";
import { TurnError } from "../core/errors.ts";
import { Access, type RenewKey, requestHeaders } from "./access.ts";
import { type ModelEvent, streamModel } from "./client.ts";
import type { Target } from "./failures.ts";
import { wire } from "./registry.ts";
import { withoutEndMark } from "./end_mark.ts";
import { ownOf } from "./own.ts";
import { formFor } from "./text_tools/forms.ts";
import { withTextCalls } from "./text_tools/reading.ts";
import { inText } from "./text_tools/request.ts";
import { hasImages, seesByName, withoutImages } from "./vision.ts";

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
  /** How it is asked to write a call into its text; undefined: it has calls of its own. */
  readonly textForm: string | undefined;
  /** @param initiator "agent" unless told */
  stream(prompt: Prompt, signal: AbortSignal, initiator?: Initiator): AsyncGenerator<ModelEvent, void>;
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

/** @param renew asks for another key, where keys end */
export function createModel(
  config: ModelConfig,
  renew?: RenewKey,
  fetchImpl: typeof fetch = fetch,
): Model {
  const { provider } = config;
  const access = new Access(provider, renew);
  const wireName = wireFor(provider, config.model);
  const ownWire = wire(wireName);
  const target: Target = {
    baseUrl: access.endpoint.baseUrl,
    provider: provider.name,
    model: config.model,
    keySource: provider.key_source,
    get secrets() {
      return access.secrets;
    },
  };
  let temperature = config.temperature;
  let without: readonly Refusable[] = [];
  let abilities: Abilities = {
    thinking: undefined,
    tools: true,
    sees: config.vision ?? seesUnasked(wireName, config.model),
    window: config.context_window ?? (wireName === "ollama" ? OLLAMA_WINDOW : DEFAULT_WINDOW),
  };
  let asked = wireName !== "ollama";
  const form = formFor(config.model);
  let hasNativeTools = config.native_tools ?? true;
  let answersInText = 0;
  let notice: string | undefined;
  /** From here on tools are described in the prompt, and calls stand in the answer's text. */
  const goOnInText = (reason: string) => {
    hasNativeTools = false;
    notice = `${config.model} ${reason}: its tool calls are asked for, and read, as text.`;
  };

  /** Ollama knows what each model can do; asked once, and a failure shows with the request itself. */
  async function askAbilities(signal: AbortSignal): Promise<void> {
    const { endpoint } = access;
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

  const author: Author = { wire: wireName, provider: provider.name, model: config.model };
  return {
    provider: provider.name,
    name: config.model,
    author,
    price: config.price,
    get contextWindow() {
      return abilities.window;
    },
    get sees() {
      return abilities.sees;
    },
    get textForm() {
      return hasNativeTools ? undefined : form.example;
    },
    async *stream(prompt, signal, initiator = "agent") {
      try {
        await access.open(signal);
      } catch (error) {
        if (signal.aborted) return yield { type: "cancelled" };
        if (error instanceof TurnError) return yield { type: "failed", error };
        throw error;
      }
      if (!asked) await askAbilities(signal).catch(() => {});
      const isLeftToUs = config.native_tools === undefined;
      if (hasNativeTools && isLeftToUs && !abilities.tools && prompt.tools.length > 0) {
        goOnInText("has no tool calls of its own");
      }
      const messages = ownOf(prompt.messages, author);
      const request: ModelRequest = {
        ...prompt,
        // Another model, that sees, may have read some earlier in the session.
        messages: abilities.sees ? messages : withoutImages(messages),
        model: config.model,
        contextWindow: abilities.window,
        without,
        thinking: abilities.thinking,
        ...(temperature === undefined ? {} : { temperature }),
        ...(config.max_output_tokens === undefined ? {} : { maxOutputTokens: config.max_output_tokens }),
      };
      const options = {
        wire: ownWire,
        get endpoint() {
          const images = abilities.sees && hasImages(request.messages);
          const own = requestHeaders(provider.request_headers, { initiator, images });
          return { ...access.endpoint, headers: { ...access.endpoint.headers, ...own } };
        },
        target,
        timeout: config.request_timeout,
        fetch: fetchImpl,
        keyRefused: () => access.reopen(signal),
        temperatureRefused: () => void (temperature = undefined),
        refused: (one: Refusable) => void (without = [...without, one]),
        imagesRefused: () => void (abilities = { ...abilities, sees: false }),
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
      const answer = withTextCalls(streamModel(sent, options, signal), prompt, told);
      for await (const event of withoutEndMark(answer)) {
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
function seesUnasked(wire: WireName, model: string): boolean {
  switch (wire) {
    case "ollama":
      return false;
    case "anthropic_messages":
      return true;
    case "openai_chat":
    case "openai_responses":
      return seesByName(model);
  }
}

/** The model that the user has set for summaries, of the same provider. */
export function createSummarizer(config: ModelConfig, renew?: RenewKey): Model | undefined {
  const { summary_model: model, price: _, summary_price: price, ...rest } = config;
  if (model === undefined || model === config.model) return undefined;
  return createModel({ ...rest, model, ...(price === undefined ? {} : { price }) }, renew);
}

/** Another model of the same provider. What is known of it counts before the options, which are of theirs. */
export function otherModel(
  config: ModelConfig,
  name: string,
  listed?: ListedModel,
  renew?: RenewKey,
): Model {
  const { price: _, ...rest } = config;
  const { price, context_window, vision } = { ...listed, ...config.models.find((one) => one.name === name) };
  // Ollama's list says what the model was made for, and not what there is memory for.
  const isServed = context_window !== undefined && config.provider.wire !== "ollama";
  return createModel({
    ...rest,
    model: name,
    ...(price === undefined ? {} : { price }),
    ...(isServed ? { context_window } : {}),
    ...(vision === undefined ? {} : { vision }),
  }, renew);
}
