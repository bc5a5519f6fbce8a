/**
 * GitHub Copilot: exchanges a GitHub login for a key that is valid for half an hour, and lists the account's
 * models. The engine gets the key; the login never leaves this process.
 */
import * as z from "../../../deps/zod.ts";
import type { UserConfig } from "../../../protocol/config.ts";
import { PRESETS } from "../../../protocol/providers.ts";
import {
  apiAddress,
  ask,
  type GitHub,
  gitHubHeaders,
  gitHubOf,
  LOG_IN,
  wordsOf,
  type World,
} from "./github.ts";
import { oauthTokens } from "./logins.ts";
import { type CopilotModel, copilotModels } from "./models.ts";
import { quotaLine } from "./quota.ts";

/** The source of the key in messages: "Check …". */
export const KEY_SOURCE = `the login (${LOG_IN})`;

/** `refresh_in` in seconds from now; `expires_at` in seconds since 1970, a minute or more later. */
const Exchanged = z.object({
  token: z.string().min(1),
  expires_at: z.number(),
  refresh_in: z.number().positive().optional(),
  endpoints: z.object({ api: z.string().optional() }).nullish(),
});

interface CopilotKey {
  readonly key: string;
  /** When to renew it, in milliseconds since 1970. */
  readonly expires: number;
  /** Address of its API, without a trailing slash. */
  readonly address: string;
  /** Undefined: the list is unavailable. */
  readonly models: readonly CopilotModel[] | undefined;
}

type Options = Pick<UserConfig, "providers" | "state_dir">;

/** Valid keys by GitHub host, address and login, shared by all projects. */
const keys = new Map<string, { readonly exchange: Promise<CopilotKey>; readonly forced: number }>();

/**
 * After a renewal GitHub is not asked again for this long, even if an engine reports a refused key.
 * Milliseconds.
 */
const FORCED_MS = 10_000;
/** Keys that expire sooner are not used. Milliseconds. */
const MARGIN_MS = 60_000;

/** @param refused whether the provider refused the last key @throws {Error} one line */
export async function copilotKey(user: Options, world: World, refused = false): Promise<CopilotKey> {
  const own = user.providers.copilot;
  const github = gitHubOf(own);
  const logins = await oauthTokens(github.host, user.state_dir, world.env);
  if (logins.length === 0) throw new Error(`Cannot use copilot: nobody is logged in. Run ${LOG_IN}`);
  const name = JSON.stringify([github, own, logins]);
  const known = keys.get(name);
  const now = Date.now();
  const key = await known?.exchange.catch(() => undefined);
  const again = refused && now - (known?.forced ?? 0) > FORCED_MS;
  if (key !== undefined && key.expires - MARGIN_MS > now && !again) return key;
  // A concurrent call has renewed it.
  const latest = keys.get(name);
  if (latest !== undefined && latest !== known) return await latest.exchange;
  const exchange = exchanged(logins, github, user, world, key?.models);
  keys.set(name, { exchange, forced: refused ? now : known?.forced ?? 0 });
  exchange.catch(() => keys.get(name)?.exchange === exchange && keys.delete(name));
  return await exchange;
}

/** Uses the first login that GitHub accepts. */
async function exchanged(
  logins: readonly string[],
  github: GitHub,
  user: Options,
  world: World,
  models: CopilotKey["models"],
): Promise<CopilotKey> {
  for (const oauth of logins) {
    const key = await exchange(oauth, github, user, world);
    if (key === undefined) continue;
    return { ...key, models: models ?? await listed(key, world) };
  }
  throw new Error(`Cannot use copilot: GitHub does not take the login any more. Run ${LOG_IN}`);
}

/** Undefined: the login has expired. @throws {Error} one line */
export async function exchange(
  oauth: string,
  github: GitHub,
  { providers }: Options,
  world: Pick<World, "fetch">,
): Promise<Omit<CopilotKey, "models"> | undefined> {
  const url = `${github.api}/copilot_internal/v2/token`;
  const answer = await ask(url, { headers: gitHubHeaders(oauth) }, world.fetch);
  if (answer.status === 401) return undefined;
  const message = wordsOf(answer);
  // 404: GitHub offers no Copilot to this kind of login.
  if (answer.status === 403 || answer.status === 404) {
    const why = message === "" ? "this account has no Copilot" : message;
    throw new Error(`Cannot use copilot: ${why}. See ${github.web}/settings/copilot`);
  }
  const exchanged = Exchanged.safeParse(answer.body).data;
  if (answer.status !== 200 || exchanged === undefined) {
    const words = message === "" ? "" : `: ${message}`;
    throw new Error(`Cannot use copilot: GitHub answers HTTP ${answer.status}${words}. Try again later.`);
  }
  const { token, expires_at, refresh_in, endpoints } = exchanged;
  return {
    key: token,
    // Prefer this machine's clock, because it may be wrong.
    expires: refresh_in === undefined ? expires_at * 1_000 : Date.now() + refresh_in * 1_000 + MARGIN_MS,
    address: apiAddress(endpoints?.api, github, providers.copilot),
  };
}

/** Undefined if unavailable, which is no reason to stop if the user chose a model. */
async function listed(
  { key, address }: Omit<CopilotKey, "models">,
  world: World,
): Promise<CopilotKey["models"]> {
  const headers = { ...PRESETS.copilot?.headers, authorization: `Bearer ${key}` };
  const answer = await ask(`${address}/models`, { headers }, world.fetch).catch(() => undefined);
  return answer?.status === 200 ? copilotModels(answer.body) : undefined;
}

/** The remaining quota, one line; undefined if GitHub does not report it. */
export async function copilotQuota(user: Options, world: World): Promise<string | undefined> {
  const github = gitHubOf(user.providers.copilot);
  for (const oauth of await oauthTokens(github.host, user.state_dir, world.env)) {
    const url = `${github.api}/copilot_internal/user`;
    const answer = await ask(url, { headers: gitHubHeaders(oauth) }, world.fetch).catch(() => undefined);
    if (answer === undefined) return undefined;
    if (answer.status === 200) return quotaLine(answer.body);
  }
  return undefined;
}
