/** The chats on screen, and the projects that they work in. */
import type { Severity, Update } from "../../protocol/ui.ts";
import type { Engine } from "../agents/engine.ts";
import type { ProviderWorld } from "../agents/provider.ts";
import type { RootQuery } from "../agents/root.ts";
import { Branches } from "../branches/branches.ts";
import { OpenProjects } from "../client/open_projects.ts";
import type { Gate } from "../gate/gate.ts";
import type { UserQuestions } from "../gate/questions.ts";
import type { EditorQuestions } from "../screen/editor_questions.ts";
import { Chat } from "./chat.ts";
import { UNTRUSTED } from "./session_permission.ts";

interface ChatsPorts {
  push(update: Update): void;
  notice(chat: number, severity: Severity, text: string): void;
  /** Neovim's environ(), undefined if Neovim does not answer; never rejects. */
  environment(): Promise<unknown>;
  readonly gate: Gate;
  readonly editor: EditorQuestions;
  readonly questions: UserQuestions;
  readonly world: ProviderWorld;
}

/** The user's location, and the stored session of the chat. */
interface ChatPlace extends RootQuery {
  readonly chat: number;
  readonly session?: string | undefined;
}

export class Chats implements AsyncDisposable {
  readonly projects: OpenProjects;
  readonly #ports: ChatsPorts;
  readonly #branches = new Branches();
  readonly #chats = new Map<number, Chat>();

  constructor(ports: ChatsPorts) {
    this.#ports = ports;
    const push = (update: Update) => {
      if ("chat" in update) this.find(update.chat)?.heard(update);
      ports.push(update);
    };
    this.projects = new OpenProjects({
      environment: ports.environment,
      isUsed: ({ engine }) => this.all.some(({ session }) => session.engine === engine),
      ended: ({ engine }, how) => this.all.forEach((chat) => chat.forget(engine, how)),
      project: {
        ...ports,
        push,
        narrow: (chat, mode) => this.find(chat)?.session.narrow(mode),
        ownerOf: (sessionId) => this.#owner(sessionId)?.id,
        chatOf: (sessionId) => {
          const owner = this.#owner(sessionId);
          return owner?.listens ? owner.id : undefined;
        },
        isIdle: () => this.all.every(({ worksIn }) => worksIn === undefined),
        isWorking: (chat) => this.find(chat)?.worksIn !== undefined,
        isStopped: (chat) => this.find(chat)?.isStopped === true,
        limitsOf: (chat) => this.find(chat)?.limits ?? { access: "read" },
        trustOf: (client, chat, sessionId) => this.find(chat)?.session.trust(client, sessionId) ?? UNTRUSTED,
      },
    });
  }

  get all(): readonly Chat[] {
    return [...this.#chats.values()];
  }

  find(id: number): Chat | undefined {
    return this.#chats.get(id);
  }

  /** The chat of this number, a new one if necessary. */
  of(id: number): Chat {
    const known = this.#chats.get(id);
    if (known !== undefined) return known;
    const chat = new Chat(id, {
      push: (update) => this.#ports.push(update),
      notice: (severity, text) => this.#ports.notice(id, severity, text),
      projects: this.projects,
      branches: this.#branches,
      isShared: (root) => this.all.some((other) => other.id !== id && other.worksIn === root),
      letFetch: (sessionId, urls) => {
        for (const url of urls) this.#ports.gate.approved.add(id, sessionId, { kind: "fetch", url });
      },
      settle: () => this.#settle(id),
    });
    this.#chats.set(id, chat);
    return chat;
  }

  /** The chat of an action, at the place where the user is. */
  at(place: ChatPlace): Chat {
    const chat = this.of(place.chat);
    chat.session.place(place, place.session);
    return chat;
  }

  close(id: number): void {
    const chat = this.find(id);
    chat?.cancel();
    this.#chats.delete(id);
    chat?.session.release((sessionId) => this.all.some(({ session }) => session.shows(sessionId)))
      // Its engine has ended.
      .catch(() => {});
  }

  /** The engine that has this session open for a chat; changed options may have started another engine since. */
  engineOf(sessionId: unknown): Engine | undefined {
    return this.all.find(({ session }) => session.id === sessionId)?.session.engine;
  }

  /** Resolves when no engine is busy with a stopped turn. */
  async stopped(): Promise<void> {
    await Promise.all(this.all.map((chat) => chat.stopped));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const chat of this.all) chat.end();
    await this.projects[Symbol.asyncDispose]();
  }

  #owner(sessionId: string): Chat | undefined {
    return this.all.find(({ session }) => session.owns(sessionId));
  }

  /** A chat's turn is over: cancels its questions and stops its commands, except background jobs. */
  #settle(id: number): void {
    this.#ports.gate.settle(id);
    this.#ports.questions.settle(id);
    const sessionId = this.find(id)?.session.id;
    if (sessionId === undefined) return;
    for (const opening of this.projects.all()) {
      opening.then(({ client }) => client.terminals.stopTurn(sessionId), () => {});
    }
  }
}
