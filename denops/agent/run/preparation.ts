/** Everything that `agent run` needs before its first request. */
import { resolve } from "node:path";
import type { UserConfig } from "../protocol/config.ts";
import {
  ConfigurationError,
  missingConfiguration,
  type OptionValues,
  readConfiguration,
  supervisorConfiguration,
} from "../headless/configuration.ts";
import type { Variables } from "../headless/folders.ts";
import { projectRoot } from "../headless/project_root.ts";
import { messageOf } from "../shared/errors.ts";
import { defined } from "../shared/records.ts";
import { described, keyNames } from "../supervisor/agents/provider.ts";
import { missingKey } from "../supervisor/agents/provider_key.ts";
import { findRoot } from "../supervisor/agents/root.ts";
import type { RunRequest } from "./command_line.ts";

/** The command line or the configuration is wrong. The message may have several lines. */
export class UsageError extends Error {}

export interface Preparation {
  readonly text: string;
  /** All of it stands on the command line: it has no standard input. */
  readonly typed: boolean;
  readonly config: UserConfig;
  readonly root: string;
  /** Id of the session that continues. */
  readonly session: string | undefined;
}

/** @throws {UsageError} */
export async function prepare(request: RunRequest, variables: Variables): Promise<Preparation> {
  try {
    const values = await readConfiguration(variables) ?? NOTHING;
    if (values === NOTHING && request.provider === undefined) {
      throw new ConfigurationError(missingConfiguration(variables));
    }
    const config = configuration(values, request, variables);
    // An unknown provider is an error before the engine starts.
    if (config.provider !== undefined) described(config, config.provider);
    // A session that continues has a provider of its own.
    const provider = request.session === undefined ? config.provider : request.provider;
    if (provider !== undefined) assertKey(config, provider, variables);
    const cwd = resolve(request.cwd ?? ".");
    const chosen = values.byName.get("root");
    const root = await projectRoot({
      cwd,
      chosen: typeof chosen === "string" ? resolve(cwd, chosen) : undefined,
      stateDir: config.state_dir,
      home: variables.HOME,
    });
    await findRoot({ root }, variables.HOME);
    const session = await sessionOf(request.session, root, config);
    return { ...await textOf(request.words), config, root, session };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** A literal import would be loaded in any case. */
const SESSIONS = "../supervisor/sessions/stored_sessions.ts";

const NOTHING: OptionValues = { byName: new Map(), models: {} };

/** Options that belong to the model of the file. */
const OF_MODEL = ["model", "summary_model", "explore_model", "limits.context_window"];

function configuration(values: OptionValues, request: RunRequest, variables: Variables): UserConfig {
  const { provider, model, maxUsd, maxTurns, allow, mcp, hooks, unsandboxed } = request;
  const isOther = provider !== undefined && provider !== values.byName.get("provider");
  const byName = {
    // A request for a title would follow the turn.
    "sessions.title": false,
    ...isOther ? Object.fromEntries(OF_MODEL.map((name) => [name, undefined])) : {},
    ...defined({
      provider,
      model,
      "limits.max_cost_per_session": maxUsd,
      "limits.max_iterations": maxTurns,
    }),
  };
  const config = supervisorConfiguration(values, { byName, allow }, variables);
  const unknown = mcp.find((name) => config.mcp_servers[name] === undefined);
  if (unknown !== undefined) {
    throw new Error(
      `Cannot approve the MCP server ${unknown}: the configuration names none. See --mcp in --help.`,
    );
  }
  return {
    ...config,
    approved_mcp: [...mcp],
    approved_hooks: hooks,
    ...defined({ unsandboxed: unsandboxed ? [...allow] : undefined }),
  };
}

/** Key commands run when the message is sent. @throws {Error} one line, if the provider's key is missing */
function assertKey(config: UserConfig, provider: string, variables: Variables): void {
  const { own, logsIn } = described(config, provider);
  if (logsIn) return;
  const problem = missingKey(provider, own?.api_key, keyNames(config, provider), (name) => variables[name]);
  if (problem !== undefined) throw new Error(problem);
}

/** @throws {Error} one line */
async function sessionOf(
  wanted: string | undefined,
  root: string,
  { state_dir }: UserConfig,
): Promise<string | undefined> {
  if (wanted === undefined) return undefined;
  const { storedSessions }: typeof import("../supervisor/sessions/stored_sessions.ts") = await import(
    SESSIONS
  );
  const sessions = (await storedSessions(state_dir)).filter((session) => session.root === root);
  const found = sessions.find(({ sessionId, archived }) =>
    wanted === "last" ? !archived : sessionId === wanted
  );
  if (found === undefined) {
    const what = wanted === "last" ? "it has none" : `it has no session ${JSON.stringify(wanted)}`;
    throw new Error(`Cannot continue a session of ${root}: ${what}.`);
  }
  if (found.open) {
    throw new Error("Cannot continue the session: it is open in Neovim or in another run. Close it there.");
  }
  return found.sessionId;
}

/** @throws {Error} one line */
async function textOf(words: readonly string[]): Promise<Pick<Preparation, "text" | "typed">> {
  const readsInput = words.includes("-") || words.length === 0;
  if (readsInput && Deno.stdin.isTerminal()) {
    throw new Error("Nothing to send: give a text. Try agent run --help.");
  }
  const input = readsInput ? await new Response(Deno.stdin.readable).text() : "";
  const text = words.length === 0 ? input : words.map((word) => word === "-" ? input : word).join(" ");
  if (text.trim() === "") throw new Error("Nothing to send: the text is empty.");
  return { text: text.trim(), typed: !readsInput };
}
