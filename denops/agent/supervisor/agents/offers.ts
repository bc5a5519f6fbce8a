/** The user's choices: the models of a provider, and the providers, with the reason if one is not ready. */
import { isAbsolute } from "node:path";
import type { ListedModel, UserConfig } from "../../protocol/config.ts";
import { ModelLists, oneModel, type Provider } from "../../models/ask_models.ts";
import { isModel, nearNames } from "../../models/model_list.ts";
import { foreignAgent, foreignAgentNames } from "../../protocol/options/foreign_agents.ts";
import { hostAndPort, PRESETS, WIRE_FACTS } from "../../protocol/providers.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { findProgram } from "../system/sandbox.ts";
import { isLoggedIn, renewedKey } from "./copilot/account.ts";
import { LOG_IN } from "./copilot/github.ts";
import {
  answers,
  described,
  keyNames,
  knownModels,
  optionsOf,
  priced,
  type ProviderWorld,
} from "./provider.ts";
import { COMMAND } from "./provider_key.ts";

export interface OfferedProvider {
  readonly name: string;
  /** One line: its description, or why it is not ready. */
  readonly text: string;
  readonly ready: boolean;
}

export class Offers {
  readonly #world: ProviderWorld;
  readonly #lists: ModelLists;

  constructor(world: ProviderWorld) {
    this.#world = world;
    this.#lists = new ModelLists((url, init) => world.fetch(url, init));
  }

  /** The provider's models, with the user's prices. Undefined: it has no list. @throws {Error} one line */
  async models(provider: Provider, user: UserConfig): Promise<readonly ListedModel[] | undefined> {
    const listing = await this.#withKey(provider, user);
    return (await this.#lists.of(listing))?.map((model) => withOptions(model, provider, user));
  }

  /** The model of this name. @throws {Error} one line, if the provider has none */
  async find(provider: Provider, name: string, user: UserConfig): Promise<ListedModel> {
    const models = await this.models(provider, user);
    const exact = models?.find((one) => one.name === name);
    if (exact !== undefined) return exact;
    const listed = models?.find((one) => isModel(one.name, name));
    if (listed !== undefined) {
      // A variant, such as ":nitro", has its own price.
      const { price: _, ...known } = listed;
      return withOptions({ ...known, name }, provider, user);
    }
    const isTaken = models === undefined || knownModels(user).has(name) ||
      PRESETS[provider.name]?.any_model === true;
    const unlisted = await oneModel(await this.#withKey(provider, user), name, this.#world.fetch);
    const found = unlisted ?? (isTaken ? { name } : undefined);
    if (found !== undefined) return withOptions(found, provider, user);
    const near = nearNames(name, (models ?? []).map((one) => one.name));
    const hint = near.length === 0 ? "`:Agent model` lists all." : `Near: ${near.join(", ")}.`;
    throw new Error(`${provider.name} has no model "${name}". ${hint}`);
  }

  /** Providers with a preset and the user's own; ready ones first. Takes half a second at most. */
  async providers(user: UserConfig): Promise<readonly OfferedProvider[]> {
    const presets = Object.keys(PRESETS).filter((name) => user.providers[name] === undefined);
    const all = await Promise.all([
      this.own(user),
      ...presets.map((name) => this.#provider(user, name)),
    ]).then((found) => found.flat());
    return [...all.filter(({ ready }) => ready), ...all.filter(({ ready }) => !ready)];
  }

  /** Agents that are installed, and the user's own. */
  async agents(user: UserConfig, roots: readonly string[]): Promise<readonly OfferedProvider[]> {
    const offers = await Promise.all(
      foreignAgentNames(user.agents).map(async (name) => {
        const row = foreignAgent(name, user.agents);
        const [program = ""] = row?.cmd ?? [];
        const ready = isAbsolute(program) || await findProgram(program, roots) !== undefined;
        if (row === undefined || !ready && user.agents[name] === undefined) return [];
        const text = ready
          ? `${row.title}: another agent, with its own model`
          : `${program} is not on the PATH`;
        return [{ name: `agent ${name}`, text, ready }];
      }),
    );
    return offers.flat();
  }

  /** Those of the option `providers`. Takes half a second at most. */
  async own(user: UserConfig): Promise<readonly OfferedProvider[]> {
    return await Promise.all(Object.keys(user.providers).sort().map((name) => this.#provider(user, name)));
  }

  /** The stored key may have expired. @throws {Error} one line */
  async #withKey(provider: Provider, user: UserConfig): Promise<Provider> {
    if (provider.key_expires === undefined) return provider;
    const key = await renewedKey(user, this.#world, { address: provider.base_url, refused: false });
    return { ...provider, ...key };
  }

  async #provider(user: UserConfig, name: string): Promise<OfferedProvider> {
    try {
      const { own, wire, baseUrl, logsIn } = described(user, name);
      const ready = (text: string) => ({ name, text, ready: true });
      if (logsIn) {
        return await isLoggedIn(user, this.#world)
          ? ready("logged in")
          : { name, text: `nobody is logged in: ${LOG_IN}`, ready: false };
      }
      if (own?.api_key?.startsWith(COMMAND)) return ready("key by a command");
      const keys = keyNames(user, name);
      const found = keys.find((key) => this.#world.env(key));
      if (found !== undefined) return ready(`key from ${found}`);
      if (keys.length > 0) return { name, text: `${keys.join(" or ")} is not set`, ready: false };
      const runs = await answers(baseUrl + WIRE_FACTS[wire].models, this.#world);
      return runs
        ? ready(`runs at ${hostAndPort(baseUrl)}`)
        : { name, text: `does not answer at ${hostAndPort(baseUrl)}`, ready: false };
    } catch (error) {
      return { name, text: messageOf(error), ready: false };
    }
  }
}

/** The user's prices and model options take precedence over the list. */
export function withOptions(model: ListedModel, provider: Provider, user: UserConfig): ListedModel {
  const [known] = priced(user, provider.base_url, [model.name]);
  const price = optionsOf(user, model.name).price ?? model.price ?? known?.price;
  const isOwn = model.name === user.model;
  const window = isOwn ? user.context_window : undefined;
  const { vision } = isOwn ? optionsOf(user, model.name) : user.models[model.name] ?? {};
  return {
    ...model,
    ...defined({ price, context_window: window, vision }),
  };
}
