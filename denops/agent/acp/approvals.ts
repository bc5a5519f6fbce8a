/** Converts approvals and questions to requests of ACP, and the client's answers to actions. Pure. */
import { join } from "node:path";
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ToolCallContent,
} from "../deps/acp_sdk.ts";
import type { ActionInput } from "../protocol/actions.ts";
import { OPTION } from "../protocol/extensions.ts";
import type { ApprovalUpdate, EffectRow } from "../protocol/ui.ts";
import { defined } from "../shared/records.ts";
import { fenced } from "../shared/text/text.ts";
import { type CallView, textBlock } from "./updates.ts";

type Question = Extract<ApprovalUpdate, { kind: "question" }>;
type Request = Omit<RequestPermissionRequest, "sessionId">;

/** Option ids of a question's suggested answers. */
const ANSWER = "answer_";
/** Option id: keeps all changes of a command, also those that are left out by default. */
const ALLOW_ALL = "allow_all";

/**
 * @param call what the client knows of the call
 * @param root of the project
 */
export function permissionRequest(approval: ApprovalUpdate, call: CallView, root: string): Request {
  const { tool, request, title } = approval;
  const { kind, locations, diffs = [] } = call;
  const content = approval.kind === "effects" ? effectDiffs(approval.effects, root) : diffs;
  return {
    toolCall: {
      toolCallId: tool === "" ? `approval-${request}` : tool,
      title,
      status: "pending",
      content: [{ type: "content", content: textBlock(details(approval, root)) }, ...content],
      ...defined({ kind, locations }),
    },
    options: approval.kind === "question" ? questionOptions(approval) : approvalOptions(approval),
  };
}

function approvalOptions(approval: ApprovalUpdate): PermissionOption[] {
  const { suggestion } = approval;
  const all = "Allow all, also the sensitive ones";
  return [
    { optionId: OPTION.allowOnce, name: "Allow once", kind: "allow_once" },
    ...hasLeft(approval) ? [{ optionId: ALLOW_ALL, name: all, kind: "allow_once" as const }] : [],
    { optionId: OPTION.allowSession, name: "Allow for this session", kind: "allow_always" },
    ...suggestion === undefined
      ? []
      : [{ optionId: OPTION.allowAlways, name: `Always allow ${suggestion}`, kind: "allow_always" as const }],
    { optionId: OPTION.reject, name: "Reject", kind: "reject_once" },
  ];
}

function hasLeft(approval: ApprovalUpdate): boolean {
  return approval.kind === "effects" && approval.effects.some(({ state }) => state === "left");
}

/** Undefined: the client cancelled the turn. */
export function permissionAction(
  approval: ApprovalUpdate,
  { outcome }: RequestPermissionResponse,
): ActionInput | undefined {
  if (outcome.outcome !== "selected") return undefined;
  const { request, suggestion } = approval;
  const allow = { type: "answer", request, option: OPTION.allowOnce } as const;
  const option = String(outcome.optionId);
  if (approval.kind === "question") {
    const answer = option.startsWith(ANSWER)
      ? approval.options[Number(option.slice(ANSWER.length))]
      : undefined;
    return { type: "answer_question", request, ...defined({ answer }) };
  }
  switch (option) {
    case OPTION.allowOnce:
    case OPTION.allowSession:
      return { type: "answer", request, option };
    case ALLOW_ALL:
      if (approval.kind === "effects") {
        return {
          ...allow,
          kept: approval.effects.map(({ number }) => number),
        };
      }
      break;
    case OPTION.allowAlways:
      if (suggestion !== undefined) return { type: "answer", request, option, rule: suggestion };
      break;
    case OPTION.reject:
      return { type: "answer", request, option };
  }
  return notUnderstood(request);
}

/** An answer that nobody offered allows nothing. */
export function notUnderstood(request: number): ActionInput {
  const reason = "the client's answer was not understood";
  return { type: "answer", request, option: OPTION.reject, reason, rule: "unknown answer" };
}

function details(approval: ApprovalUpdate, root: string): string {
  const asker = approval.agent === undefined ? [] : [`The sub-agent "${approval.agent}" asks.`];
  const because = approval.reason === "" ? [] : [`Asks because: ${approval.reason}.`];
  const reason = [...asker, ...because].join(" ");
  switch (approval.kind) {
    case "command": {
      const place = `In \`${join(root, approval.folder)}\`.`;
      return [fenced(approval.command, "sh"), [place, ...asker, ...because].join(" ")].join("\n");
    }
    case "effects": {
      const rows = approval.effects.map(effectLine).join("\n");
      const end = [`${approval.end}.`, ...asker, ...because].join(" ");
      return [fenced(approval.command, "sh"), end, rows].join("\n\n");
    }
    case "other":
      return [
        ...reason === "" ? [] : [reason],
        ...approval.detail === undefined ? [] : [fenced(approval.detail)],
      ].join("\n\n");
    case "question":
      return approval.question;
    case "file":
      return reason;
  }
}

function effectLine({ path, from, what, added, removed, note, state }: EffectRow): string {
  const counts = added === undefined ? "" : ` +${added} -${removed ?? 0}`;
  const moved = from === undefined ? "" : ` from \`${from}\``;
  const end = state === "kept" ? "" : state === "left" ? " (not kept)" : " (cannot be kept)";
  return `- ${what} \`${path}\`${moved}${counts}${note === undefined ? "" : `: ${note}`}${end}`;
}

function effectDiffs(effects: readonly EffectRow[], root: string): readonly ToolCallContent[] {
  return effects.flatMap(({ path, before, after }): readonly ToolCallContent[] =>
    after === undefined
      ? []
      : [{ type: "diff", path: join(root, path), oldText: before ?? null, newText: after }]
  );
}

function questionOptions({ options }: Question): PermissionOption[] {
  return [
    ...options.map((name, index) => ({
      optionId: `${ANSWER}${index}`,
      name,
      kind: "allow_once" as const,
    })),
    { optionId: OPTION.reject, name: "No answer", kind: "reject_once" },
  ];
}

/** For clients that show forms. */
export function elicitation(question: Question, sessionId: string): CreateElicitationRequest {
  const { options, tool } = question;
  const choices = options.length === 0 ? {} : { description: `For example: ${options.join(", ")}` };
  return {
    mode: "form",
    sessionId,
    message: question.question,
    requestedSchema: {
      type: "object",
      properties: { answer: { type: "string", title: "Answer", ...choices } },
      required: ["answer"],
    },
    ...(tool === "" ? {} : { toolCallId: tool }),
  };
}

/** Undefined: the client cancelled the turn. */
export function elicitationAction(
  { request }: Question,
  response: CreateElicitationResponse,
): ActionInput | undefined {
  if (response.action === "cancel") return undefined;
  const content: unknown = "content" in response ? response.content : undefined;
  const answer = typeof content === "object" && content !== null && "answer" in content
    ? content.answer
    : undefined;
  const isAnswer = response.action === "accept" && typeof answer === "string" && answer.trim() !== "";
  return { type: "answer_question", request, ...(isAnswer ? { answer } : {}) };
}
