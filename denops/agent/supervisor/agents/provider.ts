/** The engine's model and key. Keys are read here and go to the engine's stdin only. */
import {
  type EngineConfig,
  type ModelConfig,
  type ModelOptions,
  SharedConfig,
  type UserConfig,
} from "../../protocol/config.ts";
import { publishedPrice } from "../../models/prices.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { proxyFor } from "../system/network.ts";
import { PRESETS, type ProviderPreset, WIRE_FACTS, type WireName } from "../../protocol/providers.ts";
import { modelsOf } from "../../models/model_list.ts";
import { defined } from "../../shared/records.ts";
import { accountModel, copilotAccount, hasCopilotLogin } from "./copilot/account.ts";
import { COMMAND, findKey, type KeyWorld } from "./provider_key.ts";

export interface ProviderWorld extends KeyWorld {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** The address of a provider, from the options and its preset. @throws {Error} one line */
export function described(user: UserConfig, name: string) {
  const preset: ProviderPreset | undefined = PRESETS[name];
  const own = user.providers[name];
  if (preset === undefined && own === undefined) {
    const names = [...Object.keys(user.providers), ...Object.keys(PRESETS)];
    throw new Error(
      `Unknown provider "${name}". Known are: ${names.join(", ")}; or describe it in providers.`,
    );
  }
  const wire = own?.wire ?? preset?.wire;
  const baseUrl = own?.base_url ?? preset?.base_url;
  if (wire === undefined || baseUrl === undefined) {
    throw new Error(`The provider "${name}" needs wire and base_url in providers.`);
  }
  return { preset, own, wire, baseUrl, logsIn: preset?.login === true && own?.api_key === undefined };
}

/** Whether it works without the user choosing a model. @throws {Error} one line, for an unknown provider */
export function namesModel(user: UserConfig, name: string): boolean {
  const { preset, wire, logsIn } = described(user, name);
  return preset?.default_model !== undefined || WIRE_FACTS[wire].newestFirst === true || logsIn;
}

/** A provider with its key. @throws {Error} one line that says how to set it up */
export async function findProvider(
  user: UserConfig,
  name: string,
  world: ProviderWorld,
  roots: readonly string[],
): Promise<ModelConfig["provider"]> {
  const { own, preset, wire, baseUrl, logsIn } = described(user, name);
  const account = logsIn ? await copilotAccount(user, world) : undefined;
  const { key, source, ...lasts } = account?.key ??
    await findKey(name, own?.api_key, keyNames(user, name), world, roots);
  const wires = account?.wires ?? preset?.wires;
  const address = (account?.address ?? baseUrl).replace(/\/+$/, "");
  const proxy = proxyFor(address, neovimEnvironment());
  return {
    name,
    wire,
    ...(own?.wire === undefined && wires !== undefined ? { wires: [...wires] } : {}),
    base_url: address,
    headers: { ...preset?.headers, ...own?.headers },
    key_source: source,
    ...defined({ proxy, api_key: key }),
    ...lasts,
    ...(preset?.request_headers === undefined ? {} : { request_headers: preset.request_headers }),
  };
}

/** The user's options for a model. Those of "*" apply to every model. */
export function optionsOf({ models }: UserConfig, name: string): ModelOptions {
  return { ...models["*"], ...models[name] };
}

/** The options that every engine gets. @param abilities defaults for options that the user has not set */
export function sharedConfig(user: UserConfig, abilities: Partial<SharedConfig> = {}): SharedConfig {
  const { "*": every, ...model_options } = user.models;
  return SharedConfig.parse({ ...abilities, ...user, ...every, model_options });
}

/** The configuration of an engine with a model. @throws {Error} one line that says how to set up a model */
export async function engineConfig(
  user: UserConfig,
  world: ProviderWorld,
  roots: readonly string[],
): Promise<ModelConfig> {
  const name = user.provider ?? await detect(user, world);
  const { preset, wire, baseUrl, logsIn } = described(user, name);
  const listed = logsIn ? await accountModel(user, world) : undefined;
  const model = user.model ?? preset?.default_model ?? listed?.name ??
    (WIRE_FACTS[wire].newestFirst ? await newestModel(name, wire, baseUrl, world) : undefined);
  if (model === undefined) {
    const { install } = WIRE_FACTS[wire];
    throw new Error(
      install === undefined
        ? `No model is set for ${name}. Set the option model.`
        : `Cannot use ${name}: it has no models. Run \`${install}\`.`,
    );
  }
  const provider = await findProvider(user, name, world, roots);
  const priceOf = (name: string) => priced(user, baseUrl, [name])[0]?.price;
  const price = priceOf(model);
  const summaryPrice = user.summary_model === undefined ? undefined : priceOf(user.summary_model);
  return {
    ...sharedConfig(user, listed?.abilities),
    read_rules: { deny: [], ask: [] },
    modes: [],
    mcp: [],
    hook_events: [],
    models: [...priced(user, baseUrl, knownModels(user))],
    ...defined({ price, summary_price: summaryPrice }),
    model,
    provider,
  };
}

/** Models of a provider with their known prices. */
export function priced(
  user: UserConfig,
  baseUrl: string,
  names: Iterable<string>,
): EngineConfig["models"] {
  return [...new Set(names)].map((name) => {
    const price = optionsOf(user, name).price ?? publishedPrice(baseUrl, name);
    return { name, ...defined({ price }) };
  });
}

/** Names of models in the options. */
export function knownModels(user: UserConfig): ReadonlySet<string> {
  const { model, summary_model, explore_model, models } = user;
  const { "*": _, ...own } = models;
  const names = [model, summary_model, explore_model, ...Object.keys(own)];
  return new Set(names.filter((name) => name !== undefined));
}

/** A local server if one answers, otherwise the first well-known key. */
export async function detect(user: UserConfig, world: ProviderWorld): Promise<string> {
  const [only, ...others] = Object.keys(user.providers);
  if (only !== undefined && others.length === 0) return only;
  const found = Object.entries(PRESETS).find(([, preset]) => preset.key_env.some((name) => world.env(name)));
  for (const [name, preset] of Object.entries(PRESETS)) {
    if (preset.probe !== undefined && await answers(preset.base_url + preset.probe, world)) return name;
  }
  if (found !== undefined) return found[0];
  if (await hasCopilotLogin(user)) return "copilot";
  throw new Error(
    "No model is configured: start Ollama, or set ANTHROPIC_API_KEY or OPENAI_API_KEY, or the option provider; or run :Agent login copilot. See :help agent-providers",
  );
}

export async function answers(url: string, world: ProviderWorld): Promise<boolean> {
  try {
    const response = await world.fetch(url, { signal: AbortSignal.timeout(300) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** By default, the model that the user installed last. @throws {Error} one line */
async function newestModel(
  name: string,
  wire: WireName,
  baseUrl: string,
  world: ProviderWorld,
): Promise<string | undefined> {
  try {
    const url = baseUrl + WIRE_FACTS[wire].models;
    const response = await world.fetch(url, { signal: AbortSignal.timeout(3_000) });
    return modelsOf(await response.json())?.[0]?.name;
  } catch {
    const start = PRESETS[name]?.start;
    const hint = start === undefined ? "Check base_url." : `Start it with: ${start}`;
    throw new Error(`Cannot reach ${name} at ${baseUrl}. ${hint}`);
  }
}

/** A key command may ask the user for a password, so it runs only when there is a message. */
export function hasKeyCommand({ agent, provider, providers }: UserConfig): boolean {
  if (agent !== undefined) return false;
  const candidates = provider === undefined ? Object.values(providers) : [providers[provider]];
  return candidates.some((own) => own?.api_key?.startsWith(COMMAND) === true);
}

/** Variables that may contain the key of a provider without a key command; none if no key is needed. */
export function keyNames(user: UserConfig, name: string): readonly string[] {
  const { own, preset } = described(user, name);
  return own?.api_key?.startsWith("env:") ? [own.api_key.slice("env:".length)] : preset?.key_env ?? [];
}

/** The production implementation. */
export function realWorld(run: ProviderWorld["run"]): ProviderWorld {
  return { env: (name) => neovimEnvironment()[name], fetch: (url, init) => fetch(url, init), run };
}
