/** Asks the client's user for approval: ACP's permission requests with our own fields. */
import { type AgentContext, methods, type RequestPermissionRequest } from "../../deps/acp_sdk.ts";
import {
  AnswerMeta,
  type ApprovalMeta,
  META,
  OPTION,
  ours,
  PERMISSION_OPTIONS,
} from "../../protocol/extensions.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../ports/approvals.ts";
import { diffContents, diffLocations } from "./updates.ts";

export function permissionAsker(client: AgentContext, sessionId: string): AskApproval {
  return async (request, signal) => {
    try {
      const { outcome } = await client.request(
        methods.client.session.requestPermission,
        permissionRequest(sessionId, request),
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
      if (outcome.outcome !== "selected") return { answer: "cancelled" };
      return approvalAnswer(outcome.optionId, ours(AnswerMeta, outcome._meta) ?? {});
    } catch (error) {
      // The user stopped the turn, or the client cannot ask: nothing runs without approval.
      return signal.aborted ? { answer: "cancelled" } : { answer: "reject", reason: messageOf(error) };
    }
  };
}

function permissionRequest(
  sessionId: string,
  { call, diff, ...meta }: ApprovalRequest,
): RequestPermissionRequest {
  return {
    sessionId,
    toolCall: {
      toolCallId: call.id,
      title: call.title,
      kind: call.kind,
      status: "pending",
      locations: diff === undefined ? call.paths.map((path) => ({ path })) : diffLocations(diff),
      content: diffContents(diff),
      ...(meta.access.kind === "command" ? { rawInput: meta.access } : {}),
    },
    options: [...PERMISSION_OPTIONS],
    _meta: { [META]: meta satisfies ApprovalMeta },
  };
}

function approvalAnswer(option: string, meta: AnswerMeta): ApprovalAnswer {
  const { reason, rule, command, access, rehearsed, hosts } = meta;
  if (option !== OPTION.allowOnce && option !== OPTION.allowSession) {
    return { answer: "reject", ...defined({ rule, reason }) };
  }
  const answer = option === OPTION.allowOnce ? "allow_once" : "allow_session";
  return { answer, ...defined({ rule, command, access, rehearsed, hosts }) };
}
