/** A server's tools: those that are harmless, and a line for each that is left out. Pure. */
import * as z from "../../deps/zod.ts";
import { messageOf } from "../../shared/errors.ts";
import type { McpTool } from "../ports/mcp.ts";
import { cleanLine, cleanText, isPlainName } from "../../policy/clean.ts";
import { cleanSchema } from "./schemas.ts";
import { hash, namesOf } from "./tool_names.ts";

/** Tools of one server. */
export const MOST_TOOLS = 500;
/** Characters of all their schemas. */
const MOST_SCHEMAS = 4_000_000;
/** Characters of a description; OpenAI accepts no more. */
const LONGEST_DESCRIPTION = 1_024;
const LONGEST_NAME = 200;
const MOST_PROBLEMS = 20;

/** With more tools, or more characters of descriptions and schemas, models search for them. */
const MOST_LISTED = 40;
const MOST_LISTED_CHARACTERS = 24_000;

/** Annotations are not read: only the server says that they are true. */
const Row = z.object({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.unknown().optional(),
});

/** A tool before it has a name for models. */
export interface ServerTool extends Omit<McpTool, "name" | "isListed"> {
  /** Providers accept its schema. */
  readonly isAccepted: boolean;
  /** Characters of description and schema. */
  readonly size: number;
}

export interface ToolList {
  readonly tools: readonly ServerTool[];
  /** One line for each tool that is left out. */
  readonly problems: readonly string[];
}

export function toolList(server: string, rows: readonly unknown[]): ToolList {
  const tools = new Map<string, ServerTool>();
  const problems: string[] = [];
  let room = MOST_SCHEMAS;
  for (const row of rows.slice(0, MOST_TOOLS)) {
    try {
      const tool = toolOf(server, row);
      if (tools.has(tool.tool)) throw new Error(`${cleanLine(tool.tool, 80)} comes twice`);
      room -= tool.size;
      if (room < 0) {
        throw new Error(`${cleanLine(tool.tool, 80)}, because all schemas together are too large`);
      }
      tools.set(tool.tool, tool);
    } catch (error) {
      problems.push(`Left out: ${messageOf(error)}.`);
    }
  }
  if (rows.length > MOST_TOOLS) problems.unshift(`Left out: all tools after the first ${MOST_TOOLS}.`);
  return { tools: [...tools.values()], problems: problems.slice(0, MOST_PROBLEMS) };
}

function toolOf(server: string, row: unknown): ServerTool {
  const parsed = Row.safeParse(row);
  if (!parsed.success) throw new Error("a tool without a name");
  const { name, title, description = title ?? "", inputSchema } = parsed.data;
  if (!isPlainName(name, LONGEST_NAME)) {
    throw new Error(`a tool whose name is empty, too long or misleading: ${cleanLine(name, 80)}`);
  }
  try {
    const lead = `MCP server ${server}: `;
    const text = cleanText(description, LONGEST_DESCRIPTION - lead.length).trim();
    const schema = cleanSchema(inputSchema);
    const whole = lead + text + JSON.stringify(schema.parameters);
    return {
      server,
      tool: name,
      description: lead + text,
      ...schema,
      size: whole.length,
      digest: hash(whole),
    };
  } catch (error) {
    throw new Error(`${cleanLine(name, 80)} ${messageOf(error)}`);
  }
}

/** The tools of all servers, with their names for models. */
export function namedTools(tools: readonly ServerTool[]): readonly McpTool[] {
  const names = namesOf(tools);
  const size = tools.reduce((sum, one) => sum + one.size, 0);
  const areFew = tools.length <= MOST_LISTED && size <= MOST_LISTED_CHARACTERS;
  return tools.map(({ isAccepted, size: _, ...tool }, at) => ({
    ...tool,
    name: names[at] ?? tool.tool,
    isListed: areFew && isAccepted,
  }));
}
