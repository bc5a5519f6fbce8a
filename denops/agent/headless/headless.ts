/** A supervisor without Neovim. Load this module when the program needs one: it loads the supervisor's. */
import type { ActionInput } from "../protocol/actions.ts";
import type { UserConfig } from "../protocol/config.ts";
import type { EditorQuestion, Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import { bootEarly, endEarly } from "../supervisor/agents/boot.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { ConfigurationError } from "./configuration.ts";
import type { Variables } from "./folders.ts";

export interface HeadlessOptions {
  /** See configuration.ts. */
  readonly config: UserConfig;
  /** See project_root.ts. Its engine starts at once. */
  readonly root: string;
  readonly variables: Variables;
  /** Rules of the command line, which the configuration has too: problems name this option. */
  readonly allow?: readonly string[];
  /** Gets updates in order, and the next batch only after it resolves. It must not reject. */
  show(batch: readonly Update[]): void | Promise<void>;
  /**
   * Answers questions about open files. Without it, no file is open in an editor.
   * @param session whose engine asks
   * @throws {Error} one line
   */
  editor?(question: EditorQuestion, session: string | undefined): Promise<unknown>;
  /** Whether updates of calls have the texts of their diffs. */
  readonly hasDiffs?: boolean;
}

/** Literal imports would be loaded together with this module, and the engine would start later. */
const SUPERVISOR = "../supervisor/supervisor.ts";
const RULES = "../policy/rules.ts";

/**
 * Starts the engine, then the supervisor. Dispose it to end both.
 * @throws {ConfigurationError} if a rule or a glob is invalid
 */
export async function startHeadless(options: HeadlessOptions): Promise<Headless> {
  const { config, root, variables: environment, allow = [] } = options;
  await bootEarly({ config, place: { root }, environment });
  const { Supervisor }: typeof import("../supervisor/supervisor.ts") = await import(SUPERVISOR);
  const { patternProblems, ruleProblem }: typeof import("../policy/rules.ts") = await import(RULES);
  const wrong = allow.map((rule) => ruleProblem(rule, "allow")).find((text) => text !== undefined);
  const [problem] = wrong === undefined ? patternProblems(config) : [`--allow: ${wrong}`];
  if (problem !== undefined) {
    await endEarly();
    throw new ConfigurationError(problem);
  }
  return new Headless(Supervisor, options);
}

export class Headless implements AsyncDisposable {
  readonly #supervisor: Supervisor;
  readonly #options: HeadlessOptions;

  constructor(constructor: typeof Supervisor, options: HeadlessOptions) {
    this.#options = options;
    this.#supervisor = new constructor((batch) => this.#deliver(batch), {
      host: 1,
      environment: () => Promise.resolve(options.variables),
      hasDiffs: options.hasDiffs ?? false,
      isNeovim: false,
    });
    this.act({ type: "configure", config: options.config });
    if (options.editor === undefined) this.act({ type: "editor_state", files: [], servers: false });
  }

  /** Returns at once. Results are updates. */
  act(action: ActionInput): void {
    this.#supervisor.act(action);
  }

  /** As `act`, but the caller reports the error. Updates may still follow. @throws {Error} one line */
  async perform(action: ActionInput): Promise<void> {
    await this.#supervisor.perform(action);
  }

  async #deliver(batch: readonly Update[]): Promise<void> {
    for (const update of batch) {
      if (update.type === "ask_editor") void this.#reply(update);
    }
    await this.#options.show(batch.filter(({ type }) => type !== "ask_editor"));
  }

  async #reply(question: Extract<Update, { type: "ask_editor" }>): Promise<void> {
    const { request, session } = question;
    try {
      if (this.#options.editor === undefined) throw new Error("no editor is running");
      this.act({ type: "reply", request, result: await this.#options.editor(question, session) });
    } catch (error) {
      this.act({ type: "reply", request, error: messageOf(error) });
    }
  }

  /** A stopped turn ends first: it may be writing the changes of a command. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.stopped();
    await this.#supervisor[Symbol.asyncDispose]();
  }
}
