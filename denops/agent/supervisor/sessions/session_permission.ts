/**
 * The permission of a chat's session: the actions that need no approval. The user's choice belongs to one session and to
 * this chat. It is stored nowhere, and neither the engine nor a file can make it. A session that has used the network is
 * never loosened.
 */
import { isLoosened } from "../../policy/session_permission.ts";
import type { SessionPermission } from "../../protocol/access.ts";
import type { Severity, Update } from "../../protocol/ui.ts";
import { messageOf } from "../../shared/errors.ts";
import type { OpenProjects } from "../client/open_projects.ts";
import type { TrustedSession } from "../gate/approval_view.ts";

interface PermissionPorts {
  push(update: Update): void;
  notice(severity: Severity, text: string): void;
  readonly projects: Pick<OpenProjects, "networkBook">;
}

/** For a session that no chat has, or whose choice is unknown. */
export const UNTRUSTED: TrustedSession = { permission: "default", isTainted: true, taint: () => {} };

const TAINTED = "text from there may tell the model what to do";

const CANNOT_LOOSEN =
  `Cannot loosen this session: it has used the network, and ${TAINTED}. Start a new one: :Agent new.`;

export class ChatPermission {
  readonly #chat: number;
  readonly #ports: PermissionPorts;
  #choice: SessionPermission = "default";
  /** The session of the choice; undefined: the new one that the chat begins with. */
  #session: string | undefined;
  readonly #tainted = new Set<string>();
  /** Number of choices so far: a newer one replaces one that is still being checked. */
  #choices = 0;

  constructor(chat: number, ports: PermissionPorts) {
    this.#chat = chat;
    this.#ports = ports;
  }

  /** A session of this chat, as it is at any later time. */
  trust(sessionId: string): TrustedSession {
    const of = () => sessionId === this.#session ? this.#choice : "default";
    const isTainted = () => this.#tainted.has(sessionId);
    return {
      get permission() {
        return of();
      },
      get isTainted() {
        return isTainted();
      },
      taint: () => this.#taint(sessionId),
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
      if (session !== undefined) await this.#read(session);
      if (number !== this.#choices) return;
      if (!isHeld) {
        throw new Error("Cannot run commands unasked: they have no sandbox. Run :checkhealth agent.");
      }
      if (this.#tainted.has(session ?? this.#session ?? "")) throw new Error(CANNOT_LOOSEN);
    }
    this.#choice = choice;
    // The chat's new session may have opened meanwhile.
    this.#session = session ?? this.#session;
    this.#report();
  }

  /** The chat's session opens. A choice for another session ends, also one that is still being checked. */
  async opened(session: string, isNew: boolean): Promise<void> {
    if (!isNew && session !== this.#session) this.#choices++;
    // A book that cannot be read may name this session.
    await this.#read(session).catch(() => this.#tainted.add(session));
    const isChosen = this.#session === session || (this.#session === undefined && isNew);
    if (!isChosen || (isLoosened(this.#choice) && this.#tainted.has(session))) this.#choice = "default";
    this.#session = session;
    this.#report();
  }

  /**
   * A message attaches an earlier session to this one. Only the engine knows which, so each one that has used the network
   * counts.
   */
  async attachesSession(session: string): Promise<void> {
    const tainted = await this.#ports.projects.networkBook.sessionsWith(true).catch(() => undefined);
    if (tainted?.every((id) => id === session)) return;
    this.#taint(session, "The earlier session may have used the network");
  }

  /** @throws {Error} one line */
  async #read(session: string): Promise<void> {
    if (await this.#ports.projects.networkBook.of(session)) this.#tainted.add(session);
  }

  #taint(session: string, reason = "This session uses the network"): void {
    if (this.#tainted.has(session)) return;
    this.#tainted.add(session);
    this.#store(session).catch((error) => this.#ports.notice("warning", messageOf(error)));
    if (session !== this.#session) return;
    const wasLoosened = isLoosened(this.#choice);
    if (wasLoosened) this.#choice = "default";
    this.#report();
    if (!wasLoosened) return;
    this.#ports.notice(
      "warning",
      `${reason}, and ${TAINTED}: from here on it asks as usual.`,
    );
  }

  async #store(session: string): Promise<void> {
    await this.#ports.projects.networkBook.note(session, true);
  }

  #report(): void {
    const refusal = this.#tainted.has(this.#session ?? "") ? CANNOT_LOOSEN : "";
    this.#ports.push({ type: "agent_state", chat: this.#chat, permission: this.#choice, refusal });
  }
}
