/** An engine's reports about a session: the turn on screen, its costs and its mode. */
import type { SessionNotification } from "../../../deps/acp_sdk.ts";
import { ours } from "../../../protocol/extensions.ts";
import { UsageMeta } from "../../../protocol/update_meta.ts";
import { trace } from "../../../protocol/trace.ts";
import { today } from "../../../shared/today.ts";
import type { EngineListeners } from "../../agents/engine.ts";
import { Increments } from "../../gate/ledger.ts";
import { screenUpdates } from "../../screen/updates.ts";
import { oneLine, plainAnswer } from "../../screen/visible.ts";
import { engineTrace } from "../../system/trace_file.ts";
import type { ClientContext } from "../context.ts";

/** Steps of a plan that are kept for tools. */
const MOST_STEPS = 100;

export function sessionUpdates(
  { ports, ledger, agents }: ClientContext,
): (notification: SessionNotification) => void {
  const { push, chatOf, ownerOf } = ports;
  const costs = new Increments();
  const report = ({ sessionId, update }: SessionNotification) => {
    // Stopped turns cost money too.
    if (ownerOf(sessionId) !== undefined && update.sessionUpdate === "usage_update" && update.cost) {
      const request = ours(UsageMeta, update._meta)?.cost;
      ledger.add(today(), costs.next(sessionId, update.cost.amount, request));
    }
    const chat = chatOf(sessionId);
    if (chat === undefined) return;
    // The user chooses the mode; the engine may only narrow it.
    if (update.sessionUpdate === "current_mode_update") return ports.narrow(chat, update.currentModeId);
    if (update.sessionUpdate === "plan") agents.plans.set(sessionId, update.entries.slice(0, MOST_STEPS));
    const since = trace?.now();
    screenUpdates(chat, update).forEach(push);
    trace?.span("update", since);
  };
  return (notification) => {
    if (ownerOf(notification.sessionId) !== undefined) return report(notification);
    // An update after the answer to session/new may arrive before a chat knows that session.
    setTimeout(() => {
      try {
        report(notification);
      } catch {
        // One bad update must not end the connection.
      }
    });
  };
}

export function turnListeners(
  { ports: { push, chatOf, ownerOf } }: ClientContext,
): Pick<EngineListeners, "aside" | "retry" | "tools" | "trace"> {
  const takeSpans = engineTrace();
  return {
    trace: (_, { spans }) => takeSpans(spans),
    tools(sessionId, { available }) {
      const report = () => {
        const chat = ownerOf(sessionId);
        if (chat !== undefined) push({ type: "agent_state", chat, has_tools: available });
      };
      // The chat may not know a new session yet.
      if (ownerOf(sessionId) === undefined) setTimeout(report);
      else report();
    },
    // The answer to a side question is shown regardless of the turn.
    aside(sessionId, { id, text }) {
      const chat = ownerOf(sessionId);
      const request = Number(id);
      if (chat !== undefined && Number.isSafeInteger(request)) {
        push({ type: "aside_text", chat, request, text: plainAnswer(text) });
      }
    },
    retry(sessionId, { attempt, tries, waitMs, reason }) {
      const chat = chatOf(sessionId);
      if (chat === undefined) return;
      push({ type: "retry", chat, attempt, tries, wait_ms: waitMs, reason: oneLine(reason) });
    },
  };
}
