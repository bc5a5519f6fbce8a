/** Decides whether a command's changes over an overlay are kept. Pure. */
import type { SafeToWrite, UserConfig } from "../protocol/config.ts";
import { type ChangedKeys, type FileDecision, type NamedPath, namesOf, sensitivity } from "./file_access.ts";
import { type Rule, ruleText } from "./rules.ts";
import { foreignReason } from "./foreign.ts";
import { fileRule } from "./matching_rules.ts";
import type { SessionTrust } from "./session_permission.ts";

/** "kept" and "left" are defaults that the user can change; "refused" cannot be kept. */
export type EffectState = "kept" | "left" | "refused";

export interface JudgedEffect {
  readonly state: EffectState;
  /** Half a sentence. */
  readonly why?: string;
  /** A package manager wrote it, so approving the command approves it. */
  readonly packages?: boolean;
  /** A folder, which is kept with any of its contents. */
  readonly isFolder?: boolean;
}

export interface EffectRules {
  readonly rules: readonly Rule[];
  readonly safe_to_write: readonly SafeToWrite[];
}

export function judgeEffect(
  path: NamedPath,
  { rules, safe_to_write }: EffectRules,
  changed?: ChangedKeys,
): JudgedEffect {
  const rule = fileRule(rules, "write", path);
  if (rule?.verdict === "deny") return { state: "refused", why: `denied by rule ${ruleText(rule)}` };
  if (rule?.verdict === "ask") return { state: "left", why: `rule ${ruleText(rule)} asks` };
  if (rule?.verdict === "allow") return { state: "kept" };
  for (const name of namesOf(path)) {
    const row = sensitivity(name, safe_to_write, changed);
    if (row === undefined) continue;
    const why = row.reason ?? `matches ${row.glob}`;
    return row.packages === true ? { state: "kept", why, packages: true } : { state: "left", why };
  }
  return { state: "kept" };
}

/** The rules for a command's changes. In a session that has read foreign text, none allows a sensitive one. */
export function rulesOnChanges(
  rules: readonly Rule[],
  { foreign }: Pick<SessionTrust, "foreign">,
): readonly Rule[] {
  return foreign === undefined
    ? rules
    : rules.filter(({ kind, verdict }) => kind !== "write" || verdict !== "allow");
}

/** Whether a session that has read foreign text asks about a change, whatever rules say about the command. */
export function hasForeignRisk(
  effects: readonly JudgedEffect[],
  { foreign }: Pick<SessionTrust, "foreign">,
): boolean {
  return foreign !== undefined &&
    effects.some(({ state, packages }) => state === "left" || packages === true);
}

/** Whether anything can be approved beside sensitive changes, which are left out then unless the user chooses them. */
export function hasOrdinary(effects: readonly JudgedEffect[]): boolean {
  return effects.some(({ state, isFolder }) => state === "kept" && isFolder !== true);
}

/**
 * Whether the user is asked. Changes that cannot be kept are only reported.
 * @param agreed whether the command was approved before it ran @param byUser whether the user approved this very run
 */
export function decideEffects(
  effects: readonly JudgedEffect[],
  { agreed, byUser }: { readonly agreed: boolean; readonly byUser: boolean },
  commands: UserConfig["commands"],
  trust: Pick<SessionTrust, "permission" | "foreign">,
): FileDecision {
  if (trust.permission === "ask") return decideChanges(effects, false, "ask");
  const isRisky = hasForeignRisk(effects, trust);
  const decision = decideChanges(effects, agreed && (byUser || !isRisky), commands);
  if (decision.verdict !== "ask" || !isRisky || trust.foreign === undefined) return decision;
  const reason = [decision.reason, foreignReason(trust.foreign)].filter((part) => part !== "").join("; ");
  return { ...decision, reason };
}

function decideChanges(
  effects: readonly JudgedEffect[],
  agreed: boolean,
  commands: UserConfig["commands"],
): FileDecision {
  if (effects.every(({ state }) => state === "refused")) {
    return { verdict: "allow", rule: "nothing of it can be kept" };
  }
  if (effects.some(({ state }) => state === "left")) {
    return { verdict: "ask", rule: "safe_to_write", reason: sensitiveReason(effects) };
  }
  if (agreed) return { verdict: "allow", rule: "the command was allowed" };
  const packages = effects.find((effect) => effect.packages);
  if (commands === "project" && packages === undefined) {
    return { verdict: "allow", rule: "commands = project" };
  }
  return { verdict: "ask", rule: "asked", reason: "" };
}

/** Says which changes are sensitive, and whether they are chosen in the approval. */
function sensitiveReason(effects: readonly JudgedEffect[]): string {
  const left = effects.filter(({ state }) => state === "left");
  const files = left.filter(({ isFolder }) => isFolder !== true);
  const count = files.length || left.length;
  if (hasOrdinary(effects)) {
    return count === 1
      ? "one change is sensitive and left out unless you choose it"
      : `${count} changes are sensitive and left out unless you choose them`;
  }
  const which = effects.some(({ state }) => state === "refused") ? " that can be kept" : "";
  return count === 1 ? `the only change${which} is sensitive` : `all ${count} changes${which} are sensitive`;
}
