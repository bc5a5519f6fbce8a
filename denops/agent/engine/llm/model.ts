/** The configured model, as the loop uses it. */
import type { ListedModel, ModelConfig, Price } from "../../protocol/config.ts";
import { wireFor } from "../../protocol/providers.ts";
import { TurnError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { Author, KeptFor } from "../log/messages.ts";
import type { Initiator, ModelRequest, Prompt } from "../log/model_request.ts";
import type { ModelFacts } from "../ports/store.ts";
import { Abilities } from "./abilities/abilities.ts";
import { ProviderCredentials, type RenewKey, requestHeaders } from "./access.ts";
import { type ClientOptions, type ModelEvent, streamModel } from "./client.ts";
import type { Target } from "./failures/text.ts";
import { type AnyWire, wire } from "./registry.ts";
import { withoutEcho } from "./echo.ts";
import { withoutEndMark } from "./end_mark.ts";
import { ownOf } from "./own.ts";
import { Refusals } from "./failures/refusals.ts";
import { withTextCalls } from "./text_tools/reading.ts";
import { type ThoughtHabit, withThoughts } from "./thoughts.ts";
import { ToolMode } from "./tool_mode.ts";
import { hasImages, withoutImages } from "./vision.ts";

/** Stores nothing. */
const NO_FACTS: ModelFacts = { get: () => undefined, put: () => {} };
export interface Model {
  readonly provider: string;
  readonly name: string;
  /** The author that its messages are marked with. */
  readonly author: Author;
  readonly price?: Price | undefined;
  /** Tokens of the context window. With some providers it is exact only after the first request. */
  readonly contextWindow: number;
  /** The source of the window size. */
  readonly windowFrom: string;
  /** It has few parameters or a small window, and gets a shorter prompt. */
  readonly small: boolean;
  /** The prompt asks for one call at a time. */
  readonly oneByOne: boolean;
  /** Whether it accepts images. With some providers this is certain only after the first request. */
  readonly sees: boolean;
  /** How long it wants unsigned thoughts back; undefined: never. */
  readonly keeps?: KeptFor | undefined;
  /** The instructions for calls in text; undefined if it has native calls. */
  readonly textForm: string | undefined;
  /** Asks the provider for what the prompt depends on; never fails. */
  prepare(signal: AbortSignal): Promise<void>;
  /** @param initiator "agent" by default */
  stream(prompt: Prompt, signal: AbortSignal, initiator?: Initiator): AsyncGenerator<ModelEvent, void>;
}

export interface ModelPorts {
  readonly fetch?: typeof fetch;
  /** Stored facts about models. */
  readonly facts?: ModelFacts;
  /** Requests a new key if keys expire. */
  readonly renew?: RenewKey | undefined;
  readonly wireLog?: ClientOptions["wireLog"];
  /** Tokens, from the provider's model list. */
  readonly listedWindow?: number | undefined;
}

export function createModel(general: ModelConfig, ports: ModelPorts = {}): Model {
  return new ConfiguredModel({ ...general, ...general.model_options[general.model] }, ports);
}

class ConfiguredModel implements Model {
  readonly #config: ModelConfig;
  readonly #fetch: typeof fetch;
  readonly #wireLog: ClientOptions["wireLog"];
  readonly #wire: AnyWire;
  readonly #credentials: ProviderCredentials;
  readonly #target: Target;
  readonly #abilities: Abilities;
  readonly #toolMode: ToolMode;
  readonly #refusals: Refusals;
  readonly #keeps: KeptFor | undefined;
  readonly #habit: ThoughtHabit = { swallowed: undefined };
  /** Messages for the user, sent before the next event. */
  readonly #notices: string[] = [];
  readonly #ignoredEfforts = new Set<Prompt["effort"]>();
  #isChecked = false;
  #hasToldBlind = false;
  readonly author: Author;

  constructor(config: ModelConfig, ports: ModelPorts) {
    const { fetch: ownFetch = fetch, facts = NO_FACTS, renew, listedWindow } = ports;
    const { provider, model } = config;
    const wireName = wireFor(provider, model);
    const credentials = new ProviderCredentials(provider, renew);
    const { endpoint } = credentials;
    this.#config = config;
    this.#fetch = ownFetch;
    this.#wireLog = ports.wireLog;
    this.#wire = wire(wireName);
    this.#credentials = credentials;
    this.#target = {
      baseUrl: endpoint.baseUrl,
      provider: provider.name,
      model,
      keySource: provider.key_source,
      proxy: provider.proxy,
      get secrets() {
        return credentials.secrets;
      },
    };
    const notice = (text: string) => void this.#notices.push(text);
    this.author = { wire: wireName, provider: provider.name, model };
    this.#abilities = new Abilities(config, endpoint, facts, ownFetch, listedWindow);
    this.#toolMode = new ToolMode(this.author, config.native_tools, this.#abilities, notice);
    this.#refusals = new Refusals({
      abilities: this.#abilities,
      inText: (refused) => this.#toolMode.withoutTools(refused),
      notice,
      provider: provider.name,
    });
    this.#keeps = this.#wire.keeps?.(model, endpoint.baseUrl);
  }

  get provider(): string {
    return this.author.provider;
  }

  get name(): string {
    return this.author.model;
  }

  get price(): Price | undefined {
    return this.#config.price;
  }

  get keeps(): KeptFor | undefined {
    return this.#refusals.earlierReasoning ? undefined : this.#keeps;
  }

  get contextWindow(): number {
    return this.#abilities.window.tokens;
  }

  get windowFrom(): string {
    return this.#abilities.window.from;
  }

  get small(): boolean {
    return this.#abilities.isSmall;
  }

  get oneByOne(): boolean {
    return !this.#abilities.parallel;
  }

  get sees(): boolean {
    return this.#abilities.sees;
  }

  get textForm(): string | undefined {
    return this.#toolMode.textForm;
  }

  prepare(signal: AbortSignal): Promise<void> {
    return this.#abilities.prepare(signal);
  }

  async *stream(
    prompt: Prompt,
    signal: AbortSignal,
    initiator: Initiator = "agent",
  ): AsyncGenerator<ModelEvent, void> {
    try {
      await this.#credentials.open(signal);
    } catch (error) {
      if (signal.aborted) return yield { type: "cancelled" };
      if (error instanceof TurnError) return yield { type: "failed", error };
      throw error;
    }
    await this.prepare(signal);
    this.#notices.push(...this.#abilities.news());
    this.#toolMode.prepare(prompt);
    // A title or the routing of a message: nobody watches it stream.
    const isAside = prompt.textOnly && prompt.effort === "none";
    for await (const event of this.#answer(prompt, initiator, signal)) {
      if (event.type === "done" && !this.#isChecked && !isAside) {
        this.#isChecked = true;
        this.#notices.push(...await this.#abilities.answered());
      }
      this.#noteEffort(prompt);
      this.#noteImages(prompt);
      if (!isAside) { for (const text of this.#notices.splice(0)) yield { type: "notice", text }; }
      yield event;
    }
  }

  #answer(prompt: Prompt, initiator: Initiator, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const request = this.#request(prompt);
    const [credentials, abilities] = [this.#credentials, this.#abilities];
    const { request_headers } = this.#config.provider;
    const events = streamModel(this.#toolMode.encode(request), {
      wire: this.#wire,
      get endpoint() {
        const images = abilities.sees && hasImages(request.messages);
        const headers = requestHeaders(request_headers, { initiator, images });
        return { ...credentials.endpoint, headers: { ...credentials.endpoint.headers, ...headers } };
      },
      target: this.#target,
      timeout: this.#config.request_timeout,
      fetch: this.#fetch,
      wireLog: this.#wireLog,
      keyRefused: () => credentials.reopen(signal),
      otherwise: (refused, request) => this.#refusals.otherwise(refused, request),
      windowTold: (tokens) => {
        abilities.windowRefused(tokens);
        this.#notices.push(...abilities.news());
      },
    }, signal);
    const callsInText = this.#toolMode.readsText(prompt);
    const answer = withTextCalls(
      withoutEcho(withThoughts(events, this.#habit)),
      prompt,
      { model: this.name, callsInText },
      (found) => this.#toolMode.learn(found, callsInText),
    );
    return withoutEndMark(answer);
  }

  #request(prompt: Prompt): ModelRequest {
    const abilities = this.#abilities;
    const { temperature, max_output_tokens: maxOutputTokens } = this.#config;
    const messages = this.#toolMode.fit(ownOf(prompt.messages, this.author));
    return this.#refusals.respected({
      ...prompt,
      // An earlier model of the session may have read images.
      messages: abilities.sees ? messages : withoutImages(messages),
      model: this.name,
      contextWindow: abilities.window.tokens,
      thinking: abilities.thinking,
      ...defined({ temperature, maxOutputTokens }),
    });
  }

  /** Reports once that the model ignores the user's effort. */
  #noteEffort({ effort, textOnly }: Prompt): void {
    if (effort === undefined || textOnly || !this.#refusals.isEffort(effort)) return;
    if (this.#ignoredEfforts.has(effort)) return;
    this.#ignoredEfforts.add(effort);
    this.#notices.push(`${this.name} does not support effort "${effort}"; using its default.`);
  }

  #noteImages({ messages }: Prompt): void {
    if (this.#hasToldBlind || this.#abilities.sees || !hasImages(messages)) return;
    this.#hasToldBlind = true;
    this.#notices.push(`${this.name} cannot see images: they are left out.`);
  }
}

/** The user's model for summaries, from the same provider. */
export function createSummarizer(
  config: ModelConfig,
  ports?: ModelPorts,
): Model | undefined {
  const { summary_model: model, price: _, summary_price: price, ...rest } = config;
  if (model === undefined || model === config.model) return undefined;
  return createModel({ ...rest, model, ...(price === undefined ? {} : { price }) }, ports);
}

/**
 * Another model of the same provider. The options belong to the configured model; for another one, reported
 * facts take precedence.
 */
export function otherModel(
  config: ModelConfig,
  name: string,
  listed?: ListedModel,
  ports?: ModelPorts,
): Model {
  const { price: _, context_window: window, ...rest } = config;
  const known = { ...config.models.find((one) => one.name === name), ...listed };
  const isOwn = name === config.model;
  // If the request sets the window, the option is about memory, which limits other models too.
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
