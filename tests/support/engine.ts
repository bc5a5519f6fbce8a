/** The engine started exactly as the supervisor starts it, without a Neovim; only the model is scripted. */
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { type EngineConfig, UserConfig } from "../../denops/agent/protocol/config.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import type { EngineEvents } from "../../denops/agent/supervisor/engine.ts";
import { type Launch, launchCommand } from "../../denops/agent/supervisor/launch.ts";
import { lookups } from "../../denops/agent/supervisor/lookups.ts";
import { Terminals } from "../../denops/agent/supervisor/terminals.ts";
import { engineConfig } from "../../denops/agent/supervisor/provider.ts";
import { PLUGIN, SECRET } from "./agent.ts";

/** What holds the engine: the best that the machine has, or what is left without a sandbox. */
export interface Level {
  readonly name: string;
  readonly sandbox: "auto" | "off";
  /** What the launch must say of itself, so that no test runs at a weaker level than it says. */
  readonly says: RegExp;
}

export const BUBBLEWRAP: Level = {
  name: "bubblewrap",
  sandbox: "auto",
  says: /^bubblewrap and Deno permissions$/,
};
export const DENO: Level = { name: "Deno permissions", sandbox: "off", says: /^Deno permissions only/ };

/** The levels that this system can have. */
export const LEVELS: readonly Level[] = Deno.build.os === "linux" ? [BUBBLEWRAP, DENO] : [DENO];

export interface EngineSetup {
  readonly level: Level;
  /** Real path of the project. */
  readonly root: string;
  /** Folder for the state of all projects. */
  readonly stateDir: string;
  readonly baseUrl: string;
}

export interface Prepared {
  readonly launch: Launch;
  readonly config: EngineConfig;
  /** The project's own folder in the state folder. */
  readonly state: string;
}

const WIRE: WireName = "openai_chat";

/** The command and the configuration for an engine with the user's default options. */
export async function prepareEngine({ level, root, stateDir, baseUrl }: EngineSetup): Promise<Prepared> {
  const user = UserConfig.parse({
    ...await defaultOptions(),
    provider: "test",
    model: "scripted",
    providers: { test: { wire: WIRE, base_url: baseUrl, api_key: "env:TEST_API_KEY" } },
    max_iterations: 1000,
    sandbox: level.sandbox,
    state_dir: stateDir,
  });
  const config = await engineConfig(user, {
    env: (name) => name === "TEST_API_KEY" ? SECRET : undefined,
    fetch: () => Promise.reject(new Error("no network")),
    run: () => Promise.reject(new Error("no commands")),
  });
  const launch = await launchCommand([root], config, user, () => {});
  assert.match(launch.sandbox, level.says);
  const folders = await Array.fromAsync(Deno.readDir(stateDir));
  const state = folders.find(({ name, isDirectory }) => isDirectory && name.startsWith(`${basename(root)}-`));
  assert.ok(state !== undefined);
  return { launch, config, state: join(stateDir, state.name) };
}

let defaults: Promise<unknown> | undefined;

/** The options as Lua sends them to the supervisor when the user has set none. */
function defaultOptions(): Promise<object> {
  defaults ??= askNeovim(`vim.opt.runtimepath:prepend(${JSON.stringify(PLUGIN)})
    io.write(vim.json.encode(require("agent.config").for_supervisor()))`);
  return defaults.then((options) => {
    assert.ok(typeof options === "object" && options !== null);
    return options;
  });
}

async function askNeovim(lua: string): Promise<unknown> {
  const command = new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", {
    args: ["--clean", "-l", "-"],
    stdin: "piped",
    stdout: "piped",
  });
  const process = command.spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(lua));
  await writer.close();
  return JSON.parse(new TextDecoder().decode((await process.output()).stdout));
}

type PermissionRequest = Parameters<EngineEvents["permission"]>[0];

export interface Client {
  readonly events: EngineEvents;
  /** What was asked, in order. */
  readonly asked: readonly PermissionRequest[];
}

/**
 * A user who gives every approval the same answer, in an editor with nothing unsaved.
 * @param meanwhile happens while the user thinks
 */
export function clientThatAnswers(optionId: string, meanwhile = () => Promise.resolve()): Client {
  const asked: PermissionRequest[] = [];
  const events: EngineEvents = {
    update: () => {},
    fileModified: () => {},
    retry: () => {},
    async permission(request) {
      asked.push(request);
      await meanwhile();
      return { outcome: { outcome: "selected", optionId } };
    },
    unsavedText: () => Promise.resolve({}),
    writeUnsaved: () => Promise.resolve({ status: "not_open" }),
    lsp: () => Promise.resolve({ kind: "nothing", reason: "this client has no language servers" }),
    question: () => Promise.resolve({ action: "decline" }),
    search: () => Promise.reject(new Error("this client does not search")),
    terminals: new Terminals(["/"], lookups, {
      spend: () => false,
      specify: () => Promise.reject(new Error("this client runs nothing")),
      show: () => {},
    }),
  };
  return { events, asked };
}
