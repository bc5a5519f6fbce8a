import * as z from "../../../deps/zod.ts";
import { defineTool, titleText } from "../define.ts";
import { refuse } from "./mcp_tool.ts";

/** A call of a tool that exists is handled as a call of that tool: see permission/meant_by.ts. */
export const callTool = defineTool({
  name: "call_tool",
  description: "Call a tool of an MCP server that is not in your list. find_tools shows its arguments.",
  kind: "other",
  readOnly: false,
  basic: true,
  least: "read",
  answersChange: true,
  needs: "mcp",
  schema: z.object({
    name: z.string().min(1),
    arguments: z.record(z.string(), z.unknown()).default({}),
  }),
  title: (args) => `call ${titleText(args.name)}`,

  prepare: ({ name }, { mcp }, signal) => refuse(name, mcp, signal),
});
