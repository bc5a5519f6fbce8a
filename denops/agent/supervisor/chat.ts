/** One chat: its messages go to its engine one after the other. */
import type { PromptResponse } from "@agentclientprotocol/sdk";
import type { Update } from "../protocol/ui.ts";
import type { Engine } from "./engine.ts";
import { visible } from "./visible.ts";

export interface ChatSession {
  readonly engine: Engine;
  readonly sessionId: string;
}

export interface ChatPorts {
  push(update: Update): void;
  /** The chat's engine and session: the stored one, else a new one. @throws {Error} one line. */
  connect(stored: string | undefined): Promise<ChatSession>;
  /** The turn is over: nothing of it waits any longer. */
  settle(): void;
}

/** An engine that has not ended its turn so long after a stop is ended itself. */
const STUCK_MS = 5_000;

export class Chat {
  readonly id: number;
  readonly #ports: ChatPorts;
  #queue: string[] = [];
  #running = false;
  /** Ends the wait for the engine to start. */
  #stopStarting: (() => void) | undefined;
  /** Runs from a stop to the end of its turn. */
  #patience: ReturnType<typeof setTimeout> | undefined;
  #session: ChatSession | undefined;
  /** What the chat goes on with when it has no session. */
  #stored: string | undefined;
  #connecting: Promise<ChatSession> | undefined;

  constructor(id: number, ports: ChatPorts) {
    this.id = id;
    this.#ports = ports;
  }

  get sessionId(): string | undefined {
    return this.#session?.sessionId;
  }

  /** The engine that has the session open. */
  get engine(): Engine | undefined {
    return this.#session?.engine;
  }

  /** The chat shows this stored session: the next message goes on with it. */
  resume(stored: string | undefined): void {
    this.#stored = stored ?? this.#stored;
  }

  /** The session of this chat, begun if need be. @throws {Error} one line */
  async session(): Promise<ChatSession> {
    if (this.#session !== undefined) return this.#session;
    this.#connecting ??= this.#ports.connect(this.#stored)
      .then((session) => this.#session = session)
      .finally(() => this.#connecting = undefined);
    return await this.#connecting;
  }

  prompt(text: string): void {
    this.#queue.push(text);
    if (!this.#running) this.#run();
  }

  /** Stops the turn and takes back what waits. */
  cancel(): void {
    const unsent = this.#queue.splice(0);
    if (unsent.length > 0) this.#ports.push({ type: "unsent", chat: this.id, texts: unsent });
    if (!this.#running) return;
    this.#stopStarting?.();
    if (this.#session !== undefined) this.#stopPrompt(this.#session);
    this.#ports.settle();
  }

  #stopPrompt({ engine, sessionId }: ChatSession): void {
    engine.cancel(sessionId);
    const why = `it did not react to a stop within ${STUCK_MS / 1_000} s`;
    this.#patience ??= setTimeout(() => engine.kill(why), STUCK_MS);
  }

  /** The engine is gone; what it has stored is not. A turn that runs says so at its end. */
  forget(engine: Engine, how: string): void {
    if (this.#session?.engine !== engine) return;
    this.#stored = this.#session.sessionId;
    this.#session = undefined;
    if (this.#running) return;
    this.#ports.push({ type: "notice", chat: this.id, severity: "error", text: visible(engineGone(how)) });
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let text = this.#queue.shift(); text !== undefined; text = this.#queue.shift()) {
      await this.#turn(text);
    }
    this.#running = false;
  }

  async #turn(text: string): Promise<void> {
    const chat = this.id;
    this.#ports.push({ type: "turn_started", chat });
    try {
      const session = await this.#connectUnlessStopped();
      // Stopped while the engine was starting: the model is not asked at all.
      const reason = session === undefined ? "cancelled" : await this.#prompt(session, text);
      this.#ports.settle();
      this.#ports.push({ type: "turn_done", chat, reason });
    } catch (error) {
      this.#ports.settle();
      const said = error instanceof Error ? error.message : String(error);
      const unsent = this.#queue.splice(0);
      this.#ports.push({ type: "turn_done", chat, reason: "error", error: visible(said) });
      if (unsent.length > 0) this.#ports.push({ type: "unsent", chat, texts: unsent });
    } finally {
      clearTimeout(this.#patience);
      this.#patience = undefined;
    }
  }

  /** Undefined if the user stops it; the engine goes on starting, for the next message. */
  async #connectUnlessStopped(): Promise<ChatSession | undefined> {
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    this.#stopStarting = () => resolve(undefined);
    try {
      return await Promise.race([this.session(), stopped]);
    } finally {
      this.#stopStarting = undefined;
    }
  }

  async #prompt({ engine, sessionId }: ChatSession, text: string): Promise<string> {
    const died = engine.ended.then((how): never => {
      this.forget(engine, how);
      throw new Error(engineGone(how));
    });
    died.catch(() => {});
    const answer: PromptResponse = await Promise.race([died, engine.prompt(sessionId, text)]);
    return answer.stopReason;
  }
}

function engineGone(how: string): string {
  return `The engine stopped (${how}). The next message goes on from what is stored.`;
}
