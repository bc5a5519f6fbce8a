/** One chat: sends its messages to the engine one after the other. */
import type { ContentBlock, PromptResponse } from "../../deps/acp_sdk.ts";
import { narrowed, type ToolSet, type TurnLimits } from "../../protocol/modes.ts";
import { ours, TurnEndMeta } from "../../protocol/extensions.ts";
import { trace } from "../../protocol/trace.ts";
import type { Action } from "../../protocol/actions.ts";
import type { Update } from "../../protocol/ui.ts";
import type { Merge } from "../../protocol/worktrees.ts";
import { messageOf } from "../../shared/errors.ts";
import { pageMentions } from "../../shared/text/message_words.ts";
import { defined } from "../../shared/records.ts";
import type { Engine } from "../agents/engine.ts";
import { messageHooks } from "../client/message_hooks.ts";
import type { OpenProject } from "../client/open_project.ts";
import { LONGEST_NOTICE, oneLine } from "../screen/visible.ts";
import { ChatSession, type ChatSessionPorts } from "./chat_session.ts";
import type { NextTurn } from "./choice_order.ts";

/** A message and the session that it goes to. */
interface Delivery {
  readonly project: OpenProject;
  readonly sessionId: string;
  /** The branch of a new session. */
  readonly branch: string | undefined;
  readonly blocks: readonly ContentBlock[];
  /** The message limits the turn to it. */
  readonly toolSet: ToolSet | undefined;
  readonly merge: Merge | undefined;
}

interface ChatPorts extends ChatSessionPorts {
  /** Lets a session fetch these addresses in the running turn, each once: the user has typed them. */
  letFetch(sessionId: string, urls: readonly string[]): void;
  /** The turn is over: closes its approvals and questions. */
  settle(): void;
}

/** A stopped turn ends on screen after this time, within which the engine's last text usually arrives. */
const LAST_WORDS_MS = 40;
/** An engine that has not ended its turn this long after a stop is killed. */
const STUCK_MS = 5_000;

/** A message of the user. */
type QueuedMessage = Pick<
  Extract<Action, { type: "prompt" }>,
  "id" | "text" | "given" | "typed" | "shown" | "remember" | "edit" | "merge"
>;

/**
 * The state of a chat. See the phases of lua/agent/timeline/states.lua: `stopping` is `#stopping` here,
 * because the next turn may already be opening while the engine still ends a stopped one. "between": a change
 * between turns is running.
 */
type TurnState =
  | { readonly phase: "ready" }
  | { readonly phase: "between" }
  | { readonly phase: "opening"; stop(): void }
  | { readonly phase: "running"; readonly limits: TurnLimits; stop(): void };

export class Chat {
  readonly id: number;
  readonly session: ChatSession;
  readonly #ports: ChatPorts;
  #queue: QueuedMessage[] = [];
  /** Changes that wait for the end of the turn. */
  readonly #changes: (() => Promise<void>)[] = [];
  #state: TurnState = { phase: "ready" };
  /** The engine still ends a turn that has ended on screen. */
  #stopping: Promise<void> | undefined;
  /** The user has stopped the turn that the engine runs, ends or has ended last. */
  #isStopped = false;
  /** The engine may not have stored the running turn's message. */
  #isUnstored = false;

  constructor(id: number, ports: ChatPorts) {
    this.id = id;
    this.#ports = ports;
    this.session = new ChatSession(id, ports);
  }

  /** False while the engine still ends a stopped turn, whose updates are dropped. */
  get listens(): boolean {
    return this.#stopping === undefined;
  }

  /** Whether the user has stopped the turn that the engine runs or ends. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resolves when the engine has ended a stopped turn. */
  get stopped(): Promise<void> {
    return this.#stopping ?? Promise.resolve();
  }

  /** The limits of the running turn, otherwise of the next one. */
  get limits(): TurnLimits {
    return this.#state.phase === "running" ? this.#state.limits : this.session.limits;
  }

  /** The project in which a turn of this chat is running; undefined without a turn. */
  get worksIn(): string | undefined {
    return this.#state.phase === "running" || !this.listens ? this.session.root : undefined;
  }

  /** Call it for each update of the engine about this chat. */
  heard(update: Update): void {
    if (update.type !== "turn") return;
    if (this.#isUnstored) this.session.turnBegan();
    this.#isUnstored = false;
    this.session.noteTurn(update.turn);
  }

  send({ id, text, given, typed, shown, remember, edit, merge }: QueuedMessage): void {
    this.#queue.push({ id, text, given, typed, shown, remember, edit, merge });
    this.#runUnlessBusy();
  }

  /**
   * Makes a change after the running turn and before the queued messages. If it fails, they are taken back.
   * @return whether a turn is running, and the end of the change
   */
  betweenTurns(change: () => Promise<void>): { readonly waits: boolean; readonly done: Promise<void> } {
    const { phase } = this.#state;
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    this.#changes.push(() =>
      change().then(resolve, (error) => {
        this.#ports.push({ type: "unsent", chat: this.id, texts: this.#takeQueue() });
        reject(error);
      })
    );
    this.#runUnlessBusy();
    return { waits: phase === "opening" || phase === "running", done };
  }

  /** Takes back a queued message. */
  takeBack(text: string): void {
    const at = this.#queue.findIndex((message) => message.text === text);
    if (at === -1) return;
    this.#queue.splice(at, 1);
    this.#ports.push({ type: "taken_back", chat: this.id, text });
  }

  /** Stops the turn, or what the engine does without one, and takes back the queue. */
  cancel(): void {
    const texts = this.#takeQueue();
    if (texts.length > 0) this.#ports.push({ type: "unsent", chat: this.id, texts });
    if (this.#state.phase === "ready") this.session.cancel();
    else if (this.#state.phase !== "between") this.#state.stop();
    this.#ports.settle();
  }

  /** Neovim has exited and stores the queue: nothing more is sent. */
  end(): void {
    this.#queue = [];
    if (this.#state.phase === "opening") this.#state.stop();
  }

  /** The engine has exited. A running turn reports that at its end. @param how undefined if another engine replaces it */
  forget(engine: Engine, how: string | undefined): void {
    if (!this.session.forget(engine) || how === undefined) return;
    if (this.#state.phase !== "ready" && this.listens) return;
    this.#ports.notice("error", engineGone(how));
  }

  #runUnlessBusy(): void {
    if (this.#state.phase === "ready") this.#run();
  }

  async #run(): Promise<void> {
    this.#state = { phase: "between" };
    for (let next = this.#next(); next !== undefined; next = this.#next()) await next();
    this.#state = { phase: "ready" };
  }

  #next(): (() => Promise<void>) | undefined {
    const change = this.#changes.shift();
    if (change !== undefined) {
      return async () => {
        await this.#stopping;
        await change();
      };
    }
    const message = this.#queue.shift();
    return message && (() => this.#turn(message));
  }

  #takeQueue(): readonly string[] {
    return this.#queue.splice(0).map(({ text }) => text);
  }

  async #turn(message: QueuedMessage): Promise<void> {
    const { id: chat } = this;
    const { id, text } = message;
    this.#ports.push({ type: "turn_started", chat, ...defined({ id }) });
    this.#isUnstored = true;
    const turn = this.session.beginTurn();
    try {
      const since = trace?.now();
      const delivery = await this.#openUnlessStopped(message, turn);
      trace?.span("connect", since);
      // Stopped while the engine was starting: nothing reaches the model.
      if (delivery === undefined) this.#ports.push({ type: "unsent", chat, texts: [text], unstored: true });
      const end = delivery === undefined ? CANCELLED : await this.#prompt(delivery, message, turn);
      this.#ports.settle();
      this.#ports.push({ type: "turn_done", chat, ...end });
    } catch (error) {
      this.#ports.settle();
      const unstored = this.#isUnstored;
      const texts = [...unstored ? [text] : [], ...this.#takeQueue()];
      if (texts.length > 0) this.#ports.push({ type: "unsent", chat, texts, unstored });
      const line = oneLine(messageOf(error), LONGEST_NOTICE);
      this.#ports.push({ type: "turn_done", chat, reason: "error", error: line });
    } finally {
      turn.sent();
      this.session.turnEnded();
    }
  }

  /** Undefined if the user stops it; the engine continues to start, for the next message. */
  async #openUnlessStopped(message: QueuedMessage, turn: NextTurn): Promise<Delivery | undefined> {
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const controller = new AbortController();
    const stop = () => {
      controller.abort();
      resolve(undefined);
    };
    this.#state = { phase: "opening", stop };
    try {
      return await Promise.race([this.#deliveryOf(message, turn, controller.signal), stopped]);
    } finally {
      this.#state = { phase: "between" };
    }
  }

  async #deliveryOf(
    { text, given: attachments, merge: worktree }: QueuedMessage,
    turn: NextTurn,
    signal: AbortSignal,
  ): Promise<Delivery> {
    await this.#stopping;
    const open = await this.session.openForTurn(turn);
    const { project, sessionId } = open;
    const branch = await this.session.branch(open, text);
    const { blocks, toolSet, hasSession } = await project.client.composer.message(this.id, text, attachments);
    if (hasSession) await this.session.attachesSession(sessionId);
    const details = { chat: this.id, session: sessionId, isNew: open.isNew, text };
    const hookBlocks = await messageHooks(project.client, details, signal);
    const merge = worktree === undefined ? undefined : await project.client.merge(this.id, worktree);
    return { project, sessionId, branch, blocks: [...blocks, ...hookBlocks], toolSet, merge };
  }

  /** @returns the engine's reason for the turn's end, or "cancelled" if it does not end the turn soon after a stop */
  async #prompt(delivery: Delivery, message: QueuedMessage, turn: NextTurn): Promise<EngineTurnEnd> {
    const { project: { engine, client }, sessionId, branch, blocks, toolSet, merge } = delivery;
    const { id: messageId, shown: view, text, typed, remember, edit } = message;
    const pages = typed ? pageMentions(text) : [];
    const details = {
      branch,
      messageId,
      shown: view && client.composer.editorView(this.id, view),
      remember,
      edit,
      merge,
      pages: pages.length === 0 ? undefined : pages,
    };
    const died = engine.ended.then((how): never => {
      this.forget(engine, how);
      throw new Error(engineGone(how));
    });
    died.catch(() => {});
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const timers: ReturnType<typeof setTimeout>[] = [];
    const stop = () => {
      this.#isStopped = true;
      engine.cancel(sessionId);
      if (timers.length > 0) return;
      const why = `it did not react to a stop within ${STUCK_MS / 1_000} s`;
      timers.push(
        setTimeout(() => resolve(undefined), LAST_WORDS_MS),
        setTimeout(() => engine.kill(why), STUCK_MS),
      );
    };
    // A mode applies from the next turn on. Explicit requests may write in any mode.
    const isPlain = [remember, edit, merge].every((part) => part === undefined);
    const limits = isPlain ? narrowed(this.session.limits, toolSet) : { access: "write" } as const;
    this.#isStopped = false;
    this.#state = { phase: "running", limits, stop };
    this.#ports.letFetch(sessionId, pages);
    const answered: Promise<PromptResponse> = Promise.race([died, engine.prompt(sessionId, blocks, details)])
      .finally(() => timers.forEach((timer) => clearTimeout(timer)));
    turn.sent();
    try {
      const answer = await Promise.race([answered, stopped]);
      if (answer !== undefined) return turnEnd(answer);
    } finally {
      this.#state = { phase: "between" };
    }
    this.#stopping = answered.then(() => {}, () => {}).finally(() => this.#stopping = undefined);
    return CANCELLED;
  }
}

type EngineTurnEnd = Pick<Extract<Update, { type: "turn_done" }>, "reason" | "problem">;

const CANCELLED: EngineTurnEnd = { reason: "cancelled" };

function turnEnd({ stopReason, _meta }: PromptResponse): EngineTurnEnd {
  const problem = ours(TurnEndMeta, _meta)?.problem;
  return { reason: stopReason, ...defined({ problem: problem && oneLine(problem, LONGEST_NOTICE) }) };
}

function engineGone(how: string): string {
  return `The engine stopped (${how}). The next message continues the stored session.`;
}
