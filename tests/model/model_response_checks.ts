/**
 * What must hold for a request to OpenAI's responses: each check says in one line what is wrong. Pure.
 *
 * Sources: the types of OpenAI's client (src/resources/responses/responses.ts) and the refusals "Item with id 'rs_…' not
 * found. Items are not persisted when `store` is set to false", "Item 'rs_…' of type 'reasoning' was provided without its
 * required following item", "Missing required parameter: 'input[N].summary'", "Invalid 'input[N].content': array too
 * long", "Expected a string with maximum length 64", "Expected a value >= 16".
 */
import { type JsonObject, objects, string } from "./model_messages.ts";
import { signatureOf } from "../../denops/agent/scripted_model/wire_anthropic.ts";

const KINDS = [
  ...["message", "reasoning", "function_call", "function_call_output"],
  ...["custom_tool_call", "custom_tool_call_output"],
];

export function checkResponses(body: JsonObject): string[] {
  const found: string[] = [];
  if (body.store !== false) found.push("store is not false");
  if (body.messages !== undefined) found.push("there are messages, not input");
  const { max_output_tokens: most = 16 } = body;
  if (!Number.isInteger(most) || Number(most) < 16) found.push("max_output_tokens is not 16 or more");
  for (const tool of objects(body.tools)) {
    if (tool.type !== "custom" && tool.strict !== false) {
      found.push(`tool ${tool.name} is not said to be lax`);
    }
  }
  const items = objects(body.input);
  for (const [at, item] of items.entries()) found.push(...checkItem(at, item, items[at + 1]));
  return found;
}

function checkItem(at: number, item: JsonObject, next: JsonObject | undefined): string[] {
  const type = item.type ?? (item.role === undefined ? undefined : "message");
  const label = `item ${at} (${type})`;
  const found: string[] = [];
  if (!KINDS.some((kind) => kind === type)) found.push(`${label} is of no known type`);
  if (item.id !== undefined) found.push(`${label} has an id, and nothing is stored`);
  switch (type) {
    case "message":
      if (!string(item.content) && objects(item.content).length === 0) {
        found.push(`${label} has no content`);
      }
      break;
    case "reasoning":
      found.push(...checkReasoning(label, item));
      if (!isOutput(next)) found.push(`${label} is without the item that followed it`);
      break;
    case "function_call":
      if (typeof item.arguments !== "string") found.push(`${label}: its arguments are not a string`);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(string(item.name) ?? "")) found.push(`${label} has no valid name`);
      found.push(...checkCallId(label, item));
      break;
    case "custom_tool_call":
      if (typeof item.input !== "string") found.push(`${label}: its input is not a string`);
      if (item.arguments !== undefined) found.push(`${label} has arguments`);
      found.push(...checkCallId(label, item));
      break;
    case "custom_tool_call_output":
    case "function_call_output":
      if (typeof item.output !== "string" && !Array.isArray(item.output)) {
        found.push(`${label} has no output`);
      }
      found.push(...checkCallId(label, item));
      break;
  }
  return found;
}

function checkReasoning(label: string, { summary, content, encrypted_content }: JsonObject): string[] {
  const found: string[] = [];
  if (!Array.isArray(summary)) found.push(`${label} has no summary`);
  if (content !== undefined) found.push(`${label} has content`);
  const text = objects(summary).map((part) => string(part.text) ?? "").join("");
  if (encrypted_content !== signatureOf(text)) found.push(`${label}: the signature does not fit the summary`);
  return found;
}

function checkCallId(label: string, { call_id }: JsonObject): string[] {
  const { length = 0 } = string(call_id) ?? "";
  return length > 0 && length <= 64 ? [] : [`${label} has no valid call_id`];
}

/** Of the model. */
function isOutput(item: JsonObject | undefined): boolean {
  return item !== undefined &&
    (item.type === "function_call" || item.type === "custom_tool_call" || item.type === "reasoning" ||
      item.role === "assistant");
}
