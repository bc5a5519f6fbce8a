/** The whole program: a project, a scripted model and a real Neovim with the plugin, whose engine is real. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import { KEY as SECRET } from "./key.ts";
import { minedEnvironment } from "./mines.ts";
import { ChildNvim, type ChildOptions } from "./nvim.ts";
import { type Scratch, scratch } from "./project.ts";

export const PLUGIN = fileURLToPath(new URL("../..", import.meta.url));

export { SECRET };

export interface AgentOptions extends ChildOptions {
  readonly script: string;
  readonly wire?: WireName;
  readonly project?: Readonly<Record<string, string | Uint8Array>>;
  /** False: its repository is not mined, as `scratch` would. */
  readonly mined?: boolean;
  /** Lua table fields for vim.g.agent, such as `ui = { layout = "right" }`. */
  readonly options?: string;
  /** Another address than the server's. */
  readonly baseUrl?: string;
  /** One that plays already, and is not ended with the program: the script is not looked at. */
  readonly server?: ModelServer;
  /** Another folder of the plugin than the project's own. */
  readonly plugin?: string;
  /** Another Neovim, at the same time or after it, with the same project, state and server. */
  readonly beside?: RunningAgent;
}

export interface RunningAgent extends AsyncDisposable {
  readonly nvim: ChildNvim;
  readonly server: ModelServer;
  readonly project: Scratch;
  /** The folder where the plugin keeps its state. */
  readonly state: Scratch;
}

export const GREET = {
  "src/greet.ts": "export function greet(name: string) {\n  return `Hello ${name}`;\n}\n",
  "README.md": "# demo\n",
};

/** A state folder's files that say that Deno's cache is full: the runner of the tests has filled it. */
export async function fullCache(): Promise<Readonly<Record<string, string>>> {
  const folder = Deno.env.get("AGENT_TEST_STATE");
  if (folder === undefined) return {};
  const files = (await Array.fromAsync(Deno.readDir(folder))).filter(({ isFile }) => isFile);
  const texts = files.map(async ({ name }) => [name, await Deno.readTextFile(join(folder, name))] as const);
  return Object.fromEntries(await Promise.all(texts));
}

/** The base URL that a wire expects for this server. */
export function baseUrl(wire: WireName, server: ModelServer): string {
  return wire.startsWith("openai") ? `${server.url}/v1` : server.url;
}

/** The user's options for a model of this wire at this address. */
export function providerOptions(wire: WireName, url: string, state: string): string {
  return `provider = "test", model = "scripted", state_dir = ${JSON.stringify(state)}, ` +
    `providers = { test = { wire = "${wire}", base_url = "${url}", api_key = "env:TEST_API_KEY" } }`;
}

/** Lua as in an init.lua: the user's options and what else an init.lua holds. */
export function initLua(options: AgentOptions, server: ModelServer, state: Scratch): string {
  const { wire = "openai_chat", options: extra = "", lua = "" } = options;
  const url = options.baseUrl ?? baseUrl(wire, server);
  return `vim.g.agent = { ${providerOptions(wire, url, state.root)}, ${extra} }\n${lua}`;
}

/** The plugin's own files in a folder where they may be changed. */
export async function copyOfPlugin(): Promise<Scratch> {
  const copy = await scratch();
  for (const part of ["deno.json", "deno.lock", "denops", "lua", "plugin"]) {
    cpSync(join(PLUGIN, part), copy.path(part), { recursive: true });
  }
  return copy;
}

export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { script, project: files = GREET, env = {}, beside, mined = true } = options;
  await using stack = new AsyncDisposableStack();
  const project = beside?.project ?? stack.use(await scratch(files, { git: true, mined }));
  const state = beside?.state ?? stack.use(await scratch(await fullCache()));
  const server = beside?.server ?? options.server ??
    stack.use(await ModelServer.start(script, { secrets: [SECRET] }));
  const nvim = stack.use(
    await ChildNvim.start({
      ...options,
      cwd: options.cwd ?? project.root,
      runtime: [options.plugin ?? PLUGIN, ...(options.runtime ?? [])],
      env: { TEST_API_KEY: SECRET, ...minedEnvironment(project.root), ...env },
      lua: initLua(options, server, state),
    }),
  );
  const owned = stack.move();
  return { nvim, server, project, state, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
