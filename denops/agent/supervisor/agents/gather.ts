/** Joins the updates of agents that send each token separately. */
import type { SessionNotification } from "../../deps/acp_sdk.ts";
import { Pace } from "../../shared/pace.ts";

export class Gather {
  readonly #tell: (notification: SessionNotification) => void;
  readonly #pace = new Pace(() => this.#pass());
  #waiting: SessionNotification | undefined;

  /** @param tell never throws */
  constructor(tell: (notification: SessionNotification) => void) {
    this.#tell = tell;
  }

  add(notification: SessionNotification): void {
    const all = this.#waiting === undefined ? undefined : joined(this.#waiting, notification);
    if (all === undefined) this.flush();
    this.#waiting = all ?? notification;
    if (pieceOf(notification) !== undefined) this.#pace.heard();
    else this.flush();
  }

  /** Called before every request and answer, and at the end. */
  flush(): void {
    if (this.#waiting !== undefined) this.#pace.flush();
  }

  #pass(): void {
    const notification = this.#waiting;
    this.#waiting = undefined;
    if (notification !== undefined) this.#tell(notification);
  }
}

interface Piece {
  readonly kind: "agent_message_chunk" | "agent_thought_chunk";
  readonly message: string | undefined;
  readonly text: string;
}

/** Undefined for anything but plain text of a message or thought. */
function pieceOf({ update }: SessionNotification): Piece | undefined {
  const kind = update.sessionUpdate;
  if (kind !== "agent_message_chunk" && kind !== "agent_thought_chunk") return undefined;
  if (update.content.type !== "text" || update._meta) return undefined;
  return { kind, message: update.messageId ?? undefined, text: update.content.text };
}

/** One update for two, if the second continues the first. */
function joined(first: SessionNotification, next: SessionNotification): SessionNotification | undefined {
  const [before, piece] = [pieceOf(first), pieceOf(next)];
  if (before === undefined || piece === undefined || first.sessionId !== next.sessionId) return undefined;
  if (before.kind !== piece.kind || before.message !== piece.message) return undefined;
  const content = { type: "text" as const, text: before.text + piece.text };
  const messageId = piece.message === undefined ? {} : { messageId: piece.message };
  return { sessionId: next.sessionId, update: { sessionUpdate: piece.kind, content, ...messageId } };
}
