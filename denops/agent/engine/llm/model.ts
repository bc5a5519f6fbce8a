/** The configured model: what the loop talks to. */
import type { ListedModel, ModelConfig, Price } from "../../protocol/config.ts";
import { wireFor, type WireName } from "../../protocol/providers.ts";
import { isSmall } from "../../models/families.ts";
import { TurnError } from "../../shared/errors.ts";
import type { Author, Initiator, KeptFor, Prompt } from "../log/messages.ts";
import type { ModelFacts } from "../ports.ts";
import { Abilities } from "./abilities/abilities.ts";
import { SMALL_WINDOW } from "./abilities/window.ts";
import { ProviderCredentials, type RenewKey, requestHeaders } from "./access.ts";
import { type ModelEvent, streamModel } from "./client.ts";
import type { Target } from "./failures.ts";
import { oneCallEach } from "./one_call.ts";
import { wire } from "./registry.ts";
import { withoutEndMark } from "./end_mark.ts";
import { ownOf } from "./own.ts";
import { Refusals } from "./refusals.ts";
import { formFor } from "./text_tools/forms.ts";
import { type Found, withTextCalls } from "./text_tools/reading.ts";
import { inText, withoutPackets } from "./text_tools/request.ts";
import { type ThoughtHabit, withThoughts } from "./thoughts.ts";
import { hasImages, withoutImages } from "./vision.ts";

/** Nothing is known from before, and nothing is kept. */
const NO_FACTS: ModelFacts = { get: () => undefined, put: () => {} };
/** Answers with calls in their text after which they are asked for in text. */
const MOST_IN_TEXT = 2;
/** Wires whose services have calls of their own. */
const NATIVE_WIRES: readonly WireName[] = ["anthropic_messages", "openai_responses"];

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
  /** @param initiator "agent" unless told */
  stream(prompt: Prompt, signal: AbortSignal, initiator?: Initiator): AsyncGenerator<ModelEvent, void>;
}

interface ModelPorts {
  readonly fetch?: typeof fetch;
  /** What was learnt of models before. */
  readonly facts?: ModelFacts;
  /** Asks for another key, where keys end. */
  readonly renew?: RenewKey | undefined;
  /** Tokens, as the provider lists the model. */
  readonly listedWindow?: number | undefined;
}

export function createModel(
  general: ModelConfig,
  ports: ModelPorts = {},
): Model {
  const config = { ...general, ...general.model_options[general.model] };
  const { fetch: fetchImpl = fetch, facts = NO_FACTS, renew, listedWindow } = ports;
  const { provider } = config;
  const wireName = wireFor(provider, config.model);
  const ownWire = wire(wireName);
  const access = new ProviderCredentials(provider, renew);
  const target: Target = {
    baseUrl: access.endpoint.baseUrl,
    provider: provider.name,
    model: config.model,
    keySource: provider.key_source,
    proxy: provider.proxy,
    get secrets() {
      return access.secrets;
    },
  };
  const toldEfforts = new Set<Prompt["effort"]>();
  const abilities = new Abilities(config, access.endpoint, facts, fetchImpl, listedWindow);
  const form = formFor(config.model);
  const isLeftToUs = config.native_tools === undefined;
  let hasNativeTools = config.native_tools ?? true;
  let isLookedAt = false;
  let answersInText = 0;
  /** In a session of this engine. */
  let hasCalled = false;
  const keeps = ownWire.keeps?.(config.model, access.endpoint.baseUrl);
  const habit: ThoughtHabit = { swallowed: undefined };
  const notices: string[] = [];
  /** From here on tools are described in the prompt, and calls stand in the answer's text. */
  const goOnInText = (reason: string) => {
    hasNativeTools = false;
    notices.push(`${config.model} ${reason}: its tool calls are asked for, and read, as text.`);
  };

  if (isLeftToUs && abilities.inText) {
    hasNativeTools = false;
    notices.push(
      `${config.model} writes its tool calls as text, as in recent sessions. ` +
        "Set native_tools = true in models to use its own tool calls.",
    );
  }
  const callsOneByOne = () => !abilities.parallel;
  const refusals = new Refusals({
    abilities,
    inText(refused) {
      if (!isLeftToUs) return undefined;
      goOnInText("is served without tool calls");
      abilities.rememberText();
      return inText(refused, form);
    },
    notice: (text) => void notices.push(text),
    provider: provider.name,
  });

  /** What the user wants is not done; what is asked beside a turn is nobody's wish. */
  const isIgnored = ({ effort, textOnly }: Prompt) =>
    effort !== undefined && !textOnly && refusals.isEffort(effort) && !toldEfforts.has(effort);

  /** Whether a call in its text is one that it only shows. */
  const isNative = ({ messages }: Prompt) =>
    hasCalled || NATIVE_WIRES.includes(wireName) || abilities.callsNatively ||
    messages.some((message) =>
      message.role === "assistant" && message.calls.length > 0 && message.written === undefined &&
      message.by?.model === config.model && message.by.provider === provider.name
    );

  const author: Author = { wire: wireName, provider: provider.name, model: config.model };
  return {
    provider: provider.name,
    name: config.model,
    author,
    get keeps() {
      return refusals.earlierReasoning ? undefined : keeps;
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
    async *stream(prompt, signal, initiator = "agent") {
      try {
        await access.open(signal);
      } catch (error) {
        if (signal.aborted) return yield { type: "cancelled" };
        if (error instanceof TurnError) return yield { type: "failed", error };
        throw error;
      }
      await abilities.prepare(signal);
      notices.push(...abilities.news());
      if (hasNativeTools && isLeftToUs && !abilities.tools && prompt.tools.length > 0) {
        goOnInText("has no tool calls of its own");
      }
      // A title, or what a message wants: nobody reads along there.
      const isAside = prompt.textOnly && prompt.effort === "none";
      const own = ownOf(prompt.messages, author);
      const fitting = hasNativeTools ? withoutPackets(own) : own;
      // Calls in text stand as the model wrote them.
      const messages = hasNativeTools && callsOneByOne() ? oneCallEach(fitting) : fitting;
      const request = refusals.respected({
        ...prompt,
        // Another model, that sees, may have read some earlier in the session.
        messages: abilities.sees ? messages : withoutImages(messages),
        model: config.model,
        contextWindow: abilities.window.tokens,
        thinking: abilities.thinking,
        ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
        ...(config.max_output_tokens === undefined ? {} : { maxOutputTokens: config.max_output_tokens }),
      });
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
        otherwise: refusals.otherwise.bind(refusals),
        windowTold(tokens: number) {
          abilities.windowRefused(tokens);
          notices.push(...abilities.news());
        },
      };
      const callsInText = !hasNativeTools || (isLeftToUs && !isNative(prompt));
      const found = ({ isNative, calls, shown }: Found) => {
        if (isNative && !hasCalled) abilities.rememberNative();
        hasCalled ||= isNative;
        if (calls > 0 || (!callsInText && shown !== undefined)) answersInText += 1;
        if (hasNativeTools && isLeftToUs && !hasCalled && answersInText >= MOST_IN_TEXT) {
          goOnInText("has written its tool calls into its answer twice");
          abilities.rememberText();
        }
      };
      const sent = hasNativeTools ? request : inText(request, form);
      const heard = withThoughts(streamModel(sent, options, signal), habit);
      const answer = withTextCalls(heard, prompt, { model: config.model, callsInText }, found);
      for await (const event of withoutEndMark(answer)) {
        if (event.type === "done" && !isLookedAt && !isAside) {
          isLookedAt = true;
          notices.push(...await abilities.answered());
        }
        if (isIgnored(prompt)) {
          toldEfforts.add(prompt.effort);
          notices.push(`${config.model} does not support effort "${prompt.effort}"; using its default.`);
        }
        if (!isAside) { for (const text of notices.splice(0)) yield { type: "notice", text }; }
        yield event;
      }
    },
  };
}

/** The model that the user has set for summaries, of the same provider. */
export function createSummarizer(
  config: ModelConfig,
  ports?: ModelPorts,
): Model | undefined {
  const { summary_model: model, price: _, summary_price: price, ...rest } = config;
  if (model === undefined || model === config.model) return undefined;
  return createModel({ ...rest, model, ...(price === undefined ? {} : { price }) }, ports);
}

/** Another model of the same provider. The options are of theirs: of another one what is known counts before them. */
export function otherModel(
  config: ModelConfig,
  name: string,
  listed?: ListedModel,
  ports?: ModelPorts,
): Model {
  const { price: _, context_window: window, ...rest } = config;
  const known = { ...config.models.find((one) => one.name === name), ...listed };
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
  return createModel(own, { ...ports, listedWindow: known.context_window });
}
