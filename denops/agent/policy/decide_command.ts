/** May this command line run, and at which level? Pure; the gate asks at the moment of running, on exactly what runs. */
import { type CommandAccess, hasNetwork, levelOf } from "../protocol/commands.ts";
import { type CommandVerdict, judgeCommand, type Places } from "./command.ts";
import type { Decision } from "./file_access.ts";
import { type LineRules, lineRules, type Rule, ruleText } from "./rules.ts";

export interface CommandRequest {
  readonly line: string;
  readonly access: CommandAccess;
}

export interface CommandCircumstances {
  readonly rules: readonly Rule[];
  /** An operating system's sandbox holds the command at its level. */
  readonly sandboxed: boolean;
  /** Whether what can only look runs unasked. */
  readonly commands: "look" | "ask";
  /** The project and the home folder, so that absolute paths are understood. */
  readonly places: Places;
}

export interface CommandDecision {
  readonly decision: Decision;
  readonly verdict: CommandVerdict;
  /** No rule and no mode may answer for the user. */
  readonly always: boolean;
  /** At what it runs: a look where that is enough for a line that a rule allows, although more was asked. */
  readonly access: CommandAccess;
}

export function decideCommand(
  { line, access }: CommandRequest,
  { rules, sandboxed, commands, places }: CommandCircumstances,
): CommandDecision {
  const verdict = judgeCommand(line, places);
  const level = levelOf(access);
  const decided = (decision: Decision, always = false, as = access) => ({
    decision,
    verdict,
    always,
    access: as,
  });
  const ask = (rule: string, reason: string, always = false) =>
    decided({ verdict: "ask", rule, reason }, always);
  const run = lineRules(rules, "run", verdict);
  const git = level === "git" ? lineRules(rules, "git", verdict) : undefined;
  const network = hasNetwork(access) ? lineRules(rules, "network", verdict) : undefined;
  const against = (wanted: "deny" | "ask") =>
    [run, git, network].flatMap((found) => found?.verdict === wanted ? [ruleText(found.rule)] : [])[0];
  const denying = against("deny");
  if (denying !== undefined) {
    return decided({ verdict: "deny", rule: denying, reason: `denied by rule ${denying}` });
  }
  if (verdict.severity === "critical") return ask("critical", verdict.reason, true);
  if (!sandboxed) return ask("no sandbox", `runs without a sandbox; ${verdict.reason}`, true);
  const asking = against("ask");
  if (asking !== undefined) return ask(asking, `rule ${asking} asks`);
  const readsOnly = verdict.access === "look" && verdict.severity === "none";
  const named = readsOnly ? texts(run) ?? texts(git) : undefined;
  if (named !== undefined) return decided({ verdict: "allow", rule: named }, false, "look");
  if (hasNetwork(access) && texts(network) === undefined) {
    return ask("network", `needs network access; ${verdict.reason}`);
  }
  const allowing = texts(level === "git" ? git : run);
  if (allowing !== undefined) {
    return decided({ verdict: "allow", rule: [allowing, texts(network) ?? []].flat().join(", ") });
  }
  if (level === "look" && commands === "look" && verdict.severity !== "high") {
    return decided({ verdict: "allow", rule: "look" });
  }
  return level === "git"
    ? ask("git", `may change the repository; ${verdict.reason}`)
    : ask(verdict.severity, verdict.reason);
}

/** The rules that allow all of a line. */
function texts(found: LineRules | undefined): string | undefined {
  return found?.verdict === "allow" ? found.rules.map(ruleText).join(", ") : undefined;
}
