/** Requests model lists from providers. */
import * as z from "../deps/zod.ts";
import type { ListedModel, ModelConfig } from "../protocol/config.ts";
import { connectionProblem } from "./connection_problem.ts";
import { maybe, modelsOf } from "./model_list.ts";
import { PRESETS, WIRE_FACTS } from "../protocol/providers.ts";

/** Milliseconds for all requests of one list. */
const LIMIT_MS = 5_000;
/** Older lists are requested again. */
const KEPT_MS = 300_000;
/** The list of OpenRouter has about 600 kB. */
const MOST_BYTES = 8_000_000;
/** Ollama is asked about each model: limits for the number, and for concurrent requests. */
const MOST_SHOWN = 64;
const AT_A_TIME = 8;

export type Provider = ModelConfig["provider"];
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Requests a provider's models. Undefined: it answers, but has no list.
 * @throws {Error} one line, without the key
 */
async function listModels(
  provider: Provider,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly ListedModel[] | undefined> {
  const { name, wire, base_url, key_source } = provider;
  const facts = WIRE_FACTS[wire];
  const { richer } = PRESETS[name] ?? {};
  try {
    for (const path of [...richer === undefined ? [] : [richer], facts.models]) {
      const response = await ask(provider, path, fetch, { signal });
      if (response.status === 401 || response.status === 403) {
        await response.body?.cancel();
        throw new Refusal(`${name} refused the key (HTTP ${response.status}). Check ${key_source}.`);
      }
      const models = modelsOf(response.ok ? await json(response) : await response.body?.cancel());
      if (models !== undefined) {
        return facts.shows ? await withDetails(models, provider, fetch, signal) : models;
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { reason, hint } = signal.aborted
      ? { reason: `no answer within ${LIMIT_MS / 1_000} s`, hint: "Check base_url and the network." }
      : connectionProblem(error, { keySource: key_source, proxy: provider.proxy });
    throw new Error(`Cannot ask ${name} for its models at ${base_url}: ${reason}. ${hint}`);
  }
}

/** A model that a list may lack, such as an alias; undefined if it does not exist, or cannot be requested. */
export async function oneModel(
  provider: Provider,
  name: string,
  fetch: Fetch,
): Promise<ListedModel | undefined> {
  const path = WIRE_FACTS[provider.wire].model?.(name);
  if (path === undefined) return undefined;
  try {
    const response = await ask(provider, path, fetch, { signal: AbortSignal.timeout(LIMIT_MS) });
    const [model] =
      modelsOf({ data: [response.ok ? await json(response) : await response.body?.cancel()] }) ?? [];
    return response.ok ? { ...model, name } : undefined;
  } catch {
    return undefined;
  }
}

class Refusal extends Error {}

async function ask(
  { wire, base_url, headers, api_key }: Provider,
  path: string,
  fetch: Fetch,
  init: RequestInit,
): Promise<Response> {
  const key = api_key === undefined ? {} : WIRE_FACTS[wire].key(api_key);
  const type = init.body === undefined ? {} : { "content-type": "application/json" };
  // A redirect must not receive the key.
  return await fetch(base_url + path, {
    ...{ redirect: "manual", ...init },
    headers: { ...type, ...key, ...headers },
  });
}

/** Undefined if it is not JSON. @throws {Error} if it is too long, or truncated */
async function json(response: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MOST_BYTES) throw new Error("its list is too long");
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const Show = z.object({
  capabilities: maybe(z.array(z.string())),
  model_info: maybe(z.record(z.string(), z.unknown())),
});

/** Requests Ollama's details for each model, and omits those that arrive late. */
async function withDetails(
  models: readonly ListedModel[],
  provider: Provider,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const waiting = models.slice(0, MOST_SHOWN).entries();
  const found: (ListedModel | undefined)[] = [...models];
  const work = async () => {
    for (const [at, model] of waiting) {
      const init = { method: "POST", body: JSON.stringify({ model: model.name }), signal };
      const answer = await ask(provider, "/api/show", fetch, init)
        .then(async (response) => response.ok ? await json(response) : await response.body?.cancel())
        .catch(() => undefined);
      const { capabilities, model_info = {} } = Show.safeParse(answer).data ?? {};
      const [, length] = Object.entries(model_info).find(([key]) => key.endsWith(".context_length")) ?? [];
      if (answer === undefined) continue;
      [found[at]] = modelsOf({ models: [{ name: model.name, capabilities, context_length: length }] }) ?? [];
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return found.filter((model) => model !== undefined);
}

interface Kept {
  /** Time of the request, in milliseconds since 1970. */
  readonly at: number;
  readonly list: Promise<readonly ListedModel[] | undefined>;
}

/** Caches lists for some minutes; failures are not cached. */
export class ModelLists {
  readonly #fetch: Fetch;
  readonly #kept = new Map<string, Kept>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** As {@link listModels}, within five seconds. */
  of(provider: Provider): Promise<readonly ListedModel[] | undefined> {
    // Another key may see other models.
    const key = JSON.stringify(provider);
    const kept = this.#kept.get(key);
    if (kept !== undefined && Date.now() - kept.at < KEPT_MS) return kept.list;
    const list = listModels(provider, this.#fetch, AbortSignal.timeout(LIMIT_MS));
    this.#kept.set(key, { at: Date.now(), list });
    list.catch(() => this.#kept.delete(key));
    return list;
  }
}
