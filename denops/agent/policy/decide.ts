/** Decides on the access of a call. Pure. */
import type { Access, AccessOf, FileAccess } from "../protocol/access.ts";
import type { FileRules } from "../protocol/config.ts";
import { type CommandCircumstances, type CommandDecision, decideCommand } from "./decide_command.ts";
import { judgeCommand } from "./command.ts";
import { againstTool } from "./decide_tools.ts";
import { type FileDecision, isInGit } from "./file_access.ts";
import { literalGlob } from "./glob.ts";
import { type Rule, ruleText, toolRules } from "./rules.ts";
import {
  agentRule,
  fetchRule,
  fileRule,
  lineRules,
  mcpRule,
  opensHost,
  searchRule,
  suggestRules,
} from "./matching_rules.ts";
import { isPublicHost } from "./remote_rules.ts";
import { commandRisk, fetchRisk, foreignReason, searchRisk, writeRisk } from "./foreign.ts";
import { beyondSensitive, passesUnasked, type SessionTrust, UNASKED } from "./session_permission.ts";

/** The gate's knowledge when it decides. */
export interface Circumstances extends CommandCircumstances, SessionTrust {
  /** The engine's reason for asking, in one line; used where no rule applies. */
  readonly reason: string;
  /** Names of the call's tool, current and old, as the engine reports them. */
  readonly tools: readonly string[];
  readonly files: FileRules;
}

export interface AccessDecision {
  readonly decision: FileDecision;
  /** Neither a rule nor an earlier answer may replace the user's. */
  readonly always: boolean;
  /** The rule that "always allow" would write; undefined if no rule would help. */
  readonly suggestion: string | undefined;
}

/** Unknown access is denied. */
export const UNKNOWN: FileDecision = {
  verdict: "deny",
  rule: "unknown access",
  reason: "it asks for an access of an unknown kind",
};

const SUBAGENT: FileDecision = { verdict: "allow", rule: "a sub-agent" };

/**
 * The gate's decision by the user's rules and the session's permission, for access that the engine does not
 * allow by default.
 */
export function decide(access: AccessOf<"command">, circumstances: Circumstances): CommandDecision;
export function decide(access: Access, circumstances: Circumstances): AccessDecision;
export function decide(access: Access, circumstances: Circumstances): AccessDecision {
  return tightened(judge(access, circumstances), access, circumstances);
}

/** The same decision, unless a rule on the tool or the session's permission is stricter. */
function tightened(
  found: AccessDecision,
  access: Access,
  { rules, tools, permission }: Circumstances,
): AccessDecision {
  const { decision } = found;
  const against = decision.verdict === "deny" ? undefined : againstTool(tools, toolRules(rules));
  if (against?.verdict === "deny") return { ...found, decision: against };
  const asks = permission === "ask" && decision.verdict !== "deny" && changesSomething(access);
  const always = found.always || asks;
  if (decision.verdict !== "allow" || (against === undefined && !asks)) return { ...found, always };
  return { ...found, always, suggestion: undefined, decision: against ?? ASKS_ALL };
}

const ASKS_ALL: FileDecision = { verdict: "ask", rule: "ask", reason: "this session asks about everything" };

/** Each call of a sub-agent is judged separately. */
function changesSomething(access: Access): boolean {
  switch (access.kind) {
    case "file":
      return access.files.some((file) => file.access === "write");
    case "agent":
      return access.access === undefined;
    case "foreign":
      return access.command !== undefined || access.mcp !== undefined ||
        access.files?.some((file) => file.access === "write") !== false;
    case "nothing":
    case "ask":
      return false;
    default:
      return true;
  }
}

function judge(access: Access, circumstances: Circumstances): AccessDecision {
  const { rules, reason } = circumstances;
  switch (access.kind) {
    case "file": {
      const risk = writeRisk(access.files, circumstances.files);
      return askAgain(judgeFiles(access.files, circumstances), risk, circumstances);
    }
    case "command": {
      const found = decideCommand(access, circumstances);
      return askAgain(found, commandRisk(found), circumstances);
    }
    case "fetch": {
      const found = judgeFetch(access.url, rules, reason);
      return askAgain(found, fetchRisk(rules, access.url), circumstances);
    }
    case "search_web": {
      const found = byRule(searchRule(rules, access.engine)) ?? askBecause(reason);
      const suggestion = ruleText({ kind: "search_web", pattern: access.engine });
      return askAgain(accessDecision(found, suggestion), searchRisk(rules, access.engine), circumstances);
    }
    case "mcp":
      return judgeTool(access, rules, reason);
    case "ask":
      return { ...accessDecision(askBecause(access.text)), always: true };
    case "effects":
      // Only the supervisor knows the effects; see decide_effects.ts.
      return accessDecision(UNKNOWN);
    case "agent": {
      // A sub-agent gets no permissions beyond the engine's: each of its calls is judged.
      const unruled = access.access === undefined ? askBecause(reason) : SUBAGENT;
      return accessDecision(byRule(agentRule(rules, access.name)) ?? unruled);
    }
    case "foreign":
      return judgeForeign(access, circumstances);
    case "nothing":
      return accessDecision(askBecause(reason));
    default:
      access satisfies never;
      return accessDecision(UNKNOWN);
  }
}

/** Hosts of this machine and its network need a rule that names them: their servers trust whoever reaches them. */
function judgeFetch(url: string, rules: readonly Rule[], reason: string): AccessDecision {
  const target = URL.parse(url);
  if (target?.href !== url) {
    // Another form could look like the address of another host.
    const reason = "its address is not in its normal form";
    return accessDecision({ verdict: "deny", rule: "address", reason });
  }
  const found = fetchRule(rules, url);
  const suggestion = ruleText({ kind: "fetch", pattern: target.host });
  if (found?.verdict !== "deny" && !isPublicHost(url) && !opensHost(rules, url)) {
    const why = `its host is not public; only a rule of the user such as ${suggestion} opens it`;
    return accessDecision({ verdict: "deny", rule: "private host", reason: why });
  }
  return accessDecision(byRule(found) ?? askBecause(reason), suggestion);
}

/** In a session that has read foreign text only the user answers. @param risk undefined: the call has none */
function askAgain<Found extends AccessDecision>(
  found: Found,
  risk: string | undefined,
  { foreign }: Circumstances,
): Found {
  const { decision } = found;
  if (foreign === undefined || risk === undefined || decision.verdict === "deny") return found;
  const { rule, reason } = decision.verdict === "ask" ? decision : { rule: "foreign text", reason: risk };
  const why = [reason, foreignReason(foreign)].filter((part) => part !== "").join("; ");
  return { ...found, always: true, suggestion: undefined, decision: { verdict: "ask", rule, reason: why } };
}

function judgeTool(
  { server, tool }: AccessOf<"mcp">,
  rules: readonly Rule[],
  reason: string,
): AccessDecision {
  const decision = byRule(mcpRule(rules, server, tool)) ?? askBecause(reason);
  // Other characters could mean more than this tool.
  const isPlain = [server, tool].every((name) => /^[\w.-]+$/.test(name));
  const suggestion = isPlain ? ruleText({ kind: "mcp", pattern: `${server}/${tool}` }) : undefined;
  return accessDecision(decision, decision.verdict === "ask" ? suggestion : undefined);
}

const SANDBOXED: FileDecision = { verdict: "allow", rule: "held by the sandbox" };

/**
 * The agent's sandbox and the gate's look at its changes hold it, whatever it says here. So only a rule refuses or asks,
 * or the option that asks about every command.
 */
function judgeForeign(
  { agent, command, files = [], mcp }: AccessOf<"foreign">,
  { rules, commands }: Circumstances,
): AccessDecision {
  const line = command === undefined ? undefined : judgeCommand(command);
  const run = line && lineRules(rules, "run", line);
  const found = [
    agentRule(rules, agent),
    ...(line === undefined ? [] : (["run", "git", "network"] as const).map((kind) => {
      const against = lineRules(rules, kind, line);
      return against?.verdict === "allow" ? undefined : against?.rule;
    })),
    ...files.map(({ access, path }) => fileRule(rules, access === "write" ? "write" : "read", path)),
    mcp && mcpRule(rules, mcp.server, mcp.tool),
  ];
  const ruled = (verdict: Rule["verdict"]) => byRule(found.find((rule) => rule?.verdict === verdict));
  const against = ruled("deny") ?? ruled("ask");
  if (against !== undefined) return accessDecision(against);
  if (line === undefined || commands !== "ask" || run?.verdict === "allow") return accessDecision(SANDBOXED);
  return accessDecision(askBecause("every command needs approval"), suggestRules(line, "run")?.join(", "));
}

function accessDecision(decision: FileDecision, suggestion?: string): AccessDecision {
  return { decision, always: false, suggestion };
}

function askBecause(reason: string): FileDecision {
  return { verdict: "ask", rule: "asked", reason };
}

function byRule(found: Rule | undefined): FileDecision | undefined {
  if (found === undefined) return undefined;
  const rule = ruleText(found);
  if (found.verdict === "allow") return { verdict: "allow", rule };
  const reason = found.verdict === "deny" ? `denied by rule ${rule}` : `rule ${rule} asks`;
  return { verdict: found.verdict, rule, reason };
}

/**
 * Applies the strictest of the rules on the files, and allows only if each write is allowed. The engine has
 * already checked lists.
 */
function judgeFiles(files: readonly FileAccess[], circumstances: Circumstances): AccessDecision {
  const { rules, reason } = circumstances;
  const found = files.flatMap((file) =>
    file.access === "list" ? [] : [{ ...file, rule: fileRule(rules, file.access, file.path) }]
  );
  const ruled = (verdict: Rule["verdict"]) => found.find(({ rule }) => rule?.verdict === verdict)?.rule;
  const against = byRule(ruled("deny") ?? ruled("ask"));
  if (against !== undefined) return accessDecision(against);
  // Reads need no rule: the engine has already checked them.
  const writes = found.filter(({ access }) => access === "write");
  const allowing = writes.flatMap(({ rule }) => rule === undefined ? [] : [ruleText(rule)]);
  if (writes.length > 0 && allowing.length === writes.length) {
    return accessDecision({ verdict: "allow", rule: [...new Set(allowing)].join(", ") });
  }
  const unruled = writes.filter(({ rule }) => rule === undefined);
  const isLoose = passesUnasked(circumstances, "sensitive") && unruled.length > 0;
  const [beyond] = isLoose
    ? unruled.flatMap((file) => {
      const why = beyondSensitive(file, circumstances.files);
      return why === undefined ? [] : [{ name: writes.length === 1 ? "it" : file.path.named, why }];
    })
    : [];
  if (isLoose && beyond === undefined) return accessDecision({ verdict: "allow", rule: UNASKED.sensitive });
  // The narrowest rule, for this one file.
  const [only] = writes;
  const suggestion = writes.length === 1 && only !== undefined && !isInGit(only.path)
    ? ruleText({ kind: "write", pattern: literalGlob(only.path.named) })
    : undefined;
  const note = beyond === undefined
    ? ""
    : `; unasked sensitive files leave ${beyond.name} out: ${beyond.why}`;
  return accessDecision(askBecause(reason + note), suggestion);
}
