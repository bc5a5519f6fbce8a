import type * as z from "../deps/zod.ts";
import { firstProblem } from "../protocol/options/problems.ts";
import { Action, type ActionInput } from "../protocol/actions.ts";
import type { Severity, Update } from "../protocol/ui.ts";
import { messageOf } from "../shared/errors.ts";
import { isRecord } from "../shared/records.ts";
import { Logins } from "./agents/logins.ts";
import { actionTable } from "./actions/table.ts";
import { endEarly } from "./agents/boot.ts";
import { type ProviderWorld, realWorld } from "./agents/provider.ts";
import { Gate } from "./gate/gate.ts";
import { UserQuestions } from "./gate/questions.ts";
import { EditorQuestions } from "./screen/editor_questions.ts";
import { Pump } from "./screen/pump.ts";
import { LONGEST_NOTICE, oneLine } from "./screen/visible.ts";
import { optionsError } from "./client/options_error.ts";
import { Chats } from "./sessions/chats.ts";
import { KeyCommands } from "./system/key_command.ts";
import { endRuns } from "./system/run.ts";

export { watchProcess } from "./system/watch.ts";

/** Sends updates to Neovim; resolves when Lua has taken the batch. */
export type Deliver = (batch: readonly Update[]) => Promise<void>;

export interface SupervisorOptions {
  /** Number of this host. The supervisor's requests are numbered from it on. */
  readonly host: number;
  /** Neovim's environ(). */
  readonly environment: () => Promise<unknown>;
  /** Whether updates of calls have the texts of their diffs. */
  readonly hasDiffs?: boolean;
  /** Whether Neovim gets the updates: the default. */
  readonly isNeovim?: boolean;
  readonly world?: ProviderWorld;
}

export class Supervisor implements AsyncDisposable {
  readonly #pump: Pump;
  readonly #chats: Chats;
  readonly #logins: Logins;
  readonly #keyCommands = new KeyCommands();
  readonly #handlers: ReturnType<typeof actionTable>;

  constructor(deliver: Deliver, { host, environment, hasDiffs = false, ...options }: SupervisorOptions) {
    const world = options.world ?? realWorld((...command) => this.#keyCommands.run(...command));
    this.#pump = new Pump(
      deliver,
      (chat, why) => this.#chats.find(chat)?.session.engine?.kill(`it ${why}`),
    );
    const push = (update: Update) => this.#pump.push(hasDiffs ? update : withoutDiffs(update));
    let lastRequest = host;
    const nextRequest = () => ++lastRequest;
    const ports = {
      push,
      notice: (chat: number, severity: Severity, text: string) => this.#notice(chat, severity, text),
      environment,
      gate: new Gate(push, nextRequest),
      editor: new EditorQuestions(push, nextRequest, options.isNeovim),
      questions: new UserQuestions(push, nextRequest),
      world,
    };
    this.#chats = new Chats(ports);
    this.#logins = new Logins(world, push);
    this.#handlers = actionTable({ ...ports, chats: this.#chats, logins: this.#logins });
  }

  /** Takes an action of Lua and returns at once. Its results are updates. */
  act(raw: unknown): void {
    const parsed = Action.safeParse(raw);
    if (!parsed.success) return this.#refuse(raw, parsed.error);
    const action = parsed.data;
    this.#handle(action).catch((error: unknown) => {
      this.#notice("chat" in action ? action.chat : 1, "error", messageOf(error));
    });
  }

  /** Resolves when no engine is busy with a stopped turn; one that hangs is killed first. */
  async stopped(): Promise<void> {
    await this.#chats.stopped();
  }

  /** As `act`, but the caller reports the error. @throws {Error} one line */
  async perform(action: ActionInput): Promise<void> {
    const parsed = Action.safeParse(action);
    if (!parsed.success) throw new Error(`Cannot do that: ${firstProblem(parsed.error)}`);
    await this.#handle(parsed.data);
  }

  async #handle(action: Action): Promise<void> {
    // The table's type says that each handler takes its own action.
    const handle = this.#handlers[action.type] as (action: Action) => void | Promise<void>;
    await handle(action);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keyCommands.end();
    const closing = this.#chats[Symbol.asyncDispose]();
    this.#pump[Symbol.dispose]();
    this.#logins.stop();
    await Promise.all([endEarly(), closing]);
    // Nobody waits for their results any more.
    await endRuns();
  }

  /** An invalid action usually comes from an invalid option: its chat shows the problem. */
  #refuse(raw: unknown, error: z.ZodError): void {
    const fields = isRecord(raw) ? raw : {};
    if (fields.type === "configure") {
      this.#chats.projects.config = optionsError(fields.config, error);
      return;
    }
    const chat = typeof fields.chat === "number" ? fields.chat : 1;
    this.#notice(chat, "error", `Cannot do that: ${firstProblem(error)}`);
  }

  #notice(chat: number, severity: Severity, text: string): void {
    this.#pump.push({ type: "notice", chat, severity, text: oneLine(text, LONGEST_NOTICE) });
  }
}

/** The texts would cross to Neovim for nothing: the update's output has their difference. */
function withoutDiffs(update: Update): Update {
  if (update.type !== "tool" || update.diffs === undefined) return update;
  const { diffs: _, ...rest } = update;
  return rest;
}
