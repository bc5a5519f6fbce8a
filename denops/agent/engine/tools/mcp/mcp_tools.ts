/** The tools that reach tools of MCP servers. */
import { callTool } from "./call_tool.ts";
import { findTools } from "./find_tools.ts";

export const MCP_TOOLS = [findTools, callTool];
