/** Tells the model about tools of MCP servers that its list lacks: once, and again after it no longer sees the note. */
import * as z from "../../../deps/zod.ts";
import { type KnownMcp, mcpNews, NOTHING_KNOWN } from "../../context/mcp_news.ts";
import type { McpPort } from "../../ports/mcp.ts";
import { toolLine } from "../../tools/mcp/find_tools.ts";
import type { Memory } from "../permission/memory.ts";
import type { SessionTools } from "../settings/session_tools.ts";

/** The fact's name in the session's memory; it is forgotten with the others. */
const FACT = "mcp";

const Known = z.object({ tools: z.record(z.string(), z.string()), servers: z.array(z.string()) });

export interface McpNoteFacts {
  /** The model gets no tools of servers in its list. */
  readonly isSmall: boolean;
  readonly switches: Pick<SessionTools, "isOff">;
}

export function mcpNote(
  mcp: McpPort,
  { offered, lastFacts }: Pick<Memory, "offered" | "lastFacts">,
  { isSmall, switches }: McpNoteFacts,
): string | undefined {
  const tools = mcp.tools.filter((tool) => !switches.isOff(tool));
  const sent = [...offered.values()].flat().map(({ name }) => name);
  const willBeSent = tools.flatMap(({ name, isListed }) => isListed && !isSmall ? [name] : []);
  const listed = new Set(offered.size > 0 ? sent : willBeSent);
  const { text, known } = mcpNews(knownIn(lastFacts), {
    tools,
    servers: mcp.servers,
    listed,
    line: toolLine,
  });
  lastFacts.set(FACT, JSON.stringify(known));
  return text;
}

function knownIn(lastFacts: Memory["lastFacts"]): KnownMcp {
  try {
    return Known.parse(JSON.parse(lastFacts.get(FACT) ?? ""));
  } catch {
    return NOTHING_KNOWN;
  }
}
