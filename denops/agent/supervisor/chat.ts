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
  /** The chat's engine and session, started if need be. @throws {Error} one line. */
  connect(): Promise<ChatSession>;
  /** The turn is over: nothing of it waits any longer. */
  settle(): void;
}

export class Chat {
  readonly id: number;
  readonly #ports: ChatPorts;
  #queue: string[] = [];
  #running = false;
  #cancelled = false;
  #session: { engine: Engine; sessionId: string } | undefined;

  constructor(id: number, ports: ChatPorts) {
    this.id = id;
    this.#ports = ports;
  }

  get sessionId(): string | undefined {
    return this.#session?.sessionId;
  }

  /** The session of this chat, begun if need be. @throws {Error} one line */
  async session(): Promise<ChatSession> {
    return this.#session ??= await this.#ports.connect();
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
    this.#cancelled = true;
    this.#session?.engine.cancel(this.#session.sessionId);
    this.#ports.settle();
  }

  /** The engine is gone, and with it what it knew of this conversation. */
  forget(engine: Engine): void {
    if (this.#session?.engine === engine) this.#session = undefined;
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
    this.#cancelled = false;
    this.#ports.push({ type: "turn_started", chat });
    try {
      this.#session ??= await this.#ports.connect();
      const { engine, sessionId } = this.#session;
      // Stopped while the engine was starting: the model is not asked at all.
      const reason = this.#cancelled ? "cancelled" : await this.#prompt(engine, sessionId, text);
      this.#ports.settle();
      this.#ports.push({ type: "turn_done", chat, reason });
    } catch (error) {
      this.#ports.settle();
      const said = error instanceof Error ? error.message : String(error);
      const unsent = this.#queue.splice(0);
      this.#ports.push({ type: "turn_done", chat, reason: "error", error: visible(said) });
      if (unsent.length > 0) this.#ports.push({ type: "unsent", chat, texts: unsent });
    }
  }

  async #prompt(engine: Engine, sessionId: string, text: string): Promise<string> {
    const died = engine.ended.then((how): never => {
      throw new Error(
        `The engine stopped (${how}). What it knew of this conversation is gone; the next message starts a new one.`,
      );
    });
    died.catch(() => {});
    const answer: PromptResponse = await Promise.race([died, engine.prompt(sessionId, text)]);
    return answer.stopReason;
  }
}
