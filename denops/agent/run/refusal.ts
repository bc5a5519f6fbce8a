/** The reasons of refusals: nobody can approve a call of a run. Pure. */
import { rulesIn } from "../protocol/access.ts";
import type { ApprovalUpdate } from "../protocol/ui.ts";

/** For the model, and for the user where the approval has no better reason. */
export const NO_APPROVAL = "no rule allows it, and nobody can approve it in this run";
export const NO_SANDBOX = "commands do not run here without a sandbox";

/**
 * The reason for the user, as half a sentence.
 * @param uncovered with `--unsandboxed`: why its rules do not cover a command line
 */
export function refusalReason(
  approval: ApprovalUpdate,
  uncovered: ((command: string) => string) | undefined,
): string {
  if (hasNoSandbox(approval)) {
    const why = uncovered?.(approval.command) ?? "see --unsandboxed";
    return `${NO_SANDBOX}; ${why}`;
  }
  if (approval.kind !== "effects") return approval.reason || NO_APPROVAL;
  const { effects, reason } = approval;
  const files = effects.reduce((sum, { count = 1 }) => sum + count, 0);
  const changed = `it changed ${files === 1 ? "1 file" : `${files} files`}`;
  if (reason === "") return `${changed}, which no rule keeps`;
  // If all changes are sensitive, all are offered.
  const left = effects.filter(({ state }) => state === "left");
  const sensitive = left.length > 0 ? left : effects.filter(({ state }) => state === "kept");
  return `${changed}, and no rule keeps the sensitive ones: ${sensitive.map(({ path }) => path).join(", ")}`;
}

/** The rules that would allow it. A rule for a command does not keep its sensitive changes. */
export function refusalRules(approval: ApprovalUpdate): readonly string[] | undefined {
  const { suggestion, reason } = approval;
  if (suggestion === undefined || (approval.kind === "effects" && reason !== "")) return undefined;
  return rulesIn(suggestion);
}

/** A command that would run without a sandbox. */
export function hasNoSandbox(
  approval: ApprovalUpdate,
): approval is Extract<ApprovalUpdate, { kind: "command" }> {
  return approval.kind === "command" && approval.access === undefined;
}

/** The reason for a stop at a limit, without its question. */
export function limitReason({ reason }: ApprovalUpdate): string {
  return reason.replace(/\s*[^.;]*\?$/, "");
}
