/**
 * Rules on tools. They only ask or deny: what a call touches decides whether it is allowed, because the untrusted
 * engine names the tool. Pure.
 */
import type { FileRules } from "../protocol/config.ts";
import type { FileDecision } from "./file_access.ts";
import { nameMatches } from "./remote_rules.ts";

/**
 * The decision of the rules against a tool; undefined: none matches.
 * @param names of the tool, current and old
 */
export function againstTool(
  names: readonly string[],
  { deny, ask }: NonNullable<FileRules["tool_rules"]> = { deny: [], ask: [] },
): Exclude<FileDecision, { verdict: "allow" }> | undefined {
  const matching = (patterns: readonly string[]) =>
    patterns.find((pattern) => names.some((name) => nameMatches(pattern, name)));
  const [denying, asking] = [matching(deny), matching(ask)];
  if (denying !== undefined) {
    return { verdict: "deny", rule: `tool(${denying})`, reason: `denied by rule tool(${denying})` };
  }
  if (asking === undefined) return undefined;
  return { verdict: "ask", rule: `tool(${asking})`, reason: `rule tool(${asking}) asks` };
}
