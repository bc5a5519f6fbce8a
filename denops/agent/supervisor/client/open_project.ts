/** An open project: its engine, its rules, its commands. Each root and configuration has its own. */
import type { EngineConfig, UserConfig } from "../../protocol/config.ts";
import type { OwnMode } from "../../protocol/modes.ts";
import type { Severity } from "../../protocol/ui.ts";
import { today } from "../../shared/today.ts";
import { type Boot, boot, endBoot, takeEarly } from "../agents/boot.ts";
import { fillCodeCache } from "../agents/code_cache.ts";
import { confined } from "../agents/confine.ts";
import { renewedKey } from "../agents/copilot/account.ts";
import { copilotQuota } from "../agents/copilot/copilot.ts";
import { Engine } from "../agents/engine.ts";
import { type Launch, pluginModules } from "../agents/launch.ts";
import { AgentProcess } from "../agents/process.ts";
import { knownModels, priced, type ProviderWorld, sharedConfig } from "../agents/provider.ts";
import { defined } from "../../shared/records.ts";
import { visible } from "../screen/visible.ts";
import { EngineClient } from "./client.ts";
import type { ClientPorts } from "./context.ts";
import type { Modes } from "./modes.ts";
import { NO_CHAT } from "./permissions.ts";
import { prepareRoots } from "./prepare_roots.ts";

/** Work in the background starts this late, or after another such time if a turn is running then. */
const PREPARE_AFTER_MS = 3_000;
const FILL_AFTER_MS = 20_000;
/** Lines that a chat shows about unusable files. */
const MOST_PROBLEMS = 5;

export interface ProjectPorts extends ClientPorts {
  notice(chat: number, severity: Severity, text: string): void;
  /** Whether no chat's turn is running. */
  isIdle(): boolean;
  readonly world: ProviderWorld;
}

export interface ProjectOptions {
  readonly user: UserConfig;
  /** The provider is not that of the user's options, so the modes' models do not apply. */
  readonly isChosen: boolean;
}

/** The result of starting an engine. */
interface StartedEngine {
  readonly engine: Engine;
  readonly launch: Launch;
  readonly model: Boot["model"];
  readonly client: EngineClient;
}

export class OpenProject implements AsyncDisposable {
  readonly engine: Engine;
  readonly launch: Launch;
  readonly model: Boot["model"];
  readonly client: EngineClient;
  /** Its configuration. */
  readonly user: UserConfig;
  readonly isChosen: boolean;
  /** As of performance.now(). */
  readonly opened = performance.now();
  readonly #world: ProviderWorld;
  readonly #timers: readonly ReturnType<typeof setInterval>[];

  private constructor(started: StartedEngine, { user, isChosen }: ProjectOptions, ports: ProjectPorts) {
    const { world } = ports;
    const { engine, launch, model, client } = started;
    this.engine = engine;
    this.launch = launch;
    this.model = model;
    this.client = client;
    this.user = user;
    this.isChosen = isChosen;
    this.#world = world;
    this.#timers = [
      whenIdle(ports, PREPARE_AFTER_MS, () => client.prepare()),
      whenIdle(ports, FILL_AFTER_MS, async () => {
        await fillCodeCache(launch.grants, user.state_dir);
        // Those of other programs: an engine's bundle needs none.
        await pluginModules(user.state_dir);
      }),
    ];
    for (const timer of this.#timers) Deno.unrefTimer(timer);
  }

  /** Starts the project's engine. @param chat shows slow steps @throws {Error} one line */
  static async open(
    root: string,
    options: ProjectOptions,
    chat: number,
    ports: ProjectPorts,
  ): Promise<OpenProject> {
    const { user } = options;
    const { world } = ports;
    const announce = () => ports.notice(chat, "info", "Fetching the engine's dependencies, once …");
    let booting = (await takeEarly(root, user, announce))?.booting;
    try {
      const roots = await prepareRoots(root, user, world, (text) => ports.notice(chat, "warning", text));
      // The rules and modes are read while the process starts.
      booting ??= boot(roots, user, world, announce);
      booting.catch(() => {});
      const client = await EngineClient.open(roots, user, ports);
      client.files.begin(client.permissions.search(NO_CHAT));
      await client.modes.read();
      const notice = (problem: string) => ports.notice(chat, "warning", visible(problem));
      for (const problem of fewer([...client.modes.problems, ...await client.composer.problems(chat)])) {
        notice(problem);
      }
      const date = today();
      const spent = { date, amount: await client.ledger.spent(date) };
      const { process, launch, model } = await booting;
      const config = {
        ...engineOptions(client, model, options),
        spent,
        mcp: await serversOf(client, notice),
        hook_events: await eventsOf(client, notice),
        ...defined({
          search_engine: user.web_search?.engine,
          embedding_model: user.embeddings && `${user.embeddings.provider}/${user.embeddings.model}`,
        }),
      };
      const key = (refused: boolean) => keyOf(model, refused, user, world);
      const events = confined(client.events(launch.isConfined, key), roots);
      const engine = await Engine.start(new AgentProcess(process), config, events);
      return new OpenProject({ engine, launch, model, client }, options, ports);
    } catch (error) {
      if (booting !== undefined) endBoot(booting);
      throw error;
    }
  }

  /** Real path of its folder. */
  get root(): string {
    return this.launch.cwd;
  }

  /** The project's folder first. */
  get roots(): readonly string[] {
    return this.client.permissions.roots;
  }

  /** The account's remaining quota in one line; undefined if the provider does not report it. */
  async quota(): Promise<string | undefined> {
    const isLoggedIn = "provider" in this.model && this.model.provider.key_expires !== undefined;
    return isLoggedIn ? await copilotQuota(this.user, this.#world) : undefined;
  }

  /** Reads the files of modes again and sends changes to the engine. @throws {Error} one line */
  async readModes(): Promise<Modes> {
    const { modes } = this.client;
    if (await modes.read()) await this.engine.request("modes", { modes: ownModes(modes, this) });
    return modes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.client.endSessions();
    const { terminals, pipes, hooks: { changes } } = this.client;
    await Promise.all([this.engine, terminals, pipes, changes].map((part) => part[Symbol.asyncDispose]()));
  }
}

/** Runs it once; errors are ignored. @param interval milliseconds between two looks */
function whenIdle(
  { isIdle }: Pick<ProjectPorts, "isIdle">,
  interval: number,
  run: () => Promise<unknown>,
): ReturnType<typeof setInterval> {
  const timer = setInterval(() => {
    if (!isIdle()) return;
    clearInterval(timer);
    run().catch(() => {});
  }, interval);
  return timer;
}

/** The names of the MCP servers in the engine's format. */
async function serversOf({ mcp }: EngineClient, notice: (problem: string) => void) {
  const { servers, problems } = await mcp.servers();
  for (const problem of fewer(problems)) notice(problem);
  return [...servers.values()].map(({ name, entry: { off } }) => ({ name, ...defined({ off }) }));
}

/** The events that have hooks. */
async function eventsOf({ hooks }: EngineClient, notice: (problem: string) => void) {
  for (const problem of fewer(await hooks.open())) notice(problem);
  return [...hooks.known];
}

/** The engine's configuration without the costs and the MCP servers. */
function engineOptions(
  { modes, permissions }: EngineClient,
  model: Boot["model"],
  options: ProjectOptions,
) {
  const { user } = options;
  const own = ownModes(modes, options);
  const names = [...knownModels(user), ...own.flatMap(({ model }) => model ?? [])];
  const models = "provider" in model ? priced(user, model.provider.base_url, names) : [];
  const known = "provider" in model ? model : { ...sharedConfig(user), ...agentOf(model) };
  const { sandboxed, shell } = permissions;
  return { ...known, ...permissions.files(NO_CHAT), modes: own, models, sandboxed, shell };
}

function agentOf(model: Boot["model"]): Pick<EngineConfig, "agent"> {
  return "agent" in model ? { agent: model.agent } : {};
}

/** The custom modes in the engine's format. */
function ownModes({ own }: Modes, { isChosen }: Pick<ProjectOptions, "isChosen">): OwnMode[] {
  return own.map(({ model, ...mode }) => model === undefined || isChosen ? mode : { ...mode, model });
}

/** Shortens the list of problems to the number that a chat shows. */
function fewer(problems: readonly string[]): readonly string[] {
  const more = problems.length - MOST_PROBLEMS;
  if (more <= 0) return problems;
  const files = more === 1 ? "file" : "files";
  return [
    ...problems.slice(0, MOST_PROBLEMS),
    `${more} more ${files} cannot be used: see :checkhealth agent.`,
  ];
}

/** Renews an expiring key; other keys were passed at the start. @throws {Error} one line */
async function keyOf(model: Boot["model"], refused: boolean, user: UserConfig, world: ProviderWorld) {
  if (!("provider" in model) || model.provider.key_expires === undefined) {
    throw new Error("this provider's key does not expire");
  }
  return await renewedKey(user, world, { address: model.provider.base_url, refused });
}
