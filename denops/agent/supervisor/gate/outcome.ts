/** Maps the user's answer to an agent's own options. Pure. */
import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionResponse,
} from "../../deps/acp_sdk.ts";
import { AnswerMeta, META, type OPTION, ours } from "../../protocol/extensions.ts";

export type ApprovalChoice = (typeof OPTION)[keyof typeof OPTION];

/** By kind, the better option first: ids and names are the agent's own. */
const KINDS: Readonly<Record<ApprovalChoice, readonly PermissionOptionKind[]>> = {
  allow_once: ["allow_once"],
  allow_session: ["allow_always", "allow_once"],
  // "Always" writes our own rule; the agent only gets "once".
  allow_always: ["allow_once"],
  reject: ["reject_once", "reject_always"],
};

export const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** Cancels the request if the agent offers no matching option: it then does nothing. */
export function outcomeOf(
  choice: ApprovalChoice,
  options: readonly PermissionOption[],
  meta: AnswerMeta,
): RequestPermissionResponse {
  const fitting = KINDS[choice].map((kind) => options.find((option) => option.kind === kind));
  const optionId = fitting.find((option) => option !== undefined)?.optionId;
  if (optionId === undefined) return CANCELLED;
  return { outcome: { outcome: "selected", optionId, _meta: { [META]: meta } } };
}

/** The details of an approval; undefined if the answer is a rejection. */
export function approvalOf(
  { outcome }: RequestPermissionResponse,
  options: readonly PermissionOption[],
): AnswerMeta | undefined {
  if (outcome.outcome !== "selected") return undefined;
  const chosen = options.find(({ optionId }) => optionId === outcome.optionId);
  return chosen?.kind.startsWith("allow") ? ours(AnswerMeta, outcome._meta) ?? {} : undefined;
}
