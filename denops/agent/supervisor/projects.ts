/** The projects in use, by root and configuration. One that no chat uses ends after a while. */
import type { UserConfig } from "../protocol/config.ts";
import type { ShownSession } from "../protocol/sessions_file.ts";
import type { Provider } from "../models/ask_models.ts";
import { chosenConfig, ModelBook, type ModelChoice } from "./agents/model_choice.ts";
import { type OfferedProvider, Offers } from "./agents/offers.ts";
import { engineConfig, findProvider, hasKeyCommand, namesModel } from "./agents/provider.ts";
import { findRoot, type RootQuery } from "./agents/root.ts";
import { Project, type ProjectOptions, type ProjectPorts } from "./project.ts";
import { storedSessions } from "./stored_sessions.ts";
import { adoptEnvironment } from "./system/neovim_environment.ts";
import { traceIntoFile } from "./system/trace_file.ts";

/** An engine takes some 60 MB, and starts again in a third of a second. */
const IDLE_MS = 600_000;

export interface ProjectsPorts {
  /** Neovim's environ(), undefined if it cannot be asked; never rejects. */
  environment(): Promise<unknown>;
  /** Whether a chat has a session open in this project. */
  isUsed(project: Project): boolean;
  /** Its engine has ended. @param how one line; undefined: another one takes its place */
  ended(project: Project, how: string | undefined): void;
  readonly project: ProjectPorts;
}

interface Entry {
  readonly opening: Promise<Project>;
  /** When it was asked for last, in milliseconds since 1970. */
  asked: number;
}

export class Projects implements AsyncDisposable {
  readonly #ports: ProjectsPorts;
  readonly #entries = new Map<string, Entry>();
  readonly #sweep: ReturnType<typeof setInterval>;
  readonly offers: Offers;
  /** The options, or what is wrong with them. */
  config: UserConfig | string = "Neovim has sent no configuration";
  /** Neovim's environment is known. */
  #adopted: Promise<void> | undefined;

  /** @param idle milliseconds after which one that nobody uses ends */
  constructor(ports: ProjectsPorts, idle = IDLE_MS) {
    this.#ports = ports;
    this.offers = new Offers(ports.project.world);
    traceIntoFile();
    this.#sweep = setInterval(() => this.#endIdle(idle), idle / 2);
    Deno.unrefTimer(this.#sweep);
  }

  /**
   * The project of a place, opened if need be.
   * @param chat is told of what takes long @param choice in the place of the options' @throws {Error} one line
   */
  async of(place: RootQuery, chat: number, choice: ModelChoice = {}): Promise<Project> {
    const options = this.#known();
    await (this.#adopted ??= this.#adopt().catch((error) => {
      // A promise that is kept would fail for ever.
      this.#adopted = undefined;
      throw error;
    }));
    const { world } = this.#ports.project;
    const root = await this.#root(place);
    const user = await chosenConfig(options, choice, world);
    const key = JSON.stringify([root, user]);
    const known = this.#entries.get(key);
    if (known === undefined) return await this.#open(key, root, { user, isChosen: user !== options }, chat);
    known.asked = Date.now();
    return await known.opening;
  }

  /** Stored sessions of all projects. @throws {Error} one line */
  async sessions(place: RootQuery): Promise<{ root?: string; sessions: readonly ShownSession[] }> {
    const { state_dir } = this.#known();
    const [root, sessions] = await Promise.all([
      this.#root(place).catch(() => undefined),
      storedSessions(state_dir),
    ]);
    return root === undefined ? { sessions } : { root, sessions };
  }

  async #root(place: RootQuery): Promise<string> {
    const { world } = this.#ports.project;
    return await findRoot(place, world.env("HOME") ?? world.env("USERPROFILE"));
  }

  /** Ends a project without a model if there is one to ask by now. @throws {Error} one line: why there is none */
  async retire(project: Project): Promise<void> {
    await this.#adopt();
    await engineConfig(this.#known(), this.#ports.project.world, project.roots);
    await this.drop(project);
  }

  /** Ends a project that nobody is to go on with. */
  async drop(project: Project): Promise<void> {
    for (const [key, { opening }] of this.#entries) {
      if (await opening.catch(() => undefined) === project) this.#entries.delete(key);
    }
    this.#ports.ended(project, undefined);
    await project[Symbol.asyncDispose]();
  }

  /** Ends those of a folder. @param root its real path */
  async dropAt(root: string): Promise<void> {
    const all = await Promise.all(this.all().map((opening) => opening.catch(() => undefined)));
    await Promise.all(all.map((project) => project?.root === root ? this.drop(project) : undefined));
  }

  /** The choices of sessions. @throws {Error} one line */
  get book(): ModelBook {
    return new ModelBook(this.#known().state_dir);
  }

  /** A provider with its key, which need not be one that a project uses. @throws {Error} one line */
  async provider(name: string, roots: readonly string[]): Promise<Provider> {
    return await findProvider(this.#known(), name, this.#ports.project.world, roots);
  }

  /** Whether a provider can be used without a model that the user names. @throws {Error} one line */
  namesModel(provider: string): boolean {
    const user = this.#known();
    return namesModel(user, provider) || (user.provider === provider && user.model !== undefined);
  }

  /** @throws {Error} one line */
  async providers(): Promise<readonly OfferedProvider[]> {
    return await this.offers.providers(this.#known());
  }

  /** Opening one runs a command of the user's. @param provider in the place of the options' */
  needsKeyCommand(provider: string | undefined): boolean {
    const { config } = this;
    return typeof config !== "string" &&
      hasKeyCommand(provider === undefined ? config : { ...config, provider });
  }

  /** Those that are open or being opened. */
  all(): readonly Promise<Project>[] {
    return [...this.#entries.values()].map(({ opening }) => opening);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all(
      this.all().map((opening) => opening.then((project) => project[Symbol.asyncDispose](), () => {})),
    );
  }

  #known(): UserConfig {
    if (typeof this.config !== "string") return this.config;
    throw new Error(`Invalid option: ${this.config}.`);
  }

  async #adopt(): Promise<void> {
    adoptEnvironment(await this.#ports.environment());
    traceIntoFile();
  }

  #open(key: string, root: string, options: ProjectOptions, chat: number): Promise<Project> {
    // A key may have been set since.
    const opening = this.#adopt().then(() => Project.open(root, options, chat, this.#ports.project));
    this.#entries.set(key, { opening, asked: Date.now() });
    const forget = () => {
      if (this.#entries.get(key)?.opening === opening) this.#entries.delete(key);
    };
    const opened = async (project: Project) => {
      const how = await project.engine.ended;
      forget();
      this.#ports.ended(project, how);
      await project[Symbol.asyncDispose]();
    };
    opening.then(opened, forget);
    return opening;
  }

  async #endIdle(idle: number): Promise<void> {
    for (const entry of this.#entries.values()) {
      const project = await entry.opening.catch(() => undefined);
      const isIdle = Date.now() - entry.asked >= idle;
      if (project !== undefined && isIdle && !this.#ports.isUsed(project)) {
        await project[Symbol.asyncDispose]();
      }
    }
  }
}
