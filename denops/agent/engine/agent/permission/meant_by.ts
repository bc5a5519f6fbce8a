/** Finds the offered tool of a call and the arguments that the tool accepts. Pure. */
import { isRecord } from "../../calls/json_schema.ts";
import { ruleNames } from "../../calls/old_names.ts";
import { bareName } from "../../calls/tool_names.ts";
import type { ToolCall } from "../../log/messages.ts";
import { parseArguments, type ParsedArguments } from "../../llm/arguments.ts";
import { meantCall } from "../../tools/calls/meant_call.ts";
import { callTool } from "../../tools/mcp/call_tool.ts";
import type { Tool } from "../../tools/define.ts";
import { goneTool } from "../../tools/mcp/mcp_tool.ts";

export interface Meaning {
  /** Undefined if no such tool exists. */
  readonly tool: Tool | undefined;
  /** Its names, for rules on tools: the current one, and the old ones that mean this call. */
  readonly names: readonly string[];
  /** As the model wrote them; the tool adapts them. */
  readonly args: ParsedArguments;
  /** As the tool accepts them. */
  readonly fitted: ParsedArguments;
  /** A hint if the tool does not exist. */
  readonly advice: string | undefined;
}

/** @param servers names of the MCP servers: a call of a tool that one lacks, or does not have yet, is told so */
export function meantBy(
  call: Pick<ToolCall, "name" | "arguments">,
  tools: readonly Tool[],
  servers: readonly string[] = [],
): Meaning {
  const meaning = directlyMeantBy(call, tools);
  const name = bareName(call.name);
  if (meaning.tool === undefined && servers.some((server) => name.startsWith(`${server}__`))) {
    return directlyMeantBy({ ...call, name }, [
      goneTool({ name, description: "", parameters: { type: "object" } }),
    ]);
  }
  const { tool, fitted } = meaning;
  if (tool?.name !== callTool.name || !fitted.ok || !isRecord(fitted.value)) return meaning;
  // Rules, modes and approvals are those of the tool that is called.
  const { name: called, arguments: args = {} } = fitted.value;
  const inner = typeof called === "string" ? tools.find((one) => one.name === called.trim()) : undefined;
  if (inner === undefined || inner.name === callTool.name) return meaning;
  const direct = directlyMeantBy({ name: inner.name, arguments: JSON.stringify(args) }, tools);
  return { ...direct, names: [...direct.names, ...meaning.names] };
}

function directlyMeantBy(call: Pick<ToolCall, "name" | "arguments">, tools: readonly Tool[]): Meaning {
  const parsed = parseArguments(call.arguments);
  const { tool, args: value, advice } = meantCall(
    call.name,
    parsed.ok ? parsed.value : call.arguments,
    tools,
  );
  // A patch is plain text, which some models send without JSON.
  const args: ParsedArguments = parsed.ok || isRecord(value) ? { ok: true, value } : parsed;
  const isObject = tool !== undefined && args.ok && isRecord(args.value);
  const fitted = isObject ? { ok: true, value: tool.fit(args.value) } as const : args;
  return { tool, names: namesOf(tool, fitted), args, fitted, advice };
}

function namesOf(tool: Tool | undefined, fitted: ParsedArguments): readonly string[] {
  if (tool === undefined) return [];
  const args = fitted.ok && isRecord(fitted.value) ? fitted.value : {};
  return ruleNames(tool, args);
}
