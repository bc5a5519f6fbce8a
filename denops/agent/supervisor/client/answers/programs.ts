/** The programs of a project that the supervisor runs: commands, MCP servers, agents from elsewhere, hooks. */
import type { ClientContext } from "../context.ts";
import { projectAgents } from "./agents.ts";
import { clientTerminals } from "./commands.ts";
import { projectHooks } from "./hooks.ts";
import { projectMcp } from "./pipes.ts";

/** @param client still without them */
export function projectPrograms(
  client: ClientContext,
): Pick<ClientContext, "terminals" | "mcp" | "agents" | "hooks"> {
  const { permissions } = client;
  return {
    terminals: clientTerminals(client),
    mcp: projectMcp(permissions),
    agents: projectAgents(client),
    hooks: projectHooks(permissions),
  };
}
