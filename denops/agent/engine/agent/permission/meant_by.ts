/** What a call means: the tool, of those that are offered, and the arguments as it takes them. Pure. */
import { isRecord } from "../../calls/json_schema.ts";
import type { ToolCall } from "../../log/messages.ts";
import { parseArguments, type ParsedArguments } from "../../llm/arguments.ts";
import { meantCall } from "../../tools/calls/meant_call.ts";
import type { Tool } from "../../tools/define.ts";

export interface Meaning {
  /** Undefined if there is no such tool. */
  readonly tool: Tool | undefined;
  /** As they were written; the tool fits them. */
  readonly args: ParsedArguments;
  /** As the tool takes them. */
  readonly fitted: ParsedArguments;
  /** What to do where there is no tool. */
  readonly advice: string | undefined;
}

export function meantBy(call: Pick<ToolCall, "name" | "arguments">, tools: readonly Tool[]): Meaning {
  const parsed = parseArguments(call.arguments);
  const { tool, args: value, advice } = meantCall(
    call.name,
    parsed.ok ? parsed.value : call.arguments,
    tools,
  );
  // A patch is a text of its own, which some models send as it is.
  const args: ParsedArguments = parsed.ok || isRecord(value) ? { ok: true, value } : parsed;
  const isObject = tool !== undefined && args.ok && isRecord(args.value);
  return { tool, args, fitted: isObject ? { ok: true, value: tool.fit(args.value) } : args, advice };
}
