/** A request to a model that has no tool calls of its own: tools, calls and results as text. Pure. */
import type { Message, ToolMessage } from "../../log/messages.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { withoutImages } from "../vision.ts";
import { END_MARK } from "../end_mark.ts";
import { describeTools, type Form, written } from "./forms.ts";

/**
 * The same request without tools. Calls stand as the model wrote them, the results of an answer in one user message, and
 * user messages that follow each other are one: templates of such models have roles alternate.
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
      // What was handed over stands in it too.
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

/** As the engine's own notes begin. */
const PACKET = "<agent_control>";

/** How the packet begins that stands behind results in text. */
export const RESULTS_STATE = "results";
const RESULTS_PACKET = `${PACKET}{"state":"${RESULTS_STATE}"`;

/** Without what only a model whose calls stand in its text is told: some providers take no word after results. */
export function withoutPackets(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ role, text }) => role !== "user" || !text.startsWith(RESULTS_PACKET));
}

/** A file must neither end its own quotation nor give the system's word. */
function harmless(text: string): string {
  return text.replace(/<(\/?\s*(?:tool_response|agent_control))/gi, "<\\$1");
}

/** As Hermes and Qwen have it in their templates; with the name, for results of several calls. */
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
