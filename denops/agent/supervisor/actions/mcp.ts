/** Lists, starts and stops the project's MCP servers. */
import type { McpServerState } from "../../protocol/results/mcp.ts";
import type { ShownMcpServer } from "../../protocol/ui.ts";
import { describeServer } from "../mcp/trust.ts";
import type { McpHost } from "../mcp/mcp_host.ts";
import { oneLine, visible } from "../screen/visible.ts";
import type { ActionContext, Handlers } from "./action.ts";

export function mcpActions({ chats, push, notice }: ActionContext): Handlers<"mcp"> {
  return {
    async mcp({ request, change, host, login, ...action }) {
      const { session } = chats.at(action);
      const { client: { mcp } } = await session.project();
      if (login !== undefined) {
        await mcp.login(
          login,
          (url) => push({ type: "mcp", request, servers: [], url: oneLine(url, LONGEST_URL) }),
        );
        notice(action.chat, "info", `Logged in at ${oneLine(login)}.`);
        const restart = { name: login, to: "restart" } as const;
        await session.request("mcp", (sessionId) => ({ sessionId, change: restart }));
        return;
      }
      if (change !== undefined && change.to !== "stop") mcp.wanted(change.name);
      if (host !== undefined) await mcp.allowHost(host.name, host.host);
      const answer = await session.request("mcp", (sessionId) => ({ sessionId, change }));
      const servers = await Promise.all(answer.servers.map((server) => shownServer(server, mcp)));
      push({ type: "mcp", request, servers });
    },
  };
}

/** Characters of a page's address. */
const LONGEST_URL = 8_000;

async function shownServer(state: McpServerState, mcp: McpHost): Promise<ShownMcpServer> {
  const { name, problem, title, protocol, tools, resources, prompts, log } = state;
  const server = (await mcp.servers()).servers.get(name);
  return {
    ...state,
    name: oneLine(name),
    ...(problem === undefined ? {} : { problem: oneLine(problem) }),
    ...(title === undefined ? {} : { title: oneLine(title) }),
    ...(protocol === undefined ? {} : { protocol: oneLine(protocol) }),
    tools: tools.map((tool) => ({
      ...tool,
      name: oneLine(tool.name),
      description: visible(tool.description),
    })),
    resources: resources.map(({ uri, name }) => ({ uri: oneLine(uri), name: oneLine(name) })),
    prompts: prompts.map((prompt) => ({
      name: oneLine(prompt.name),
      description: visible(prompt.description),
      arguments: prompt.arguments.map((argument) => oneLine(argument)),
    })),
    log: log.map((line) => oneLine(line)),
    description: server === undefined ? [] : describeServer(server),
    is_approved: server !== undefined && await mcp.isApproved(server),
    has_login: server?.entry.url !== undefined,
    errors: mcp.errorsOf(name).lines.map((line) => oneLine(line)),
    refused: mcp.refusedHosts(name),
  };
}
