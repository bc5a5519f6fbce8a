/** A store that lasts as long as the engine. */
import type { AgentEvent } from "../core/events.ts";
import type { Message } from "../core/messages.ts";
import type { Store, StoredSession } from "../core/ports.ts";

interface Entry {
  readonly session: StoredSession;
  readonly events: AgentEvent[];
  readonly messages: Message[];
}

export class MemoryStore implements Store {
  readonly #entries = new Map<string, Entry>();

  createSession(session: StoredSession): void {
    this.#entries.set(session.id, { session, events: [], messages: [] });
  }

  session(id: string): StoredSession | undefined {
    return this.#entries.get(id)?.session;
  }

  appendEvent(session: string, event: AgentEvent): void {
    this.#entry(session).events.push(event);
  }

  events(session: string): readonly AgentEvent[] {
    return this.#entry(session).events;
  }

  appendMessage(session: string, message: Message): void {
    this.#entry(session).messages.push(message);
  }

  messages(session: string): readonly Message[] {
    return this.#entry(session).messages;
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`no session ${id}`);
    return entry;
  }
}
