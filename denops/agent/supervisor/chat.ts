/** One chat: its messages go to its engine one after the other. */
import type { ContentBlock, PromptResponse } from "../deps/acp_sdk.ts";
import { trace } from "../protocol/trace.ts";
import type { ModeAccess } from "../protocol/modes.ts";
import type { Action, Update } from "../protocol/ui.ts";
import type { Merge } from "../protocol/worktrees.ts";
import { messageOf } from "../shared/errors.ts";
import { defined } from "../shared/records.ts";
import type { Engine } from "./agents/engine.ts";
import type { Project } from "./project.ts";
import { ChatSession, type NextTurn, type SessionPorts } from "./chat_session.ts";
import { LONGEST_NOTICE, oneLine } from "./screen/visible.ts";

/** A session that a message can be sent to. */
interface Ready {
  readonly project: Project;
  readonly sessionId: string;
  /** The branch that was made for it. */
  readonly branch: string | undefined;
  /** The message as it is sent. */
  readonly blocks: readonly ContentBlock[];
  readonly merge: Merge | undefined;
}

export interface ChatPorts extends SessionPorts {
  /** The turn is over: nothing of it waits any longer. */
  settle(): void;
}

/** So long after a stop a turn ends on screen, whatever the engine does: its last words come within that time. */
const LAST_WORDS_MS = 40;
/** An engine that has not ended its turn so long after a stop is ended itself. */
const STUCK_MS = 5_000;

/** What the user sends. */
export type Message = Pick<
  Extract<Action, { type: "prompt" }>,
  "id" | "text" | "given" | "shown" | "remember" | "edit" | "merge"
>;

export class Chat {
  readonly id: number;
  readonly session: ChatSession;
  readonly #ports: ChatPorts;
  #queue: Message[] = [];
  /** What is to happen between two turns. */
  readonly #changes: (() => Promise<void>)[] = [];
  #running = false;
  /** Ends the wait for the engine to start. */
  #stopStarting: (() => void) | undefined;
  /** Stops the prompt that runs. */
  #stopPrompt: (() => void) | undefined;
  /** What the turn that runs may change. */
  #access: ModeAccess | undefined;
  /** Of a turn that has ended on screen: until its engine has ended it too. */
  #ending: Promise<void> | undefined;
  /** The engine may not have stored the message of the turn that runs. */
  #unstored = false;

  constructor(id: number, ports: ChatPorts) {
    this.id = id;
    this.#ports = ports;
    this.session = new ChatSession(id, ports);
  }

  /** False while the engine is still busy with a turn that has ended here: nothing of that is wanted any more. */
  get listens(): boolean {
    return this.#ending === undefined;
  }

  /** What the turn that runs, else the next one, may change. */
  get access(): ModeAccess {
    return this.#access ?? this.session.access;
  }

  /** The project in which a turn of this chat is running; undefined if none is. */
  get worksIn(): string | undefined {
    return this.#stopPrompt === undefined && this.listens ? undefined : this.session.root;
  }

  /** To be called for all that the engine tells of this chat. */
  heard({ type }: Update): void {
    if (type === "turn") this.#unstored = false;
  }

  prompt({ id, text, given, shown, remember, edit, merge }: Message): void {
    this.#queue.push({ id, text, given, shown, remember, edit, merge });
    if (!this.#running) this.#run();
  }

  /**
   * Not while a turn runs: after it, and before the messages that wait. If it fails those come back.
   * @return whether it has to wait for a turn, and its end
   */
  betweenTurns(change: () => Promise<void>): { readonly waits: boolean; readonly done: Promise<void> } {
    const waits = this.#stopPrompt !== undefined || this.#stopStarting !== undefined;
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    this.#changes.push(() =>
      change().then(resolve, (error) => {
        this.#ports.push({ type: "unsent", chat: this.id, texts: this.#unsent() });
        reject(error);
      })
    );
    if (!this.#running) this.#run();
    return { waits, done };
  }

  /** Takes back a message that waits, if it still does. */
  takeBack(text: string): void {
    const at = this.#queue.findIndex((message) => message.text === text);
    if (at === -1) return;
    this.#queue.splice(at, 1);
    this.#ports.push({ type: "taken_back", chat: this.id, text });
  }

  /** Stops the turn, or what runs without one, and takes back what waits. */
  cancel(): void {
    const unsent = this.#unsent();
    if (unsent.length > 0) this.#ports.push({ type: "unsent", chat: this.id, texts: unsent });
    if (this.#running) {
      this.#stopStarting?.();
      this.#stopPrompt?.();
    } else this.session.cancel();
    this.#ports.settle();
  }

  /** Neovim is gone: it keeps what waits, and nothing more is sent. */
  end(): void {
    this.#queue = [];
    this.#stopStarting?.();
  }

  /** The engine is gone; what it has stored is not. A turn that runs says so at its end. @param how undefined: another takes its place */
  forget(engine: Engine, how: string | undefined): void {
    if (!this.session.forget(engine) || how === undefined || (this.#running && this.listens)) return;
    this.#ports.notice("error", engineGone(how));
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) await next();
    this.#running = false;
  }

  #next(): (() => Promise<void>) | undefined {
    const change = this.#changes.shift();
    if (change !== undefined) {
      return async () => {
        await this.#ending;
        await change();
      };
    }
    const message = this.#queue.shift();
    return message && (() => this.#turn(message));
  }

  /** Takes back what waits. */
  #unsent(): readonly string[] {
    return this.#queue.splice(0).map(({ text }) => text);
  }

  async #turn(message: Message): Promise<void> {
    const { id: chat } = this;
    const { id, text } = message;
    this.#ports.push({ type: "turn_started", chat, ...defined({ id }) });
    this.#unstored = true;
    const turn = this.session.beginTurn();
    try {
      const since = trace?.now();
      const ready = await this.#connectUnlessStopped(message, turn);
      trace?.span("connect", since);
      // Stopped while the engine was starting: the model is not asked at all.
      if (ready === undefined) this.#ports.push({ type: "unsent", chat, texts: [text], unstored: true });
      const reason = ready === undefined ? "cancelled" : await this.#prompt(ready, message, turn);
      this.#ports.settle();
      this.#ports.push({ type: "turn_done", chat, reason });
    } catch (error) {
      this.#ports.settle();
      const said = messageOf(error);
      const unstored = this.#unstored;
      const unsent = [...unstored ? [text] : [], ...this.#unsent()];
      if (unsent.length > 0) this.#ports.push({ type: "unsent", chat, texts: unsent, unstored });
      this.#ports.push({ type: "turn_done", chat, reason: "error", error: oneLine(said, LONGEST_NOTICE) });
    } finally {
      turn.sent();
    }
  }

  /** Undefined if the user stops it; the engine goes on starting, for the next message. */
  async #connectUnlessStopped(message: Message, turn: NextTurn): Promise<Ready | undefined> {
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    this.#stopStarting = () => resolve(undefined);
    try {
      return await Promise.race([this.#free(message, turn), stopped]);
    } finally {
      this.#stopStarting = undefined;
    }
  }

  /** The session, when its engine is done with the turn before. */
  async #free({ text, given, merge: from }: Message, turn: NextTurn): Promise<Ready> {
    await this.#ending;
    const open = await this.session.openForTurn(turn);
    const branch = await this.session.branch(open, text);
    const blocks = await open.project.client.blocks(this.id, text, given);
    const merge = from === undefined ? undefined : await open.project.client.merge(this.id, from);
    return { project: open.project, sessionId: open.sessionId, branch, blocks, merge };
  }

  /** How the turn ended: as the engine says, or stopped without a word of it. */
  async #prompt(
    { project, sessionId, branch, blocks, merge }: Ready,
    message: Message,
    turn: NextTurn,
  ): Promise<string> {
    const { engine, client } = project;
    const { id: messageId, shown, remember, edit } = message;
    const told = { branch, messageId, shown: shown && client.shown(this.id, shown), remember, edit, merge };
    const died = engine.ended.then((how): never => {
      this.forget(engine, how);
      throw new Error(engineGone(how));
    });
    died.catch(() => {});
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const timers: ReturnType<typeof setTimeout>[] = [];
    this.#stopPrompt = () => {
      engine.cancel(sessionId);
      if (timers.length > 0) return;
      const why = `it did not react to a stop within ${STUCK_MS / 1_000} s`;
      timers.push(
        setTimeout(() => resolve(undefined), LAST_WORDS_MS),
        setTimeout(() => engine.kill(why), STUCK_MS),
      );
    };
    // A choice holds from the next turn on. What the user has asked for by name is wanted, whatever the mode is.
    this.#access = [remember, edit, merge].every((one) => one === undefined) ? this.session.access : "write";
    const answered: Promise<PromptResponse> = Promise.race([
      died,
      engine.prompt(sessionId, blocks, told),
    ])
      .finally(() => timers.forEach((timer) => clearTimeout(timer)));
    turn.sent();
    try {
      const answer = await Promise.race([answered, stopped]);
      if (answer !== undefined) return answer.stopReason;
    } finally {
      this.#stopPrompt = undefined;
      this.#access = undefined;
    }
    this.#ending = answered.then(() => {}, () => {}).finally(() => this.#ending = undefined);
    return "cancelled";
  }
}

function engineGone(how: string): string {
  return `The engine stopped (${how}). The next message goes on from what is stored.`;
}
