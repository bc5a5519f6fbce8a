/** Rules on tools that do not exist: they would have no effect. Pure. */
import { nameMatches } from "../../../policy/remote_rules.ts";
import type { FileRules } from "../../../protocol/config.ts";
import { closestName } from "../../../shared/text/closest_name.ts";
import { OLD_TOOLS } from "../../calls/old_names.ts";

/** One line for each. @param tools current names @param servers MCP servers, whose tools may be unknown still */
export function unknownToolRules(
  { deny, ask }: NonNullable<FileRules["tool_rules"]>,
  tools: readonly string[],
  servers: readonly string[] = [],
): readonly string[] {
  const names = [...tools, ...Object.keys(OLD_TOOLS)];
  return Object.entries({ deny, ask }).flatMap(([list, patterns]) =>
    patterns.flatMap((pattern) => {
      const isOfServer = servers.some((server) => pattern.startsWith(`${server}__`));
      if (isOfServer || names.some((name) => nameMatches(pattern, name))) return [];
      const near = closestName(pattern, names);
      const advice = near === undefined ? "See :help agent-tools." : `Did you mean tool(${near})?`;
      return [`rules.${list}: tool(${pattern.slice(0, LONGEST_SHOWN)}) matches no tool. ${advice}`];
    })
  );
}

/** Characters of a pattern in a message. */
const LONGEST_SHOWN = 200;
