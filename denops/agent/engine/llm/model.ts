/** The configured model: what the loop talks to. */
import type { ListedModel, ModelConfig, Price } from "../../protocol/config.ts";
import { wireFor } from "../../protocol/providers.ts";
import { isOneByOne, isSmall } from "../core/families.ts";
import type { Author, KeptFor, ModelRequest, Prompt, Refusable } from "../core/messages.ts";
import type { ModelFacts } from "../core/ports.ts";
import { Abilities } from "./abilities/abilities.ts";
import { SMALL_WINDOW } from "./abilities/window.ts";
import { type ModelEvent, streamModel } from "./client.ts";
import type { Target } from "./failures.ts";
import { oneCallEach } from "./one_call.ts";
import { wire } from "./registry.ts";
import { withoutEndMark } from "./end_mark.ts";
import { ownOf } from "./own.ts";
import { withoutReasoning } from "./reasoning.ts";
import { formFor } from "./text_tools/forms.ts";
import { withTextCalls } from "./text_tools/reading.ts";
import { inText } from "./text_tools/request.ts";
import { type ThoughtHabit, withThoughts } from "./thoughts.ts";
import { withoutImages } from "./vision.ts";
import type { Endpoint } from "./wire/wire.ts";

/** Nothing is known from before, and nothing is kept. */
const NO_FACTS: ModelFacts = { get: () => undefined, put: () => {} };
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
  /** Who says so, as the end of a sentence. */
  readonly windowFrom: string;
  /** It is told less: it has few parameters, or a small window. */
  readonly small: boolean;
  /** It is told to make one call after the other. */
  readonly oneByOne: boolean;
  /** Whether it can be shown images; known for sure only after the first request to some providers. */
  readonly sees: boolean;
  /** How long it wants thoughts back that are not signed; undefined: not at all. */
  readonly keeps?: KeptFor | undefined;
  /** How it is asked to write a call into its text; undefined: it has calls of its own. */
  readonly textForm: string | undefined;
  /** Asks the provider what is to be known before a prompt is made; never fails. */
  prepare(signal: AbortSignal): Promise<void>;
  stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<ModelEvent, void>;
}

/** @param listedWindow tokens, as the provider lists the model */
export function createModel(
  config: ModelConfig,
  fetchImpl: typeof fetch = fetch,
  facts: ModelFacts = NO_FACTS,
  listedWindow?: number,
): Model {
  const { provider } = config;
  const wireName = wireFor(provider, config.model);
  const ownWire = wire(wireName);
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
  let without: readonly Refusable[] = [];
  /** Another one may be taken. */
  const refusedEfforts = new Set<Prompt["effort"]>();
  const toldEfforts = new Set<Prompt["effort"]>();
  const abilities = new Abilities(config, endpoint, facts, fetchImpl, listedWindow);
  const form = formFor(config.model);
  const isLeftToUs = config.native_tools === undefined;
  let hasNativeTools = config.native_tools ?? true;
  let isLookedAt = false;
  let answersInText = 0;
  let notice: string | undefined;
  const keeps = ownWire.keeps?.(config.model, endpoint.baseUrl);
  const habit: ThoughtHabit = { swallowed: undefined };
  /** From here on tools are described in the prompt, and calls stand in the answer's text. */
  const goOnInText = (reason: string) => {
    hasNativeTools = false;
    notice = `${config.model} ${reason}: its tool calls are asked for, and read, as text.`;
  };

  if (isLeftToUs && abilities.inText) {
    hasNativeTools = false;
    notice = `${config.model} was of late asked for its tool calls as text, and is so again. ` +
      "With native_tools = true it is asked for its own.";
  }
  const callsOneByOne = () => !abilities.parallel || isOneByOne(config.model);

  /** What the user wants is not done; what is asked beside a turn is nobody's wish. */
  const isIgnored = ({ effort, textOnly }: Prompt) =>
    effort !== undefined && !textOnly && refusedEfforts.has(effort) && !toldEfforts.has(effort);

  const author: Author = { wire: wireName, provider: provider.name, model: config.model };
  return {
    provider: provider.name,
    name: config.model,
    author,
    get keeps() {
      return without.includes("earlier_reasoning") ? undefined : keeps;
    },
    price: config.price,
    get contextWindow() {
      return abilities.window.tokens;
    },
    get windowFrom() {
      return abilities.window.from;
    },
    get small() {
      return isSmall(config.model) || abilities.window.tokens <= SMALL_WINDOW;
    },
    get oneByOne() {
      return callsOneByOne();
    },
    get sees() {
      return abilities.sees;
    },
    prepare: (signal) => abilities.prepare(signal),
    get textForm() {
      return hasNativeTools ? undefined : form.example;
    },
    async *stream(prompt, signal) {
      await abilities.prepare(signal);
      if (hasNativeTools && isLeftToUs && !abilities.tools && prompt.tools.length > 0) {
        goOnInText("has no tool calls of its own");
      }
      const own = ownOf(prompt.messages, author);
      const taken = without.includes("earlier_reasoning") ? withoutReasoning(own) : own;
      const messages = callsOneByOne() ? oneCallEach(taken) : taken;
      const request: ModelRequest = {
        ...prompt,
        // Another model, that sees, may have read some earlier in the session.
        messages: abilities.sees ? messages : withoutImages(messages),
        model: config.model,
        contextWindow: abilities.window.tokens,
        without,
        thinking: refusedEfforts.has(prompt.effort) ? [] : abilities.thinking,
        ...(temperature === undefined ? {} : { temperature }),
        ...(config.max_output_tokens === undefined ? {} : { maxOutputTokens: config.max_output_tokens }),
      };
      const options = {
        wire: ownWire,
        endpoint,
        target,
        timeout: config.request_timeout,
        fetch: fetchImpl,
        temperatureRefused: () => void (temperature = undefined),
        leaveOut(one: Refusable) {
          if (one === "effort") refusedEfforts.add(prompt.effort);
          else without = [...without, one];
        },
        imagesRefused: () => abilities.imagesRefused(),
        windowTold: (tokens: number) => abilities.windowRefused(tokens),
        toolsRefused: (refused: ModelRequest) => {
          if (!isLeftToUs) return undefined;
          goOnInText("is served without tool calls");
          abilities.rememberText();
          return inText(refused, form);
        },
        refused(what: "calls" | "memory", refused: ModelRequest) {
          if (what === "calls") {
            if (callsOneByOne()) return undefined;
            abilities.callsRefused();
            return { ...refused, messages: oneCallEach(refused.messages) };
          }
          const contextWindow = abilities.memoryRefused();
          return contextWindow === undefined ? undefined : { ...refused, contextWindow };
        },
      };
      const told = (calls: number) => {
        if (calls > 0) answersInText += 1;
        if (hasNativeTools && isLeftToUs && answersInText >= MOST_IN_TEXT) {
          goOnInText("has written its tool calls into its answer twice");
          abilities.rememberText();
        }
      };
      const sent = hasNativeTools ? request : inText(request, form);
      const heard = withThoughts(streamModel(sent, options, signal), habit);
      const answer = withTextCalls(heard, prompt, told);
      for await (const event of withoutEndMark(answer)) {
        if (event.type === "done" && !isLookedAt) {
          isLookedAt = true;
          const slow = await abilities.notice();
          if (slow !== undefined) yield { type: "notice", text: slow };
        }
        if (isIgnored(prompt)) {
          toldEfforts.add(prompt.effort);
          notice = `${config.model} cannot be told to think at effort ${prompt.effort}: it thinks as it does by itself.`;
        }
        if (notice !== undefined) yield { type: "notice", text: notice };
        notice = undefined;
        yield event;
      }
    },
  };
}

/** The model that the user has set for summaries, of the same provider. */
export function createSummarizer(config: ModelConfig, facts?: ModelFacts): Model | undefined {
  const { summary_model: model, price: _, summary_price: price, ...rest } = config;
  if (model === undefined || model === config.model) return undefined;
  return createModel({ ...rest, model, ...(price === undefined ? {} : { price }) }, fetch, facts);
}

/** Another model of the same provider. The options are of theirs: of another one what is known counts before them. */
export function otherModel(
  config: ModelConfig,
  name: string,
  listed?: ListedModel,
  facts?: ModelFacts,
): Model {
  const { price: _, context_window: window, ...rest } = config;
  const known = { ...listed, ...config.models.find((one) => one.name === name) };
  const isOwn = name === config.model;
  // Where the request decides, the option is about memory, which other models have no more of.
  const isTold = !isOwn && known.context_window !== undefined && config.provider.wire !== "ollama";
  const { price, vision } = isOwn ? { ...known, ...config } : known;
  const own = {
    ...rest,
    model: name,
    ...(price === undefined ? {} : { price }),
    ...(vision === undefined ? {} : { vision }),
    ...(window === undefined || isTold ? {} : { context_window: window }),
  };
  return createModel(own, fetch, facts, known.context_window);
}

/** A short key is a local server's dummy and may be any word. */
const SHORTEST_SECRET = 8;

function secretsOf({ apiKey, headers }: Endpoint): readonly string[] {
  const named = Object.entries(headers).filter(([name]) => /auth|key|token|secret|cookie/i.test(name));
  return [apiKey ?? "", ...named.map(([, value]) => value.replace(/^(?:Bearer|Basic) /i, ""))]
    .filter((secret) => secret.length >= SHORTEST_SECRET);
}
