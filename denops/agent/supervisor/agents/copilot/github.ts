/**
 * GitHub's API for Copilot's editors, which is undocumented. Sources are open clients: Zed
 * (crates/copilot_chat), CopilotChat.nvim (config/providers.lua), codecompanion.nvim (adapters/http/copilot)
 * and VS Code's (microsoft/vscode-copilot-chat, platform/authentication).
 */
import * as z from "../../../deps/zod.ts";
import type { Fetch } from "../../../models/ask_models.ts";
import { connectionProblem } from "../../../models/connection_problem.ts";
import type { ProviderOptions } from "../../../protocol/config.ts";
import { VERSION } from "../../../protocol/version.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { proxyFor } from "../../system/network.ts";
import { LONGEST_NAME, LONGEST_NOTICE, oneLine } from "../../screen/visible.ts";

/**
 * The OAuth application of all editors with Copilot: its id is public, and GitHub refuses logins of others.
 */
export const CLIENT_ID = "Iv1.b507a08c87ecfe98";

export const LOG_IN = ":Agent login copilot";

/** For one request, in milliseconds. */
const LIMIT_MS = 10_000;

export interface World {
  env(name: string): string | undefined;
  readonly fetch: Fetch;
}

export interface GitHub {
  /** The website: "https://github.com". */
  readonly web: string;
  readonly api: string;
  /** The key of stored logins: "github.com". */
  readonly host: string;
}

/** Only the user can set another host than github.com: "https://COMPANY.ghe.com", with the API beside it. */
export function gitHubOf(own: ProviderOptions | undefined): GitHub {
  const web = new URL(own?.github_url ?? "https://github.com");
  const api = own?.github_api_url ?? `${web.protocol}//api.${web.host}`;
  return { web: web.origin, api: api.replace(/\/+$/, ""), host: web.host };
}

/**
 * The address of Copilot's API, which the engine's sandbox allows: the user's own, otherwise one of
 * Copilot's.
 * @param reportedUrl from GitHub's answer with the token, "https://api.individual.githubcopilot.com"
 * @throws {Error} one line, if it is neither
 */
export function apiAddress(
  reportedUrl: string | undefined,
  { host }: GitHub,
  own: ProviderOptions | undefined,
): string {
  if (own?.base_url !== undefined) return own.base_url.replace(/\/+$/, "");
  const url = URL.parse(reportedUrl ?? "https://api.githubcopilot.com");
  const domains = ["githubcopilot.com", ...(host === "github.com" ? [] : [host])];
  const isOurs = url !== null && url.protocol === "https:" && url.port === "" && url.username === "" &&
    url.password === "" && domains.some((domain) => url.hostname.endsWith(`.${domain}`));
  if (isOurs) return url.origin;
  const address = oneLine(reportedUrl ?? "", LONGEST_NAME);
  throw new Error(
    `Cannot use copilot: ${address} is no address of Copilot's. Set providers.copilot.base_url if it is right.`,
  );
}

/** @param oauth the login's token, which is sent only to GitHub's API */
export function gitHubHeaders(oauth: string): Record<string, string> {
  return {
    ...{ authorization: `token ${oauth}`, accept: "application/json", "user-agent": `agent.nvim/${VERSION}` },
    ...{ "editor-version": `agent.nvim/${VERSION}`, "editor-plugin-version": `agent.nvim/${VERSION}` },
  };
}

interface GitHubAnswer {
  readonly status: number;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

/**
 * Follows no redirect, because the request is only for this host. @throws {Error} one line, without an answer
 */
export async function ask(
  url: string,
  init: RequestInit,
  fetch: Fetch,
  signal?: AbortSignal,
): Promise<GitHubAnswer> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    const text = await response.text();
    return { status: response.status, body: parsed(text) };
  } catch (error) {
    signal?.throwIfAborted();
    const { reason, hint } = limit.aborted
      ? { reason: `no answer within ${LIMIT_MS / 1_000} s`, hint: "Check the network." }
      : connectionProblem(error, { keySource: LOG_IN, proxy: proxyFor(url, neovimEnvironment()) });
    throw new Error(`Cannot reach ${new URL(url).origin}: ${reason}. ${hint.replace("base_url and ", "")}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const Refusal = z.object({
  message: z.string().optional(),
  error_details: z.object({ message: z.string() }).nullish().catch(undefined),
});

/** The text of GitHub's refusal, for the user; empty if it has none. */
export function wordsOf({ body }: GitHubAnswer): string {
  const { data } = Refusal.safeParse(body);
  return oneLine(data?.error_details?.message ?? data?.message ?? "", LONGEST_NOTICE / 2).replace(/\.$/, "");
}
