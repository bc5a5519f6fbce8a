/** The supervisor behind the sessions: starts it, sends actions and gives each chat its updates. */
import type { ActionInput } from "../protocol/actions.ts";
import type { EditorQuestion, Update } from "../protocol/ui.ts";
import type { UserConfig } from "../protocol/config.ts";
import {
  ConfigurationError,
  missingConfiguration,
  readConfiguration,
  supervisorConfiguration,
} from "../headless/configuration.ts";
import { type Headless, startHeadless } from "../headless/headless.ts";

type ReplyType = "modes" | "models" | "prompts" | "sessions" | "engine_answer";
type Reply<Type extends ReplyType = ReplyType> = Extract<Update, { type: Type }>;

/** Action that asks → type of the update that answers. */
interface Replies {
  readonly modes: "modes";
  readonly models: "models";
  readonly prompts: "prompts";
  readonly sessions: "sessions";
  readonly engine_request: "engine_answer";
}

type Asking<Type extends keyof Replies> = Omit<Extract<ActionInput, { type: Type }>, "type" | "request">;

interface LinkOptions {
  editor(question: EditorQuestion, session: string | undefined): Promise<unknown>;
}

interface Running {
  readonly headless: Headless;
  readonly config: UserConfig;
}

export class SupervisorLink implements AsyncDisposable {
  readonly #options: LinkOptions;
  readonly #listeners = new Map<number, (update: Update) => void>();
  readonly #replies = new Map<number, (reply: Reply) => void>();
  #running: Promise<Running> | undefined;
  #lastRequest = 0;
  #lastChat = 0;
  #state: Extract<ActionInput, { type: "editor_state" }> = {
    type: "editor_state",
    servers: false,
    slow_writes: true,
  };

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /**
   * Starts the supervisor and the engine of this folder, unless it runs. @throws {ConfigurationError} one line;
   * the next call reads the configuration again
   */
  start(): Promise<Running> {
    if (this.#running === undefined) {
      const running = this.#start();
      this.#running = running;
      running.catch(() => this.#running = undefined);
    }
    return this.#running;
  }

  /** Whether the client's editor is asked about open files. */
  set asksEditor(asks: boolean) {
    if (asks) return;
    this.#state = { ...this.#state, files: [] };
    this.#running?.then(({ headless }) => headless.act(this.#state), () => {});
  }

  nextChat(): number {
    return ++this.#lastChat;
  }

  /** @param hear gets the chat's updates */
  listen(chat: number, hear: (update: Update) => void): void {
    this.#listeners.set(chat, hear);
  }

  forget(chat: number): void {
    this.#listeners.delete(chat);
  }

  /** Returns at once; errors are notices of the chat. */
  act(action: ActionInput): void {
    this.start().then(({ headless }) => headless.act(action), () => {});
  }

  /** @throws {Error} one line */
  async perform(action: ActionInput): Promise<void> {
    await (await this.start()).headless.perform(action);
  }

  /** @throws {Error} one line */
  async ask<Type extends keyof Replies>(type: Type, fields: Asking<Type>): Promise<Reply<Replies[Type]>> {
    const request = ++this.#lastRequest;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#replies.set(request, resolve);
    this.perform({ type, ...fields, request } as ActionInput).catch(reject);
    try {
      // A reply has the number of its action, which names its type.
      return await promise as Reply<Replies[Type]>;
    } finally {
      this.#replies.delete(request);
    }
  }

  async #start(): Promise<Running> {
    const variables = Deno.env.toObject();
    const values = await readConfiguration(variables);
    if (values === undefined) throw new ConfigurationError(missingConfiguration(variables));
    const config = supervisorConfiguration(values, {}, variables);
    const headless = await startHeadless({
      config,
      // Most clients start an agent in the folder of its first session. `deno task` changes the folder.
      root: variables.INIT_CWD ?? Deno.cwd(),
      variables,
      hasDiffs: true,
      show: (batch) => batch.forEach((update) => this.#hear(update)),
      editor: (question, session) => this.#options.editor(question, session),
    });
    headless.act(this.#state);
    return { headless, config };
  }

  #hear(update: Update): void {
    if ("chat" in update) return this.#listeners.get(update.chat)?.(update);
    switch (update.type) {
      case "modes":
      case "models":
      case "prompts":
      case "sessions":
      case "engine_answer":
        this.#replies.get(update.request)?.(update);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = await this.#running?.catch(() => undefined);
    await running?.headless[Symbol.asyncDispose]();
  }
}
