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

export function decideCommand(request: CommandRequest, circumstances: CommandCircumstances): CommandDecision {
  const verdict = judgeCommand(request.line, circumstances.places);
  const access = sufficient(request.access, verdict, circumstances.rules);
  return { ...decide(access, verdict, circumstances), verdict, access };
}

/** A line that a rule allows and that reads as a look needs no more than that. */
function sufficient(asked: CommandAccess, verdict: CommandVerdict, rules: readonly Rule[]): CommandAccess {
  if (verdict.access !== "look" || verdict.severity !== "none") return asked;
  const allowed = (["run", "git"] as const).some((kind) =>
    (kind === "run" || levelOf(asked) === "git") && lineRules(rules, kind, verdict)?.verdict === "allow"
  );
  return allowed ? "look" : asked;
}

function decide(
  access: CommandAccess,
  verdict: CommandVerdict,
  { rules, sandboxed, commands }: CommandCircumstances,
): Pick<CommandDecision, "decision" | "always"> {
  const level = levelOf(access);
  const run = lineRules(rules, "run", verdict);
  const git = level === "git" ? lineRules(rules, "git", verdict) : undefined;
  const network = hasNetwork(access) ? lineRules(rules, "network", verdict) : undefined;
  const all = [run, git, network];
  const denying = all.find((found) => found?.verdict === "deny");
  if (denying?.verdict === "deny") {
    const rule = ruleText(denying.rule);
    return { decision: { verdict: "deny", rule, reason: `a rule forbids it: ${rule}` }, always: false };
  }
  if (verdict.severity === "critical") return ask("critical", verdict.reason, true);
  if (!sandboxed) return ask("no sandbox", `it runs without a sandbox; ${verdict.reason}`, true);
  const asking = all.find((found) => found?.verdict === "ask");
  if (asking?.verdict === "ask") return ask(ruleText(asking.rule), `a rule asks: ${ruleText(asking.rule)}`);
  if (hasNetwork(access) && network?.verdict !== "allow") {
    return ask("network", `it wants the network; ${verdict.reason}`);
  }
  const allowing = level === "git" ? git : run;
  if (allowing?.verdict === "allow") return allow(allowing, network);
  if (level === "look" && commands === "look" && !/high|critical/.test(verdict.severity)) {
    return { decision: { verdict: "allow", rule: "look" }, always: false };
  }
  if (level === "git") return ask("git", `it may change the repository; ${verdict.reason}`);
  return ask(verdict.severity, verdict.reason);
}

function ask(rule: string, reason: string, always = false): Pick<CommandDecision, "decision" | "always"> {
  return { decision: { verdict: "ask", rule, reason }, always };
}

function allow(...found: readonly (LineRules | undefined)[]): Pick<CommandDecision, "decision" | "always"> {
  const rules = found.flatMap((one) => one?.verdict === "allow" ? one.rules.map(ruleText) : []);
  return { decision: { verdict: "allow", rule: rules.join(", ") }, always: false };
}
