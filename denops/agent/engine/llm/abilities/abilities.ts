/**
 * The known abilities of one model: from the user's options, the server's reports and refusals, and stored
 * facts.
 */
import type { ModelConfig } from "../../../protocol/config.ts";
import { wireFor } from "../../../protocol/providers.ts";
import { isOneByOne, isSmall } from "../../../models/families.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import type { ModelFacts } from "../../ports/store.ts";
import { jsonHeaders } from "../wire/json.ts";
import type { Endpoint } from "../wire/wire.ts";
import { seesByName } from "../vision.ts";
import { askServers, serversAt } from "./registry.ts";
import { type Look, ReportedAbilities, type Server } from "./reported.ts";
import { SMALL_WINDOW, type Window, windowOf } from "./window.ts";

/** How long a server's reports are valid. Refusals are valid for longer. */
const TOLD_MS = 60 * 60_000;
const REFUSED_MS = 7 * 24 * 60 * 60_000;
/** The timeout of a query, after which the next one waits. A query that only leads to a notice gets less. */
const PATIENCE_MS = 3_000;
const GLANCE_MS = 1_000;
const PAUSE_MS = 10 * 60_000;
/** Tokens of the smallest useful window; a server without memory is not asked for less. */
const LEAST_WINDOW = 8_192;
/** Bytes of an answer; lists of several hundred models are smaller. */
const LARGEST_ANSWER = 4_000_000;

export class Abilities {
  readonly #config: ModelConfig;
  readonly #facts: ModelFacts;
  readonly #servers: readonly Server[];
  readonly #look: Look;
  readonly #glance: Look;
  readonly #listedWindow: number | undefined;
  #abilities: ReportedAbilities = {};
  /** When the reports expire. */
  #until = 0;
  #asking: Promise<void> | undefined;
  #blind = false;
  /** The window that a server without memory was last asked for. */
  #affordable: number | undefined;
  #isToldOfWindow = false;

  /** @param listedWindow tokens, from the provider's model list */
  constructor(
    config: ModelConfig,
    endpoint: Endpoint,
    facts: ModelFacts,
    fetchImpl: typeof fetch,
    listedWindow?: number,
  ) {
    this.#listedWindow = listedWindow;
    this.#config = config;
    this.#facts = facts;
    this.#servers = serversAt(wireFor(config.provider, config.model), endpoint.baseUrl);
    this.#look = lookWith(endpoint, fetchImpl, PATIENCE_MS);
    this.#glance = lookWith(endpoint, fetchImpl, GLANCE_MS);
    this.#remember();
  }

  /** Whether it has few parameters or a small window. */
  get isSmall(): boolean {
    return isSmall(this.#config.model) || this.window.tokens <= SMALL_WINDOW;
  }

  /** Asks the server for unknown abilities. Errors are ignored: the request itself reports them. */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#servers.length === 0 || Date.now() < this.#until) return;
    this.#asking ??= this.#ask().finally(() => this.#asking = undefined);
    const stopped = Promise.withResolvers<void>();
    const stop = () => stopped.resolve();
    signal.addEventListener("abort", stop, { once: true });
    await Promise.race([this.#asking, stopped.promise]);
    signal.removeEventListener("abort", stop);
  }

  get tools(): boolean {
    return this.#abilities.tools ?? true;
  }

  get thinking(): ModelRequest["thinking"] {
    return this.#abilities.thinking;
  }

  /** Whether a message of the history may contain several calls. */
  get parallel(): boolean {
    return this.#abilities.parallel ?? !isOneByOne(this.#config.model);
  }

  /** The user's option, else the server's report, else a guess by wire and name. */
  get sees(): boolean {
    if (this.#blind) return false;
    const { vision, provider, model } = this.#config;
    if (vision !== undefined) return vision;
    if (wireFor(provider, model) === "anthropic_messages") return true;
    return this.#abilities.sees ?? (this.#asksFor === undefined && seesByName(model));
  }

  get window(): Window {
    const window = windowOf(this.#abilities, this.#config.context_window, this.#asksFor, this.#listedWindow);
    return this.#affordable === undefined || this.#affordable >= window.tokens
      ? window
      : { tokens: this.#affordable, from: "limited by memory" };
  }

  imagesRefused(): void {
    this.#blind = true;
  }

  /** Stores the token limit from a refusal. */
  windowRefused(tokens: number): void {
    if (tokens < this.window.tokens) this.#learn({ ...this.#abilities, limit: tokens });
  }

  /** From here on the history has one call per message. */
  callsRefused(): void {
    this.#learn({ ...this.#abilities, parallel: false });
  }

  /** @returns the window to request instead; undefined if a smaller one would be useless */
  memoryRefused(): number | undefined {
    const less = Math.floor(this.window.tokens / 2);
    const isOurs = this.#asksFor !== undefined && this.#config.context_window === undefined;
    if (!isOurs || less < LEAST_WINDOW) return undefined;
    this.#facts.put(this.#key("memory"), less);
    return this.#affordable = less;
  }

  /** A notice for the user, once: the window is too small for work and not the user's choice. */
  news(): readonly string[] {
    const { tokens } = this.window;
    const { model, context_window: chosen = Infinity } = this.#config;
    if (this.#isToldOfWindow || tokens >= LEAST_WINDOW || chosen <= tokens) return [];
    this.#isToldOfWindow = true;
    return [
      `${model} has a window of ${tokens} tokens, in which little gets done. Load it with ${SMALL_WINDOW} or more.`,
    ];
  }

  /** Call this after the first answer. @returns a notice if the model does not fit into the GPU's memory */
  async answered(): Promise<readonly string[]> {
    const running = await Promise.all(
      this.#servers.map((server) =>
        server.running?.(this.#config.model, this.#glance).catch(() => undefined)
      ),
    );
    // The request has loaded the model, so the server now reports its window.
    const { server, loaded } = this.#abilities;
    if (server !== undefined && loaded === undefined && this.#asksFor === undefined) this.#until = 0;
    const found = running.find((one) => one !== undefined);
    if (found?.window !== undefined) this.windowRefused(found.window);
    if (found === undefined || found.onGpu === 0 || found.onGpu >= found.size) return [];
    const [onGpu, all] = [found.onGpu, found.size].map((bytes) => (bytes / 1e9).toFixed(1));
    const { tokens } = this.window;
    return [
      `${this.#config.model} is slow, as the GPU has ${onGpu} of its ${all} GB, with a window of ${tokens} tokens. ` +
      "Set limits.context_window to less, or choose a smaller model.",
    ];
  }

  /** Whether the model writes calls into its text, or its server refuses tools. */
  get inText(): boolean {
    return this.#facts.get(this.#key("calls"), REFUSED_MS)?.value === "text";
  }

  /**
   * Whether the model has made a native call. A server's report is not enough: LM Studio reports tool calls
   * for models whose calls it then leaves in the text (tests/servers/lm_studio/tool_requests_in_text.txt).
   */
  get callsNatively(): boolean {
    return this.#facts.get(this.#key("calls"), REFUSED_MS)?.value === "native";
  }

  rememberNative(): void {
    this.#facts.put(this.#key("calls"), "native");
  }

  rememberText(): void {
    this.#facts.put(this.#key("calls"), "text");
    // The server's report about tools is wrong.
    this.#learn({ ...this.#abilities, tools: false });
  }

  get #asksFor(): number | undefined {
    return this.#servers.find(({ asksFor }) => asksFor !== undefined)?.asksFor;
  }

  #key(topic: "told" | "calls" | "memory") {
    const { model, provider: { name: provider, base_url } } = this.#config;
    return { provider, baseUrl: base_url, model, topic };
  }

  #remember(): void {
    const affordable = this.#facts.get(this.#key("memory"), TOLD_MS)?.value;
    if (typeof affordable === "number") this.#affordable = affordable;
    const fact = this.#facts.get(this.#key("told"), TOLD_MS);
    const known = ReportedAbilities.safeParse(fact?.value);
    if (fact === undefined || !known.success) return;
    this.#abilities = known.data;
    this.#until = fact.time + TOLD_MS;
  }

  #learn(abilities: ReportedAbilities): void {
    this.#abilities = abilities;
    this.#until = Date.now() + TOLD_MS;
    this.#facts.put(this.#key("told"), abilities);
  }

  async #ask(): Promise<void> {
    try {
      const abilities = await askServers(this.#servers, this.#config.model, this.#look);
      if (Object.keys(abilities).length > 0) this.#learn(abilities);
      else this.#until = Date.now() + PAUSE_MS;
    } catch (error) {
      if (error instanceof DOMException && error.name === "TimeoutError") this.#until = Date.now() + PAUSE_MS;
    }
  }
}

function lookWith(endpoint: Endpoint, fetchImpl: typeof fetch, patience: number): Look {
  const root = endpoint.baseUrl.replace(/\/v1$/, "");
  return async (path, body) => {
    const response = await fetchImpl(root + path, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: jsonHeaders(endpoint),
      redirect: "manual", // the key must not follow to another host
      signal: AbortSignal.timeout(patience),
    });
    if (!response.ok) await response.body?.cancel();
    if (response.status >= 500) throw new Error(`HTTP ${response.status}`);
    if (!response.ok) return undefined;
    return await jsonOf(response);
  };
}

/** Undefined if the body is not JSON or too long. */
async function jsonOf(response: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > LARGEST_ANSWER) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
