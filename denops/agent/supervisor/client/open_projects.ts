/** The open projects, by root and configuration. A project that no chat uses is closed after a while. */
import type { UserConfig } from "../../protocol/config.ts";
import { OptionsError } from "../../protocol/options/problems.ts";
import type { Provider } from "../../models/ask_models.ts";
import { usesLogin } from "../agents/boot.ts";
import { chosenConfig, ModelBook, type ModelChoice, withAgent } from "../agents/models/model_choice.ts";
import { type OfferedProvider, Offers } from "../agents/offers.ts";
import { findProvider, hasKeyCommand, namesModel } from "../agents/provider.ts";
import { findRoot, type RootQuery } from "../agents/root.ts";
import { Taints } from "../gate/taints.ts";
import { OpenProject, type ProjectOptions, type ProjectPorts } from "./open_project.ts";
import { adoptEnvironment } from "../system/neovim_environment.ts";
import { traceIntoFile } from "../system/trace_file.ts";

/** An engine takes some 60 MB and restarts in a third of a second. */
const IDLE_MS = 600_000;

interface ProjectsPorts {
  /** Neovim's environ(), undefined if Neovim does not answer; never rejects. */
  environment(): Promise<unknown>;
  /** Whether a chat has an open session in this project. */
  isUsed(project: OpenProject): boolean;
  /** Called when its engine has exited. @param how one line; undefined if another engine replaces it */
  ended(project: OpenProject, how: string | undefined): void;
  readonly project: ProjectPorts;
}

interface Entry {
  readonly opening: Promise<OpenProject>;
  /** Its last use, in milliseconds since 1970. */
  used: number;
}

export class OpenProjects implements AsyncDisposable {
  readonly #ports: ProjectsPorts;
  readonly #entries = new Map<string, Entry>();
  readonly #sweep: ReturnType<typeof setInterval>;
  readonly offers: Offers;
  /** The sessions that have used the network or read foreign text. */
  readonly taints = new Taints(() => this.options.state_dir);
  config: UserConfig | OptionsError = new OptionsError(["Neovim has sent no configuration."]);
  #adopted: Promise<void> | undefined;

  /** @param idle milliseconds until an unused project is closed */
  constructor(ports: ProjectsPorts, idle = IDLE_MS) {
    this.#ports = ports;
    this.offers = new Offers(ports.project.world);
    traceIntoFile();
    this.#sweep = setInterval(() => this.#endIdle(idle), idle / 2);
    Deno.unrefTimer(this.#sweep);
  }

  /**
   * The project of a place; opens it if necessary.
   * @param chat shows slow steps @param choice overrides the options @throws {Error} one line
   */
  async of(place: RootQuery, chat: number, choice: ModelChoice = {}): Promise<OpenProject> {
    const options = this.options;
    await (this.#adopted ??= this.#adopt().catch((error) => {
      // The next call tries again.
      this.#adopted = undefined;
      throw error;
    }));
    const { world } = this.#ports.project;
    const root = await this.root(place);
    const user = await chosenConfig(options, choice, world);
    const key = JSON.stringify([root, user]);
    const known = this.#entries.get(key);
    if (known === undefined) return await this.#open(key, root, { user, isChosen: user !== options }, chat);
    known.used = Date.now();
    const project = await known.opening;
    if (!project.engine.isClosed) return project;
    // Its end is not known yet.
    await project.engine.ended;
    return await this.of(place, chat, choice);
  }

  /** Real path of a place's project. @throws {Error} one line */
  async root(place: RootQuery): Promise<string> {
    const { world } = this.#ports.project;
    return await findRoot(place, world.env("HOME") ?? world.env("USERPROFILE"));
  }

  /** Closes a project that no chat continues with. */
  async drop(project: OpenProject): Promise<void> {
    for (const [key, { opening }] of this.#entries) {
      if (await opening.catch(() => undefined) === project) this.#entries.delete(key);
    }
    this.#ports.ended(project, undefined);
    await project[Symbol.asyncDispose]();
  }

  /** Closes the projects of a folder. @param root its real path */
  async dropAt(root: string): Promise<void> {
    const all = await Promise.all(this.all().map((opening) => opening.catch(() => undefined)));
    await Promise.all(all.map((project) => project?.root === root ? this.drop(project) : undefined));
  }

  /** The models that the user chose for sessions. @throws {Error} one line */
  get book(): ModelBook {
    return new ModelBook(this.options.state_dir);
  }

  /** A provider with its key. @throws {Error} one line */
  async provider(name: string, roots: readonly string[]): Promise<Provider> {
    return await findProvider(this.options, name, this.#ports.project.world, roots);
  }

  /** Whether a provider works without the user choosing a model. @throws {Error} one line */
  namesModel(provider: string): boolean {
    const user = this.options;
    return namesModel(user, provider) || (user.provider === provider && user.model !== undefined);
  }

  /** @throws {Error} one line */
  async providers(): Promise<readonly OfferedProvider[]> {
    const { offers, options } = this;
    return (await Promise.all([offers.providers(options), offers.agents(options, [])])).flat();
  }

  /** Whether opening a project runs the user's command for a key. @param choice overrides the options */
  needsKeyCommand(choice: ModelChoice): boolean {
    const { config } = this;
    return !(config instanceof OptionsError) && hasKeyCommand(chosenOptions(config, choice));
  }

  /** Whether opening a project uses the user's login at a provider. @param choice overrides the options */
  async usesLogin(choice: ModelChoice): Promise<boolean> {
    return await usesLogin(chosenOptions(this.options, choice), this.#ports.project.world);
  }

  /** Open projects, and those that are opening. */
  all(): readonly Promise<OpenProject>[] {
    return [...this.#entries.values()].map(({ opening }) => opening);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all(
      this.all().map((opening) => opening.then((project) => project[Symbol.asyncDispose](), () => {})),
    );
  }

  /** @throws {OptionsError} */
  get options(): UserConfig {
    if (this.config instanceof OptionsError) throw this.config;
    return this.config;
  }

  async #adopt(): Promise<void> {
    adoptEnvironment(await this.#ports.environment());
    traceIntoFile();
  }

  #open(key: string, root: string, options: ProjectOptions, chat: number): Promise<OpenProject> {
    // The user may have set a key since then.
    const opening = this.#adopt().then(() => OpenProject.open(root, options, chat, this.#ports.project));
    this.#entries.set(key, { opening, used: Date.now() });
    const forget = () => {
      if (this.#entries.get(key)?.opening === opening) this.#entries.delete(key);
    };
    const opened = async (project: OpenProject) => {
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
      const isIdle = Date.now() - entry.used >= idle;
      if (project !== undefined && isIdle && !this.#ports.isUsed(project)) {
        await project[Symbol.asyncDispose]();
      }
    }
  }
}

function chosenOptions(options: UserConfig, choice: ModelChoice): UserConfig {
  const { provider } = choice;
  const user = withAgent(options, choice);
  return provider === undefined ? user : { ...user, provider };
}
