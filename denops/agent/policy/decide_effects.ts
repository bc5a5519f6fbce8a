/** Decides whether a command's changes over an overlay are kept. Pure. */
import type { SafeToWrite, UserConfig } from "../protocol/config.ts";
import { type ChangedKeys, type FileDecision, type NamedPath, namesOf, sensitivity } from "./file_access.ts";
import { type Rule, ruleText } from "./rules.ts";
import { fileRule } from "./matching_rules.ts";

/** "kept" and "left" are defaults that the user can change; "refused" cannot be kept. */
export type EffectState = "kept" | "left" | "refused";

export interface JudgedEffect {
  readonly state: EffectState;
  /** Half a sentence. */
  readonly why?: string;
  /** A package manager wrote it, so approving the command approves it. */
  readonly packages?: boolean;
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

/**
 * Whether the user is asked. Changes that cannot be kept are only reported. @param agreed whether the command
 * was approved before it ran
 */
export function decideEffects(
  effects: readonly JudgedEffect[],
  agreed: boolean,
  commands: UserConfig["commands"],
): FileDecision {
  if (effects.every(({ state }) => state === "refused")) {
    return { verdict: "allow", rule: "nothing of it can be kept" };
  }
  const left = effects.filter(({ state }) => state === "left").length;
  if (left > 0) {
    const reason = left === 1
      ? "one change is sensitive and left out unless you choose it"
      : `${left} changes are sensitive and left out unless you choose them`;
    return { verdict: "ask", rule: "safe_to_write", reason };
  }
  if (agreed) return { verdict: "allow", rule: "the command was allowed" };
  const packages = effects.find((effect) => effect.packages);
  if (commands === "project" && packages === undefined) {
    return { verdict: "allow", rule: "commands = project" };
  }
  return { verdict: "ask", rule: "asked", reason: "" };
}
