/** A project in use: its engine, its rules, its commands. One for each root and configuration. */
import { type ModelConfig, SharedConfig, type UserConfig } from "../protocol/config.ts";
import type { OwnMode } from "../protocol/modes.ts";
import type { ShownRule } from "../protocol/ui.ts";
import { patternProblems, ruleText } from "../policy/rules.ts";
import { logLines } from "./gate/approval_log.ts";
import { boot, endBoot, takeEarly } from "./agents/boot.ts";
import { fillCodeCache } from "./agents/code_cache.ts";
import { confined } from "./agents/confine.ts";
import { Engine } from "./agents/engine.ts";
import type { WorktreeOptions } from "./branches/worktrees.ts";
import type { Launch } from "./agents/launch.ts";
import { AgentProcess } from "./agents/process.ts";
import { sweepRunFolders } from "./commands/overlay/run_folder.ts";
import { sweepAfterCrash } from "./git/guard.ts";
import { renewedKey } from "./agents/copilot/account.ts";
import { copilotQuota } from "./agents/copilot/copilot.ts";
import { knownModels, priced, type ProviderWorld } from "./agents/provider.ts";
import { otherRoots } from "./agents/root.ts";
import { visible } from "./screen/visible.ts";
import { repositoryProblem } from "./system/git/git_view.ts";
import { ensureStateFolder } from "./system/project_state.ts";
import { EngineClient, type EngineClientPorts } from "./engine_client.ts";
import type { Modes } from "./modes.ts";

/** Nobody who has just begun to work is to wait for the next start to be quicker. */
const FILL_AFTER_MS = 20_000;
/** Files that cannot be used, each on a line of a chat. */
const MOST_TOLD = 5;
/** The first command finds the project looked at, and nobody waits for that. */
const PREPARE_AFTER_MS = 3_000;

export interface ProjectPorts extends EngineClientPorts {
  notice(chat: number, severity: "info" | "warning" | "error", text: string): void;
  readonly world: ProviderWorld;
}

export interface ProjectOptions {
  readonly user: UserConfig;
  /** The provider is not that of the user's options: what modes say of models is about another one. */
  readonly isChosen: boolean;
}

/** Modes that files describe, as its engine is told them. */
function ownModes({ own }: Modes, { isChosen }: Pick<ProjectOptions, "isChosen">): OwnMode[] {
  return own.map(({ model, ...mode }) => model === undefined || isChosen ? mode : { ...mode, model });
}

function modelsOf(modes: readonly OwnMode[]): readonly string[] {
  return modes.flatMap(({ model }) => model ?? []);
}

/** What is wrong with files, as far as a chat is for it. */
function fewer(problems: readonly string[]): readonly string[] {
  const more = problems.length - MOST_TOLD;
  if (more <= 0) return problems;
  const files = more === 1 ? "file" : "files";
  return [...problems.slice(0, MOST_TOLD), `${more} more ${files} cannot be used: see :checkhealth agent.`];
}

/** Its sessions' model, or why there is none, one line. */
type ProjectModel = Pick<ModelConfig, "provider" | "model"> | { readonly problem: string };

/** Only of a provider that takes no lasting key: any other one was told at the start. @throws {Error} one line */
async function keyOf(model: ProjectModel, refused: boolean, user: UserConfig, world: ProviderWorld) {
  if ("problem" in model || model.provider.key_expires === undefined) {
    throw new Error("this provider's key does not end");
  }
  return await renewedKey(user, world, { address: model.provider.base_url, refused });
}

export class Project implements AsyncDisposable {
  readonly engine: Engine;
  readonly launch: Launch;
  /** Real path of its folder. */
  readonly root: string;
  /** The project's folder first. */
  readonly roots: readonly string[];
  readonly model: ProjectModel;
  /** What it was opened with. */
  readonly user: UserConfig;
  readonly isChosen: boolean;
  readonly client: EngineClient;
  /** What is left of the account, one line; undefined if nobody tells. */
  readonly quota: () => Promise<string | undefined>;
  readonly #later: readonly ReturnType<typeof setTimeout>[];

  private constructor(
    engine: Engine,
    launch: Launch,
    roots: readonly string[],
    model: ProjectModel,
    client: EngineClient,
    { user, isChosen }: ProjectOptions,
    world: ProviderWorld,
  ) {
    this.engine = engine;
    this.launch = launch;
    this.root = launch.cwd;
    this.roots = roots;
    this.model = model;
    this.client = client;
    this.user = user;
    this.isChosen = isChosen;
    const isLoggedIn = !("problem" in model) && model.provider.key_expires !== undefined;
    this.quota = () => isLoggedIn ? copilotQuota(user, world) : Promise.resolve(undefined);
    this.#later = [
      setTimeout(() => void client.prepare().catch(() => {}), PREPARE_AFTER_MS),
      setTimeout(() => void fillCodeCache(launch.grants, user.state_dir).catch(() => {}), FILL_AFTER_MS),
    ];
    for (const timer of this.#later) Deno.unrefTimer(timer);
  }

  /** Starts the project's engine. @param chat is told of what takes long @throws {Error} one line */
  static async open(
    root: string,
    options: ProjectOptions,
    chat: number,
    ports: ProjectPorts,
  ): Promise<Project> {
    const { user } = options;
    const announce = () => ports.notice(chat, "info", "Fetching the engine's dependencies, once …");
    let booting = (await takeEarly(root, user, announce))?.booting;
    try {
      const [problem, ...more] = patternProblems(user);
      if (problem !== undefined) {
        const others = more.length === 0 ? "" : ` And ${more.length} more, see :checkhealth agent.`;
        throw new Error(`Invalid option ${problem}${others}`);
      }
      await ensureStateFolder(user.state_dir);
      const roots = [root, ...await otherRoots(user, root, ports.world.env("HOME"))];
      for (const one of roots) {
        for (const line of await sweepAfterCrash(one, user.state_dir)) {
          ports.notice(chat, "warning", `After a command that was cut off: ${visible(line)}`);
        }
      }
      sweepRunFolders(user.state_dir).catch(() => {});
      repositoryProblem(root, roots).then((problem) => {
        if (problem !== undefined) {
          ports.notice(chat, "warning", visible(`Git is not used here: ${problem}.`));
        }
      }, () => {});
      // While the process starts, what it will be told is read.
      booting ??= boot(roots, user, ports.world, announce);
      booting.catch(() => {});
      const client = await EngineClient.open(roots, user, ports);
      await client.modes.read();
      for (const problem of fewer([...client.modes.problems, ...await client.fileProblems(chat)])) {
        ports.notice(chat, "warning", visible(problem));
      }
      const date = new Date().toISOString().slice(0, 10);
      const spent = { date, amount: await client.ledger.spent(date) };
      const { process, launch, model } = await booting;
      const modes = ownModes(client.modes, options);
      const models = "problem" in model
        ? []
        : priced(user, model.provider.base_url, [...knownModels(user), ...modelsOf(modes)]);
      const known = "problem" in model ? SharedConfig.parse(user) : model;
      const { sandboxed } = client;
      const config = { ...known, ...client.fileRules(chat), modes, models, spent, sandboxed };
      const events = confined(
        client.events(launch.held, (refused) => keyOf(model, refused, user, ports.world)),
        roots,
      );
      const engine = await Engine.start(new AgentProcess(process), config, events);
      return new Project(engine, launch, roots, model, client, options, ports.world);
    } catch (error) {
      if (booting !== undefined) endBoot(booting);
      throw error;
    }
  }

  /** How its sessions get branches. */
  get branches(): WorktreeOptions {
    return this.client.branches;
  }

  shownRules(chat: number): readonly ShownRule[] {
    return this.client.rules.rules(chat)
      .map((rule) => ({ verdict: rule.verdict, rule: ruleText(rule), source: rule.source }));
  }

  removeRule(rule: string, chat: number): Promise<boolean> {
    return this.client.rules.remove(rule, chat);
  }

  async logEntries(): Promise<readonly string[]> {
    return logLines((await this.client.log.entries()).filter(({ root }) => root === this.root));
  }

  /** As their files are now; the engine is told. @throws {Error} one line */
  async readModes(): Promise<Modes> {
    const { modes } = this.client;
    if (await modes.read()) await this.engine.request("modes", { modes: ownModes(modes, this) });
    return modes;
  }

  /** The turn of this session is over or stopped. */
  stopTurn(sessionId: string): void {
    this.client.terminals.stopTurn(sessionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#later) clearTimeout(timer);
    await Promise.all([this.engine[Symbol.asyncDispose](), this.client.terminals[Symbol.asyncDispose]()]);
  }
}
