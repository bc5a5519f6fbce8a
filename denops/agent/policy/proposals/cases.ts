/** Requests from the approval log, and the policy's answers to them under any rules. Pure. */
import type { Access, AccessOf } from "../../protocol/access.ts";
import { hasNetwork, levelOf } from "../../protocol/commands.ts";
import { type Circumstances, decide } from "../decide.ts";
import type { FileDecision } from "../file_access.ts";
import type { Rule } from "../rules.ts";

/** The session had used the network, or read foreign text, when the user was asked. */
export const TAINTS = ["none", "network", "foreign"] as const;
type Taint = (typeof TAINTS)[number];

/** A request of the log. Changes of a command that ran unasked belong to its case. */
export interface LoggedCase {
  readonly access: Exclude<Access, AccessOf<"effects" | "ask" | "nothing">>;
  readonly root: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** One line, for the screen. */
  readonly title: string;
  /** Answers of the user, or of rules, modes and options: "unasked" was allowed, "refused" was not. */
  readonly end: "allowed" | "rejected" | "stopped" | "unasked" | "refused";
  /** How it was approved, in one phrase. */
  readonly note: string;
  /** Whether the user was asked about the changes alone, and if so, whether some were sensitive. */
  readonly changes: "none" | "plain" | "sensitive";
  /** Unknown in old entries. */
  readonly taint: Taint | undefined;
  /** Only the user could answer, whatever rules say. */
  readonly isForced: boolean;
  /** The log has all of the access. */
  readonly isWhole: boolean;
  readonly tools: readonly string[];
}

/** Whether the user's answer counts for a rule that would have given it. */
export function isEvidence({ end, changes, taint, isForced, isWhole }: LoggedCase): boolean {
  if (isForced || !isWhole || taint === undefined) return false;
  if (end === "allowed") return taint === "none" && changes !== "sensitive";
  // A user who drops the changes of a command may want its output.
  return end === "rejected" && changes === "none";
}

export interface CaseJudgement {
  readonly verdict: FileDecision["verdict"];
  /** Changes of the command are kept without a question. */
  readonly keepsChanges: boolean;
}

/**
 * The policy's answer. A command that may run has its changes judged too.
 * @param base of the project
 * @param isClean judges it as in a session that has read no foreign text
 */
export function judgeCase(
  logged: LoggedCase,
  rules: readonly Rule[],
  base: Circumstances,
  isClean = false,
): CaseJudgement {
  const circumstances = circumstancesOf(logged, rules, base, isClean);
  if (logged.access.kind !== "command") {
    return { verdict: decide(logged.access, circumstances).decision.verdict, keepsChanges: false };
  }
  const { decision: { verdict }, rehearsed, agreed } = decide(logged.access, circumstances);
  const asksLater = logged.changes === "sensitive" || (logged.changes === "plain" && !agreed);
  return {
    verdict: verdict === "allow" && rehearsed && asksLater ? "ask" : verdict,
    keepsChanges: verdict === "allow" && rehearsed && agreed,
  };
}

/** The gate's proposal for it, as text; undefined if no rule would help. */
export function suggestionFor(
  logged: LoggedCase,
  rules: readonly Rule[],
  base: Circumstances,
): string | undefined {
  const circumstances = circumstancesOf(logged, rules, base, true);
  const { decision, always, suggestion } = decide(logged.access, { ...circumstances, commands: "ask" });
  return decision.verdict === "ask" && !always ? suggestion : undefined;
}

/** Nothing loosens the session. */
function circumstancesOf(
  { root, tools, taint }: LoggedCase,
  rules: readonly Rule[],
  base: Circumstances,
  isClean: boolean,
): Circumstances {
  return {
    ...base,
    rules,
    tools,
    reason: "",
    permission: "default",
    isTainted: true,
    foreign: taint === "foreign" && !isClean ? "unknown" : undefined,
    places: { ...base.places, root },
  };
}

/** The line that it runs. */
export function lineOf(access: LoggedCase["access"]): string | undefined {
  return access.kind === "command" || access.kind === "foreign" ? access.command : undefined;
}

/** Why it deserves a second look, as half a sentence; undefined: nothing is known. */
export function dangerOf({ access, root, changes }: LoggedCase, base: Circumstances): string | undefined {
  if (access.kind !== "command") return undefined;
  const places = { ...base.places, root };
  const { verdict: { severity, reason }, requestedAccess } = decide(access, { ...base, places });
  if (severity === "high" || severity === "critical") return reason;
  if (hasNetwork(requestedAccess)) return "uses the network";
  if (levelOf(requestedAccess) === "git") return "may change the repository";
  return changes === "sensitive" ? "changed sensitive files" : undefined;
}
