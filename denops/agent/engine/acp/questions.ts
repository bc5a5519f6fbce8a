/** Asks the user questions, as ACP's elicitation of one string. */
import {
  type AgentContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
} from "../../deps/acp_sdk.ts";
import { META } from "../../protocol/extensions.ts";
import type { Questions } from "../ports/approvals.ts";

export function acpQuestions(client: AgentContext, sessionId: string): Questions {
  return {
    async ask(question, options, toolCall, signal) {
      const choices = options.length === 0 ? {} : { description: `For example: ${options.join(", ")}` };
      const request: CreateElicitationRequest = {
        mode: "form",
        sessionId,
        toolCallId: toolCall,
        message: question,
        requestedSchema: {
          type: "object",
          properties: { answer: { type: "string", title: "Answer", ...choices } },
          required: ["answer"],
        },
        _meta: { [META]: { options: [...options] } },
      };
      const cancellation = { cancellationSignal: signal, stopWaitingOnCancel: true };
      const response = await client.request(methods.client.elicitation.create, request, cancellation);
      const answer = response.action === "accept" ? contentOf(response)?.answer : undefined;
      return typeof answer === "string" && answer.trim() !== "" ? answer : undefined;
    },
  };
}

/** The SDK also types future actions, whose fields are unknown. */
function contentOf(response: CreateElicitationResponse): Readonly<Record<string, unknown>> | undefined {
  const content = "content" in response ? response.content : undefined;
  return typeof content === "object" && content !== null ? { ...content } : undefined;
}
