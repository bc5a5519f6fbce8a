/**
 * Decides whether a command line may run, and at which level. The gate decides on exactly the line that
 * runs, right before it runs.
 */
import { UNSANDBOXED } from "../protocol/access.ts";
import {
  type CommandAccess,
  commandAccess,
  type CommandInput,
  hasNetwork,
  levelOf,
} from "../protocol/commands.ts";
import type { UserConfig } from "../protocol/config.ts";
import { type CommandVerdict, judgeCommand, type Places } from "./command.ts";
import type { FileDecision } from "./file_access.ts";
import { type Rule, ruleText } from "./rules.ts";
import { type LineRules, lineRules, openHosts, suggestRules } from "./matching_rules.ts";
import { passesUnasked, type SessionTrust, UNASKED } from "./session_permission.ts";

export interface CommandCircumstances extends Omit<SessionTrust, "foreign"> {
  readonly rules: readonly Rule[];
  /** The operating system's sandbox enforces the command's level. */
  readonly sandboxed: boolean;
  /** "ask": nothing runs without approval. */
  readonly commands: UserConfig["commands"];
  /** Whether commands can run over an overlay of the project. */
  readonly rehearses: boolean;
  /** The project and the home folder, to recognise absolute paths. */
  readonly places: Places;
  /** Commands that run without approval do not see git's history. */
  readonly hidesHistory: boolean;
  /** Why some unreadable files cannot be hidden; undefined if all can. */
  readonly cannotHide: string | undefined;
  /** Whether a command without network can reach single hosts. */
  readonly opensHosts?: boolean;
  /** Rules of this run that approve commands without a sandbox, where none is available. */
  readonly unsandboxed?: readonly Rule[] | undefined;
}

type JudgedInput =
  & Pick<CommandInput, "command" | "access" | "direct" | "activation">
  & Partial<Pick<CommandInput, "background">>;

export interface CommandDecision {
  readonly decision: FileDecision;
  readonly verdict: CommandVerdict;
  /** Neither a rule nor a mode may answer for the user. */
  readonly always: boolean;
  /** The level of the question. */
  readonly requestedAccess: CommandAccess;
  /** The level of the run: a read-only one, if that is enough for a line that a rule allows. */
  readonly access: CommandAccess;
  /** Without the network: the hosts that it reaches all the same, see policy/hosts.ts. */
  readonly hosts: readonly string[];
  /** It runs over an overlay. */
  readonly rehearsed: boolean;
  /** A rule approved its effects, so its changes over an overlay are kept without a question. */
  readonly agreed: boolean;
  /** The rules that would allow it, as text. */
  readonly suggestion: string | undefined;
}

/** The level of every command without a sandbox. */
const UNHELD: CommandAccess = "git+network";

/** The last line: the gate decides on it when it asks, after the answer and for its changes. */
let last: { readonly key: string; readonly verdict: CommandVerdict } | undefined;

function verdictOf(command: string, places: Places): CommandVerdict {
  const key = JSON.stringify([command, places]);
  if (last?.key !== key) last = { key, verdict: judgeCommand(command, places) };
  return last.verdict;
}

export function decideCommand(
  { command, access: wanted, background, direct, activation }: JudgedInput,
  circumstances: CommandCircumstances,
): CommandDecision {
  const { rules, sandboxed, commands, places, cannotHide } = circumstances;
  const verdict = verdictOf(command, places);
  const rehearses = sandboxed && circumstances.rehearses && !background && direct !== true;
  const wish = requested(wanted, verdict, rehearses, circumstances);
  const network = hasNetwork(wish) ? lineRules(rules, "network", verdict) : undefined;
  // Rules go by the names of programs, and these may be the project's own. So rules allow looks only.
  const renames = changesPath(activation);
  const allowed = (found: LineRules | undefined) => renames ? undefined : texts(found);
  const { requestedAccess, hosts } = reachOf(wish, { network, renames, rehearses }, circumstances);
  const level = levelOf(requestedAccess);
  const decided = (decision: FileDecision, more: Partial<CommandDecision> = {}) =>
    commandDecision({ decision, verdict, requestedAccess, hosts, ...more }, rehearses);
  // Asks, although an allow rule could have answered.
  const ask = (rule: string, reason: string) =>
    decided({ verdict: "ask", rule, reason }, { suggestion: suggested(verdict, requestedAccess, renames) });
  const askAlways = (rule: string, reason: string) =>
    decided({ verdict: "ask", rule, reason }, { always: true });
  const allow = (rule: string, access = requestedAccess, agreed = true) => {
    if (cannotHide === undefined) return decided({ verdict: "allow", rule }, { access, agreed });
    const reason = `some files that it must not read cannot be hidden: ${cannotHide}`;
    return decided({ verdict: "ask", rule: "deny_read", reason });
  };
  const run = lineRules(rules, "run", verdict);
  const git = level === "git" ? lineRules(rules, "git", verdict) : undefined;
  const against = (wanted: "deny" | "ask") =>
    [run, git, network].flatMap((found) => found?.verdict === wanted ? [ruleText(found.rule)] : [])[0];
  const denying = against("deny");
  if (denying !== undefined) return decided(deniedBy(denying));
  if (verdict.severity === "critical") return askAlways("critical", verdict.reason);
  const asking = against("ask");
  if (!sandboxed) {
    const rule = asking === undefined && !renames ? unsandboxedRule(verdict, circumstances) : undefined;
    if (rule !== undefined) return decided({ verdict: "allow", rule }, { agreed: true });
    return askAlways("no sandbox", `runs without a sandbox; ${verdict.reason}`);
  }
  if (asking !== undefined) return decided({ verdict: "ask", rule: asking, reason: `rule ${asking} asks` });
  const readsOnly = verdict.access === "look" && verdict.severity === "none";
  const readRules = readsOnly ? texts(run) ?? texts(git) : undefined;
  if (readRules !== undefined) return allow(readRules, "look");
  if (hasNetwork(requestedAccess) && allowed(network) === undefined) {
    return ask("network", `needs network access; ${verdict.reason}`);
  }
  const allowing = allowed(level === "git" ? git : run);
  if (allowing !== undefined) return allow([allowing, texts(network) ?? []].flat().join(", "));
  if (commands !== "ask") {
    if (level === "look" && verdict.severity !== "high") return allow("look");
    // The user approves its changes when they are known, but by then it has read its files.
    if (rehearses && (level === "try" || level === "write") && !readsSecrets(verdict)) {
      return allow(level, requestedAccess, false);
    }
  }
  if (level === "git") return ask("git", `may change the repository; ${verdict.reason}`);
  // It stays in its sandbox, and its changes over an overlay are still reviewed.
  const passes = passesUnasked(circumstances, "commands") && !readsSecrets(verdict);
  return passes ? allow(UNASKED.commands, requestedAccess, false) : ask(verdict.severity, verdict.reason);
}

function deniedBy(rule: string): FileDecision {
  return { verdict: "deny", rule, reason: `denied by rule ${rule}` };
}

/** The rules that approve the line without a sandbox; undefined if they do not cover it. */
function unsandboxedRule(
  verdict: CommandVerdict,
  { unsandboxed = [] }: CommandCircumstances,
): string | undefined {
  const rules = texts(lineRules(unsandboxed, "run", verdict));
  return rules && `${rules} ${UNSANDBOXED}`;
}

/** Whether a part of the line reads what may be secret. */
function readsSecrets({ commands }: CommandVerdict): boolean {
  return commands.some(({ level, severity }) => level === "look" && severity === "high");
}

/** @param rehearses whether the line could run over an overlay */
function commandDecision(
  facts: Pick<CommandDecision, "decision" | "verdict" | "requestedAccess"> & Partial<CommandDecision>,
  rehearses: boolean,
): CommandDecision {
  const { access = facts.requestedAccess, hosts = [] } = facts;
  const rehearsed = rehearses && ["try", "write"].includes(levelOf(access));
  const reached = levelOf(access) === "look" ? [] : hosts;
  return { always: false, agreed: false, suggestion: undefined, ...facts, access, rehearsed, hosts: reached };
}

/**
 * The access that the line seems to need. A line that seems read-only may write what is dropped afterwards.
 */
function proposed(
  { access, commands }: CommandVerdict,
  { hidesHistory }: CommandCircumstances,
): CommandAccess {
  const needsHistory = commands.some(({ words }) => words[0] === "git");
  if (hidesHistory && needsHistory) return commandAccess("git", hasNetwork(access));
  return levelOf(access) === "look" ? commandAccess("try", hasNetwork(access)) : access;
}

/** @param wanted the engine's proposal */
function requested(
  wanted: CommandAccess | undefined,
  verdict: CommandVerdict,
  rehearses: boolean,
  circumstances: CommandCircumstances,
): CommandAccess {
  if (!circumstances.sandboxed) return UNHELD;
  return fitting(wanted ?? proposed(verdict, circumstances), rehearses, verdict);
}

/**
 * The network of a line that wants it: all of it, or the hosts that rules open. A rule on the line decides about all of
 * it. A look reaches no hosts, because it cannot use Unix sockets; where commands are rehearsed, a try changes as little.
 */
function reachOf(
  wish: CommandAccess,
  { network, renames, rehearses }: {
    readonly network: LineRules | undefined;
    readonly renames: boolean;
    readonly rehearses: boolean;
  },
  { opensHosts = false, sandboxed, rules }: CommandCircumstances,
): Pick<CommandDecision, "requestedAccess" | "hosts"> {
  const level = levelOf(wish);
  const isDecided = network !== undefined && !(renames && network.verdict === "allow");
  const isPossible = opensHosts && sandboxed && hasNetwork(wish) && (rehearses || level !== "look");
  const hosts = isPossible && !isDecided ? openHosts(rules) : [];
  return { requestedAccess: hosts.length === 0 ? wish : level === "look" ? "try" : level, hosts };
}

/** Without overlays, "try" becomes the level that the line seems to need, and "write" if that is unknown. */
function fitting(access: CommandAccess, rehearses: boolean, verdict: CommandVerdict): CommandAccess {
  if (rehearses || levelOf(access) !== "try") return access;
  const needed = levelOf(verdict.access);
  return commandAccess(needed === "try" ? "write" : needed, hasNetwork(access));
}

/** The rules that together allow a line. */
function texts(found: LineRules | undefined): string | undefined {
  return found?.verdict === "allow" ? found.rules.map(ruleText).join(", ") : undefined;
}

function changesPath(activation: CommandInput["activation"]): boolean {
  return activation !== undefined && activation.before.length + activation.after.length > 0;
}

/** Level git and the network have rules of their own. */
function suggested(verdict: CommandVerdict, access: CommandAccess, renames: boolean): string | undefined {
  if (renames) return undefined;
  const rules = suggestRules(verdict, levelOf(access) === "git" ? "git" : "run");
  const more = hasNetwork(access) ? suggestRules(verdict, "network") : [];
  return rules === undefined ? undefined : [...rules, ...more ?? []].join(", ");
}
