/**
 * Sessions that have read foreign text: results of MCP servers, web pages, or answers of other agents. Such text may tell
 * the model what to do, so the network and writes of sensitive files ask again, whatever rules say. Pure.
 */
import type { Access, FileAccess } from "../protocol/access.ts";
import { type CommandAccess, hasNetwork, levelOf } from "../protocol/commands.ts";
import type { FileRules } from "../protocol/config.ts";
import { type FileDecision, mayWrite } from "./file_access.ts";
import { fetchRule, searchRule } from "./matching_rules.ts";
import { namesHost } from "./remote_rules.ts";
import type { Rule } from "./rules.ts";

/** Origins of foreign text. "session": it may come from an earlier session. "unknown": the book is unreadable. */
export const FOREIGN_SOURCES = ["mcp", "web", "agent", "session", "unknown"] as const;
export type ForeignSource = (typeof FOREIGN_SOURCES)[number];

const HAS_READ: Readonly<Record<ForeignSource, string>> = {
  mcp: "has read MCP results",
  web: "has read web pages",
  agent: "has read another agent's answers",
  session: "may have read MCP or web results of an earlier one",
  unknown: "may have read MCP or web results",
};

/** Half a sentence, such as "this session has read MCP results". */
export function foreignReason(source: ForeignSource, subject = "this session"): string {
  return `${subject} ${HAS_READ[source]}`;
}

/** The foreign text that a call with this access brings into its session; undefined: none. */
export function foreignSource(access: Access): ForeignSource | undefined {
  switch (access.kind) {
    case "mcp":
      return "mcp";
    case "fetch":
    case "search_web":
      return "web";
    case "agent":
      return access.access === undefined ? "agent" : undefined;
    case "foreign":
      return "agent";
    default:
      return undefined;
  }
}

/**
 * The reason why a command asks in such a session, as half a sentence. A command that runs over an overlay has its
 * changes judged one by one; any other one may change files that package managers own, which nobody asks about.
 */
export function commandRisk(
  { decision, access, requestedAccess, hosts, rehearsed }: {
    readonly decision: FileDecision;
    readonly access: CommandAccess;
    readonly requestedAccess: CommandAccess;
    readonly hosts: readonly string[];
    readonly rehearsed: boolean;
  },
): string | undefined {
  const granted = decision.verdict === "allow" ? access : requestedAccess;
  if (hasNetwork(granted) || hosts.length > 0) return "needs network access";
  return levelOf(granted) === "write" && !rehearsed ? "may change what your tools run" : undefined;
}

/** The same for writes. The engine's word on the changed keys of a manifest does not count. */
export function writeRisk(files: readonly FileAccess[], { safe_to_write }: FileRules): string | undefined {
  const [reason] = files.flatMap(({ access, path, risk }) => {
    const decision = access === "write" ? mayWrite(path, safe_to_write, risk) : undefined;
    return decision?.verdict === "ask" ? [decision.reason] : [];
  });
  return reason;
}

/** The same for fetching an address, unless a rule names its host or its domain. */
export function fetchRisk(rules: readonly Rule[], url: string): string | undefined {
  const naming = rules.filter(({ kind, pattern }) => kind === "fetch" && namesHost(pattern));
  return fetchRule(naming, url)?.verdict === "allow" ? undefined : "needs network access";
}

/** The same for a query, unless a rule names its search engine. */
export function searchRisk(rules: readonly Rule[], engine: string): string | undefined {
  const naming = rules.filter(({ pattern }) => pattern === engine);
  return searchRule(naming, engine)?.verdict === "allow" ? undefined : "needs network access";
}
