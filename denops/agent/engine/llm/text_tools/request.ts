/** Rewrites a request for a model without native calls: tools, calls and results become text. Pure. */
import type { Message, ToolMessage } from "../../log/messages.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { withoutImages } from "../vision.ts";
import { END_MARK } from "../end_mark.ts";
import { describeTools, type Form, written } from "./forms.ts";

/**
 * The same request without tools. Calls stay as the model wrote them. The results of an answer form one user
 * message, and adjacent user messages are merged, because templates of such models require alternating roles.
 */
export function inText(request: ModelRequest, form: Form): ModelRequest {
  const { tools, textOnly: _, ...rest } = request;
  const messages = withoutImages(request.messages).map((message) => asText(message, form));
  const system = tools.length === 0 ? request.system : `${request.system}\n\n${describeTools(form, tools)}`;
  return { ...rest, system, messages: merged(messages), tools: [] };
}

function asText(message: Message, form: Form): Message {
  switch (message.role) {
    case "user":
      // Attached files are part of the message.
      return message.text.startsWith(PACKET) ? message : { ...message, text: harmless(message.text) };
    case "assistant": {
      const { written: own, text, calls, complete } = message;
      const parts = [text, ...calls.map((call) => written(form, call)), complete === true ? END_MARK : ""];
      const content = own ?? parts.filter((part) => part !== "").join("\n");
      return { ...message, text: content, calls: [] };
    }
    case "tool":
      return { role: "user", text: response(message) };
  }
}

/** The beginning of the engine's own notes. */
const PACKET = "<agent_control>";

/** The packet's first word after results in text. */
export const RESULTS_STATE = "results";
const RESULTS_PACKET = `${PACKET}{"state":"${RESULTS_STATE}"`;

/** Removes packets for models with calls in text: some providers refuse a user message after results. */
export function withoutPackets(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ role, text }) => role !== "user" || !text.startsWith(RESULTS_PACKET));
}

/** Prevents a file from ending its quotation or from imitating the system. */
function harmless(text: string): string {
  return text.replace(/<(\/?\s*(?:tool_response|agent_control))/gi, "<\\$1");
}

/**
 * The format of the Hermes and Qwen templates, plus the name, because several results may follow each other.
 */
function response({ name, text }: ToolMessage): string {
  return `<tool_response name="${name}">\n${harmless(text)}\n</tool_response>`;
}

function merged(messages: readonly Message[]): readonly Message[] {
  const list: Message[] = [];
  for (const message of messages) {
    const last = list.at(-1);
    if (message.role === "user" && last?.role === "user") {
      list[list.length - 1] = { role: "user", text: `${last.text}\n\n${message.text}` };
    } else {
      list.push(message);
    }
  }
  return list;
}
