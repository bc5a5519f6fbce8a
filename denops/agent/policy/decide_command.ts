/** May this command line run, and at which level? Pure; the gate asks at the moment of running, on exactly what runs. */
import {
  type CommandAccess,
  commandAccess,
  type CommandInput,
  hasNetwork,
  levelOf,
} from "../protocol/commands.ts";
import { type CommandVerdict, judgeCommand, type Places } from "./command.ts";
import type { Decision } from "./file_access.ts";
import { type LineRules, lineRules, type Rule, ruleText, suggestRules } from "./rules.ts";

export interface CommandCircumstances {
  readonly rules: readonly Rule[];
  /** An operating system's sandbox holds the command at its level. */
  readonly sandboxed: boolean;
  /** Whether what can only look runs unasked. */
  readonly commands: "look" | "ask";
  /** The project and the home folder, so that absolute paths are understood. */
  readonly places: Places;
  /** A look does not see git's history. */
  readonly hidesHistory: boolean;
  /** Why not all of what must not be read can be hidden; undefined if it can. */
  readonly cannotHide: string | undefined;
}

export interface CommandDecision {
  readonly decision: Decision;
  readonly verdict: CommandVerdict;
  /** No rule and no mode may answer for the user. */
  readonly always: boolean;
  /** At what it is asked about. */
  readonly asked: CommandAccess;
  /** At what it runs: a look where that is enough for a line that a rule allows, although more was asked. */
  readonly access: CommandAccess;
  /** The rules that would have answered, as text. */
  readonly suggestion: string | undefined;
}

/** Without a sandbox nothing holds a command. */
const UNHELD: CommandAccess = "git+network";

export function decideCommand(
  { command, access: wanted }: Pick<CommandInput, "command" | "access">,
  circumstances: CommandCircumstances,
): CommandDecision {
  const { rules, sandboxed, commands, places, cannotHide } = circumstances;
  const verdict = judgeCommand(command, places);
  const asked = sandboxed ? wanted ?? proposed(verdict, circumstances) : UNHELD;
  const level = levelOf(asked);
  const decided = (decision: Decision, more: Partial<CommandDecision> = {}): CommandDecision => ({
    ...{ decision, verdict, always: false, asked, access: asked, suggestion: undefined },
    ...more,
  });
  // What asks by itself an allow rule would have answered.
  const ask = (rule: string, reason: string) =>
    decided({ verdict: "ask", rule, reason }, { suggestion: suggested(verdict, asked) });
  const askAlways = (rule: string, reason: string) =>
    decided({ verdict: "ask", rule, reason }, { always: true });
  const allow = (rule: string, access = asked) => {
    if (cannotHide === undefined) return decided({ verdict: "allow", rule }, { access });
    const reason = `some files that it must not read cannot be hidden: ${cannotHide}`;
    return decided({ verdict: "ask", rule: "deny_read", reason });
  };
  const run = lineRules(rules, "run", verdict);
  const git = level === "git" ? lineRules(rules, "git", verdict) : undefined;
  const network = hasNetwork(asked) ? lineRules(rules, "network", verdict) : undefined;
  const against = (wanted: "deny" | "ask") =>
    [run, git, network].flatMap((found) => found?.verdict === wanted ? [ruleText(found.rule)] : [])[0];
  const denying = against("deny");
  if (denying !== undefined) {
    return decided({ verdict: "deny", rule: denying, reason: `denied by rule ${denying}` });
  }
  if (verdict.severity === "critical") return askAlways("critical", verdict.reason);
  if (!sandboxed) return askAlways("no sandbox", `runs without a sandbox; ${verdict.reason}`);
  const asking = against("ask");
  if (asking !== undefined) return decided({ verdict: "ask", rule: asking, reason: `rule ${asking} asks` });
  const readsOnly = verdict.access === "look" && verdict.severity === "none";
  const named = readsOnly ? texts(run) ?? texts(git) : undefined;
  if (named !== undefined) return allow(named, "look");
  if (hasNetwork(asked) && texts(network) === undefined) {
    return ask("network", `needs network access; ${verdict.reason}`);
  }
  const allowing = texts(level === "git" ? git : run);
  if (allowing !== undefined) return allow([allowing, texts(network) ?? []].flat().join(", "));
  if (level === "look" && commands === "look" && verdict.severity !== "high") return allow("look");
  return level === "git"
    ? ask("git", `may change the repository; ${verdict.reason}`)
    : ask(verdict.severity, verdict.reason);
}

/** Which access the line seems to need. */
function proposed(
  { access, commands }: CommandVerdict,
  { hidesHistory }: CommandCircumstances,
): CommandAccess {
  const needsHistory = commands.some(({ words }) => words[0] === "git");
  return hidesHistory && needsHistory ? commandAccess("git", hasNetwork(access)) : access;
}

/** The rules that allow all of a line. */
function texts(found: LineRules | undefined): string | undefined {
  return found?.verdict === "allow" ? found.rules.map(ruleText).join(", ") : undefined;
}

/** Level git and the network have rules of their own. */
function suggested(verdict: CommandVerdict, access: CommandAccess): string | undefined {
  const rules = suggestRules(verdict, levelOf(access) === "git" ? "git" : "run");
  const more = hasNetwork(access) ? suggestRules(verdict, "network") : [];
  return rules === undefined ? undefined : [...rules, ...more ?? []].join(", ");
}
