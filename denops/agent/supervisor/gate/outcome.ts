/** The answer to an engine's permission request. Pure. */
import type { RequestPermissionResponse } from "../../deps/acp_sdk.ts";
import { type AnswerMeta, META, OPTION } from "../../protocol/extensions.ts";

export type ApprovalChoice = (typeof OPTION)[keyof typeof OPTION];

export const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** "Always" writes our own rule; the engine only gets "once". */
export function outcomeOf(choice: ApprovalChoice, meta: AnswerMeta): RequestPermissionResponse {
  const optionId = choice === OPTION.allowAlways ? OPTION.allowOnce : choice;
  return { outcome: { outcome: "selected", optionId, _meta: { [META]: meta } } };
}
