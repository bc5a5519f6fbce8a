/** May this command line run? Pure; the gate asks at the moment of running, on exactly what runs. */
import { type CommandAccess, hasNetwork, levelOf } from "../protocol/commands.ts";
import { type CommandVerdict, judgeCommand, type Places } from "./command.ts";
import type { Decision } from "./file_access.ts";
import { lineRules, type Rule, ruleText } from "./rules.ts";

export interface CommandRequest {
  readonly line: string;
  readonly access: CommandAccess;
}

export interface CommandCircumstances {
  readonly rules: readonly Rule[];
  /** An operating system's sandbox holds the command. */
  readonly sandboxed: boolean;
  readonly commands: "look" | "ask";
  /** The project and the home folder, so that absolute paths are understood. */
  readonly places: Places;
}

export interface CommandDecision {
  readonly decision: Decision;
  readonly verdict: CommandVerdict;
  /** No rule and no mode may answer for the user. */
  readonly always: boolean;
  readonly access: CommandAccess;
}

export function decideCommand(request: CommandRequest, circumstances: CommandCircumstances): CommandDecision {
  const verdict = judgeCommand(request.line, circumstances.places);
  const { rules, sandboxed } = circumstances;
  const { access } = request;
  const ask = (rule: string, reason: string, always = false): CommandDecision => ({
    decision: { verdict: "ask", rule, reason },
    verdict,
    always,
    access,
  });
  const byRule = lineRules(rules, "run", verdict);
  const network = hasNetwork(access) ? lineRules(rules, "network", verdict) : undefined;
  for (const found of [byRule, network]) {
    if (found?.verdict !== "deny") continue;
    const rule = ruleText(found.rule);
    return {
      decision: { verdict: "deny", rule, reason: `a rule forbids it: ${rule}` },
      verdict,
      always: false,
      access,
    };
  }
  if (verdict.severity === "critical") return ask("critical", verdict.reason, true);
  if (!sandboxed) return ask("no sandbox", `it runs without a sandbox; ${verdict.reason}`, true);
  if (byRule?.verdict === "ask") return ask(ruleText(byRule.rule), `a rule asks: ${ruleText(byRule.rule)}`);
  if (hasNetwork(access) && network?.verdict !== "allow") {
    return ask("network", `it wants the network; ${verdict.reason}`);
  }
  if (byRule?.verdict === "allow") {
    return {
      decision: { verdict: "allow", rule: byRule.rules.map(ruleText).join(", ") },
      verdict,
      always: false,
      access,
    };
  }
  if (levelOf(access) === "look" && verdict.severity !== "high" && circumstances.commands === "look") {
    return { decision: { verdict: "allow", rule: "look" }, verdict, always: false, access };
  }
  return ask(verdict.severity, verdict.reason);
}
