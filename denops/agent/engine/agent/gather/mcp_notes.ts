/** Tells the model about tools of MCP servers that its list lacks: once, and again after it no longer sees the note. */
import { z } from "../../../deps/zod.ts";
import { type KnownMcp, mcpNews, NOTHING_KNOWN } from "../../context/mcp_news.ts";
import type { McpPort } from "../../ports/mcp.ts";
import { toolLine } from "../../tools/find_tools.ts";
import type { Memory } from "../permission/memory.ts";

/** The fact's name in the session's memory; it is forgotten with the others. */
const FACT = "mcp";

const Known = z.object({ tools: z.record(z.string(), z.string()), servers: z.array(z.string()) });

/** @param isSmall the model gets no tools of servers in its list */
export function mcpNote(
  mcp: McpPort,
  { offered, lastFacts }: Pick<Memory, "offered" | "lastFacts">,
  isSmall: boolean,
): string | undefined {
  const sent = [...offered.values()].flat().map(({ name }) => name);
  const willBeSent = mcp.tools.flatMap(({ name, isListed }) => isListed && !isSmall ? [name] : []);
  const listed = new Set(offered.size > 0 ? sent : willBeSent);
  const { text, known } = mcpNews(knownIn(lastFacts), {
    tools: mcp.tools,
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
