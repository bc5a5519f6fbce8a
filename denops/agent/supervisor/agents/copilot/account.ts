/**
 * The engine's configuration for Copilot: its address, its key, and the wire formats of the account's models.
 */
import type { SharedConfig, UserConfig } from "../../../protocol/config.ts";
import type { ModelWire } from "../../../protocol/providers.ts";
import { defined } from "../../../shared/records.ts";
import { copilotKey, KEY_SOURCE } from "./copilot.ts";
import { gitHubOf, type World } from "./github.ts";
import { hasOwnLogin, oauthTokens } from "./logins.ts";
import { type CopilotModel, defaultModel, modelProblem, otherWire } from "./models.ts";

interface CopilotAccount {
  readonly address: string;
  /** Models with another wire format than the provider's. */
  readonly wires: readonly ModelWire[];
  readonly key: { readonly key: string; readonly source: string; readonly key_expires: number };
}

/** @throws {Error} one line */
export async function copilotAccount(user: UserConfig, world: World): Promise<CopilotAccount> {
  const { key, expires, address, models } = await copilotKey(user, world);
  return {
    address,
    wires: (models ?? []).flatMap(otherWire),
    key: { key, source: KEY_SOURCE, key_expires: expires },
  };
}

interface AccountModel {
  readonly name: string;
  /** For options that the user has not set. */
  readonly abilities: Partial<Pick<SharedConfig, "context_window" | "vision" | "native_tools">>;
}

/**
 * The user's model, otherwise Copilot's default. @throws {Error} one line, also if the account cannot use it
 */
export async function accountModel(user: UserConfig, world: World): Promise<AccountModel | undefined> {
  const { models } = await copilotKey(user, world);
  const name = user.model ?? (models === undefined ? undefined : defaultModel(models)?.name);
  if (name === undefined) return undefined;
  const problem = models === undefined ? undefined : modelProblem(name, models);
  if (problem !== undefined) throw new Error(problem);
  const model = models?.find((one) => one.name === name);
  return { name, abilities: model === undefined ? {} : abilitiesOf(model) };
}

/** Listed tool support is verified by the model's answers, but missing support is trusted. */
function abilitiesOf({ context_window, vision, tools }: CopilotModel): AccountModel["abilities"] {
  return {
    ...defined({ context_window, vision }),
    ...(tools === false ? { native_tools: false } : {}),
  };
}

/**
 * Whether the user has logged in with `:Agent login copilot`. Other editors' logins are used only on request.
 */
export async function hasCopilotLogin({ providers, state_dir }: UserConfig): Promise<boolean> {
  return await hasOwnLogin(gitHubOf(providers.copilot).host, state_dir);
}

/** Whether a login exists, ours or another editor's. Only GitHub knows whether it is valid. */
export async function isLoggedIn({ providers, state_dir }: UserConfig, { env }: World): Promise<boolean> {
  return (await oauthTokens(gitHubOf(providers.copilot).host, state_dir, env)).length > 0;
}

/** Recent failures by the API's address. */
const failed = new Map<string, { readonly at: number; readonly error: unknown }>();

/** After a failure GitHub is not asked again for this long. Milliseconds. */
const FAILED_MS = 5_000;

/** The current key for an engine that reaches `address`. @throws {Error} one line */
export async function renewedKey(
  user: UserConfig,
  world: World,
  { address, refused }: { readonly address: string; readonly refused: boolean },
): Promise<{ readonly api_key: string; readonly key_expires: number }> {
  const last = failed.get(address);
  if (last !== undefined && Date.now() - last.at < FAILED_MS) throw last.error;
  const fresh = await copilotKey(user, world, refused).catch((error) => {
    failed.set(address, { at: Date.now(), error });
    throw error;
  });
  // The engine's sandbox allows one host.
  if (fresh.address !== address) {
    throw new Error("Copilot has moved this account to another address. Quit Neovim and start it again.");
  }
  return { api_key: fresh.key, key_expires: fresh.expires };
}
