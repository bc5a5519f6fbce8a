/** May this command line run? Pure; the gate asks at the moment of running, on exactly what runs. */
import { type CommandVerdict, judgeCommand, type Places } from "./command.ts";
import type { Decision } from "./file_access.ts";
import { lineRules, type Rule, ruleText } from "./rules.ts";

export interface CommandRequest {
  readonly line: string;
  readonly network: boolean;
}

export interface CommandCircumstances {
  readonly rules: readonly Rule[];
  /** An operating system's sandbox holds the command. */
  readonly sandboxed: boolean;
  /** Commands that only look may run unasked. */
  readonly allowSafe: boolean;
  /** The project and the home folder, so that absolute paths are understood. */
  readonly places: Places;
}

export interface CommandDecision {
  readonly decision: Decision;
  readonly verdict: CommandVerdict;
  /** No rule and no mode may answer for the user. */
  readonly always: boolean;
}

export function decideCommand(request: CommandRequest, circumstances: CommandCircumstances): CommandDecision {
  const verdict = judgeCommand(request.line, circumstances.places);
  const { rules, sandboxed, allowSafe } = circumstances;
  const ask = (rule: string, reason: string, always = false): CommandDecision => ({
    decision: { verdict: "ask", rule, reason },
    verdict,
    always,
  });
  const byRule = lineRules(rules, "run", verdict);
  const network = request.network ? lineRules(rules, "network", verdict) : undefined;
  for (const found of [byRule, network]) {
    if (found?.verdict !== "deny") continue;
    const rule = ruleText(found.rule);
    return {
      decision: { verdict: "deny", rule, reason: `a rule forbids it: ${rule}` },
      verdict,
      always: false,
    };
  }
  if (verdict.severity === "critical") return ask("critical", verdict.reason, true);
  if (!sandboxed) return ask("no sandbox", `it runs without a sandbox; ${verdict.reason}`, true);
  if (byRule?.verdict === "ask") return ask(ruleText(byRule.rule), `a rule asks: ${ruleText(byRule.rule)}`);
  if (request.network && network?.verdict !== "allow") {
    return ask("network", `it wants the network; ${verdict.reason}`);
  }
  if (byRule?.verdict === "allow") {
    return {
      decision: { verdict: "allow", rule: byRule.rules.map(ruleText).join(", ") },
      verdict,
      always: false,
    };
  }
  if (verdict.severity === "none" && allowSafe) {
    return { decision: { verdict: "allow", rule: "safe command" }, verdict, always: false };
  }
  return ask(verdict.severity, verdict.reason);
}
