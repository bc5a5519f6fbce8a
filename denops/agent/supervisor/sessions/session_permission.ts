/**
 * The permission of a chat's session: the actions that need no approval. The user's choice belongs to one session and to
 * this chat. It is stored nowhere, and neither the engine nor a file can make it. A session that has used the network or
 * read foreign text is never loosened.
 */
import { foreignReason, type ForeignSource } from "../../policy/foreign.ts";
import { isLoosened } from "../../policy/session_permission.ts";
import type { SessionPermission } from "../../protocol/access.ts";
import type { Severity, Update } from "../../protocol/ui.ts";
import { messageOf } from "../../shared/errors.ts";
import type { OpenProjects } from "../client/open_projects.ts";
import type { TrustedSession } from "../gate/approval_view.ts";
import type { Taints } from "../gate/taints.ts";

interface PermissionPorts {
  push(update: Update): void;
  notice(severity: Severity, text: string): void;
  readonly projects: Pick<OpenProjects, "taints">;
}

/** For a session that no chat has, or whose choice is unknown. */
export const UNTRUSTED: TrustedSession = {
  permission: "default",
  isTainted: true,
  foreign: "unknown",
  taint: () => {},
};

const TAINTED = "text from there may tell the model what to do";

export class ChatPermission {
  readonly #chat: number;
  readonly #ports: PermissionPorts;
  #choice: SessionPermission = "default";
  /** The session of the choice; undefined: the new one that the chat begins with. */
  #session: string | undefined;
  /** Number of choices so far: a newer one replaces one that is still being checked. */
  #choices = 0;

  constructor(chat: number, ports: PermissionPorts) {
    this.#chat = chat;
    this.#ports = ports;
  }

  /** A session of this chat, as it is at any later time. */
  trust(sessionId: string): TrustedSession {
    const of = () => sessionId === this.#session ? this.#choice : "default";
    const taints = this.#taints;
    return {
      get permission() {
        return of();
      },
      get isTainted() {
        return taints.hasUsedNetwork(sessionId);
      },
      get foreign() {
        return taints.foreign(sessionId);
      },
      taint: (source) => this.#taint(sessionId, source),
    };
  }

  /**
   * @param session the chat's, if it has one @param isSandboxed whether its commands have a sandbox
   * @throws {Error} one line, if the session must not be loosened
   */
  async choose(
    choice: SessionPermission,
    session: string | undefined,
    isSandboxed: () => Promise<boolean>,
  ): Promise<void> {
    const number = ++this.#choices;
    if (isLoosened(choice)) {
      const isHeld = choice === "sensitive" || await isSandboxed();
      if (session !== undefined) await this.#taints.read(session, session === this.#session);
      if (number !== this.#choices) return;
      if (!isHeld) {
        throw new Error("Cannot run commands unasked: they have no sandbox. Run :checkhealth agent.");
      }
      const refusal = this.#refusal(session ?? this.#session ?? "");
      if (refusal !== "") throw new Error(refusal);
    }
    this.#choice = choice;
    // The chat's new session may have opened meanwhile.
    this.#session = session ?? this.#session;
    this.#report();
  }

  /** The chat's session opens. A choice for another session ends, also one that is still being checked. */
  async opened(session: string, isNew: boolean): Promise<void> {
    if (!isNew && session !== this.#session) this.#choices++;
    // A book that cannot be read may name this session, which is then tainted.
    await this.#taints.read(session, isNew).catch(() => {});
    const isChosen = this.#session === session || (this.#session === undefined && isNew);
    if (!isChosen || (isLoosened(this.#choice) && this.#taints.hasUsedNetwork(session))) {
      this.#choice = "default";
    }
    this.#session = session;
    this.#report();
  }

  /** A stored session is on screen, and not open. */
  async show(session: string): Promise<void> {
    await this.#taints.read(session, false).catch(() => {});
    this.#ports.push({ type: "agent_state", chat: this.#chat, untrusted: this.#untrusted(session) });
  }

  /**
   * A message attaches an earlier session to this one. Only the engine knows which, so each one that has used the network
   * or read foreign text counts.
   */
  async attachesSession(session: string): Promise<void> {
    await this.#taints.attach(session).catch((error) => this.#warn(error));
    this.#tighten(session, "The earlier session may have used the network");
  }

  #taint(session: string, source: ForeignSource | undefined): void {
    const taints = this.#taints;
    if (source === undefined ? taints.hasUsedNetwork(session) : taints.foreign(session) !== undefined) return;
    const stored = source === undefined ? taints.addNetwork(session) : taints.addForeign(session, source);
    stored.catch((error) => this.#warn(error));
    const reason = source === undefined
      ? "This session uses the network"
      : foreignReason(source, "This session");
    this.#tighten(session, reason);
  }

  /** Ends what a tainted session did unasked. @param reason the first half of the notice */
  #tighten(session: string, reason: string): void {
    if (session !== this.#session || !this.#taints.hasUsedNetwork(session)) return;
    const wasLoosened = isLoosened(this.#choice);
    if (wasLoosened) this.#choice = "default";
    this.#report();
    if (wasLoosened) {
      this.#ports.notice("warning", `${reason}, and ${TAINTED}: from here on it asks as usual.`);
    }
  }

  #warn(error: unknown): void {
    this.#ports.notice("warning", messageOf(error));
  }

  #refusal(session: string): string {
    if (!this.#taints.hasUsedNetwork(session)) return "";
    const source = this.#taints.foreign(session);
    const reason = source === undefined ? "it has used the network" : foreignReason(source, "it");
    return `Cannot loosen this session: ${reason}, and ${TAINTED}. Start a new one: :Agent new.`;
  }

  /** The reason why the network and sensitive writes ask; "" if they do not. */
  #untrusted(session: string): string {
    const source = this.#taints.foreign(session);
    return source === undefined ? "" : foreignReason(source);
  }

  #report(): void {
    const session = this.#session ?? "";
    const [refusal, untrusted] = [this.#refusal(session), this.#untrusted(session)];
    this.#ports.push({
      type: "agent_state",
      chat: this.#chat,
      permission: this.#choice,
      refusal,
      untrusted,
    });
  }

  get #taints(): Taints {
    return this.#ports.projects.taints;
  }
}
