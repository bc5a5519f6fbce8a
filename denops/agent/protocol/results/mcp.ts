/** MCP servers: the request `mcp` and its result. */
import * as z from "../../deps/zod.ts";

/** An MCP server as the engine knows it. All texts come from the server. */
export const McpServerState = z.object({
  name: z.string(),
  state: z.enum(["off", "starting", "ready", "failed", "stopped"]),
  /** Why it is not ready, in one line. */
  problem: z.string().optional(),
  /** The server's own name and version. */
  title: z.string().optional(),
  /** The version of the protocol. */
  protocol: z.string().optional(),
  /** `listed`: models see it without a search. */
  tools: z.array(z.object({ name: z.string(), description: z.string(), listed: z.boolean() })),
  resources: z.array(z.object({ uri: z.string(), name: z.string() })),
  prompts: z.array(z.object({ name: z.string(), description: z.string(), arguments: z.array(z.string()) })),
  /** Its last log messages. */
  log: z.array(z.string()),
});
export type McpServerState = z.infer<typeof McpServerState>;

export const McpChange = z.object({ name: z.string(), to: z.enum(["start", "stop", "restart"]) });
