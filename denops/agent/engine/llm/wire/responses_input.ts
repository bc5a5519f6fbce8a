/** Encodes a session as input items of OpenAI's Responses. Pure. */
import type { AssistantMessage, Image, Message, ToolCall } from "../../log/messages.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { argumentsText } from "../arguments.ts";
import { type IdRule, withCallIds } from "./call_ids.ts";
import { customNames, inputOfCall } from "./custom_tools.ts";
import { toolName } from "./json.ts";

/** "Expected a string with maximum length 64" */
const IDS: IdRule = { legal: /^.{1,64}$/s, length: 32 };

type Item = Readonly<Record<string, unknown>>;

export function inputOf(request: ModelRequest): readonly Item[] {
  const isRefused = request.without?.includes("earlier_reasoning") === true;
  const custom = customNames(request);
  return withCallIds(request.messages, IDS).flatMap((message) => encodeMessage(message, isRefused, custom));
}

/** @param custom names of tools whose calls are text */
function encodeMessage(
  message: Message,
  withoutReasoning: boolean,
  custom: ReadonlySet<string>,
): readonly Item[] {
  switch (message.role) {
    case "user":
      return [{
        type: "message",
        role: "user",
        content: encodeParts(message),
      }];
    case "tool":
      return [{
        type: custom.has(message.name) ? "custom_tool_call_output" : "function_call_output",
        call_id: message.id,
        output: message.images === undefined ? message.text : encodeParts(message),
      }];
    case "assistant":
      return encodeAssistant(withoutReasoning ? { ...message, reasoning: [] } : message, custom);
  }
}

/** Each image has its name before it, because a message may have several. */
function encodeParts({ text, images = [] }: { readonly text: string; readonly images?: readonly Image[] }) {
  const imageContent = images.flatMap(({ name, type, data }) => [
    { type: "input_text", text: `${name}:` },
    { type: "input_image", image_url: `data:${type};base64,${data}`, detail: "auto" },
  ]);
  return text.trim() === "" && imageContent.length > 0
    ? imageContent
    : [{ type: "input_text", text }, ...imageContent];
}

/** Keeps the items' original order as far as it is known: text before calls. */
function encodeAssistant(
  { text, calls, reasoning }: AssistantMessage,
  custom: ReadonlySet<string>,
): readonly Item[] {
  const items: Item[] = [];
  let phase: string | undefined;
  let textEnd = 0;
  let called = 0;
  const addUpTo = (characters: number, count: number) => {
    const part = text.slice(textEnd, characters);
    if (part.trim() !== "") items.push(encodeText(part, phase));
    items.push(...calls.slice(called, count).map((call) => encodeCall(call, custom)));
    textEnd = Math.max(textEnd, characters);
    called = Math.max(called, count);
  };
  for (const part of reasoning) {
    if (part.type === "phase") {
      addUpTo(part.text, called);
      phase = part.phase;
    } else if (part.type === "encrypted") {
      addUpTo(part.text, part.calls);
      const summary = part.summary.map((text) => ({ type: "summary_text", text }));
      items.push({ type: "reasoning", summary, encrypted_content: part.data });
    }
  }
  addUpTo(text.length, calls.length);
  // The API refuses reasoning without a following item, as in a truncated answer.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items.length > 0 ? items : [encodeText("[Reasoning completed]")];
}

/** Uses the short form of a message, because the long form requires an id. */
function encodeText(text: string, phase?: string): Item {
  return { type: "message", role: "assistant", content: text, ...(phase === undefined ? {} : { phase }) };
}

function encodeCall({ id, name, arguments: text }: ToolCall, custom: ReadonlySet<string>): Item {
  if (custom.has(name)) return { type: "custom_tool_call", call_id: id, name, input: inputOfCall(text) };
  return {
    type: "function_call",
    call_id: id,
    name: toolName(name),
    arguments: argumentsText(text),
  };
}
