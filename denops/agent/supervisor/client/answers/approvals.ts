/** Approvals and questions. */
import { toolUpdate } from "../../screen/tool_update.ts";
import type { AgentEvents } from "../../agents/connection.ts";
import type { ClientContext } from "../context.ts";

export function approvals(client: ClientContext): Pick<AgentEvents, "permission" | "question"> {
  const { push, gate, questions, chatOf } = client.ports;
  return {
    async permission(request) {
      const chat = chatOf(request.sessionId);
      if (chat === undefined) return { outcome: { outcome: "cancelled" } };
      // Agents may ask about a call that they never announced.
      push(toolUpdate(chat, request.toolCall));
      return await gate.permission(request, await client.gateContext(chat, request.sessionId));
    },
    async question(request) {
      const chat = "sessionId" in request ? chatOf(String(request.sessionId)) : undefined;
      return chat === undefined ? { action: "cancel" } : await questions.ask(request, chat);
    },
  };
}
