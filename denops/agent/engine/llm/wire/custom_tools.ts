/**
 * Tools of OpenAI's Responses whose calls are plain text with a grammar. Pure. The log stores the text as the
 * one argument `input`, as for every other wire. Source: platform.openai.com/docs, "Function calling", custom
 * tools.
 */
import { isRecord } from "../../calls/json_schema.ts";
import type { ModelRequest, ToolSpec } from "../../log/model_request.ts";
import { parseArguments } from "../arguments.ts";
import { functionOf } from "./json.ts";

/** OpenAI's models that support them, by name. */
function takesCustomTools(model: string): boolean {
  return /(?:^|[\/:])(?:codex|gpt-(?:[5-9]|\d\d))/i.test(model) && !/-chat\b/i.test(model);
}

function isCustom({ model, without = [] }: ModelRequest, { grammar }: ToolSpec): boolean {
  return grammar !== undefined && takesCustomTools(model) && !without.includes("custom_tools");
}

export function customNames(request: ModelRequest): ReadonlySet<string> {
  return new Set(request.tools.flatMap((tool) => isCustom(request, tool) ? [tool.name] : []));
}

export function toolItem(request: ModelRequest, tool: ToolSpec): Readonly<Record<string, unknown>> {
  if (!isCustom(request, tool)) return { type: "function", ...functionOf(tool), strict: false };
  const { name, description, grammar } = tool;
  const format = { type: "grammar", syntax: "lark", definition: grammar };
  return { type: "custom", name, description, format };
}

/** The text of a call. */
export function inputOfCall(argumentsText: string): string {
  const parsed = parseArguments(argumentsText);
  const input = parsed.ok && isRecord(parsed.value) ? parsed.value.input ?? parsed.value.patch : undefined;
  return typeof input === "string" ? input : argumentsText;
}

/**
 * Turns a piece of a call's text into a piece of JSON arguments. @param isFirst it is the first piece @param
 * isLast the call is complete
 */
export function argumentsPiece(text: string, isFirst: boolean, isLast: boolean): string {
  return `${isFirst ? '{"input":"' : ""}${JSON.stringify(text).slice(1, -1)}${isLast ? '"}' : ""}`;
}
