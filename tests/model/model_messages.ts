/** What a request to a model says, apart from how its wire says it. Pure; takes any JSON. */
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface SentCall {
  readonly id: string | undefined;
  readonly name: string;
}

export interface SentResult {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
}

export interface SentMessage {
  readonly role: string;
  /** What the message itself says; the results of tools are apart. */
  readonly text: string;
  readonly calls: readonly SentCall[];
  readonly results: readonly SentResult[];
  /** Its own and those of its results. */
  readonly images: readonly SentImage[];
}

export interface SentImage {
  /** Undefined where the wire has no place for it. */
  readonly type: string | undefined;
  /** What should be base64. */
  readonly data: string;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of a list; nothing if it is none. */
export function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function property(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

export function string(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The blocks of an Anthropic message; a plain string is short for one text block. */
export function blocksOf(content: unknown): readonly JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
}

/** The messages as they are sent, or OpenAI's items. */
export function sentOf(body: JsonObject): readonly JsonObject[] {
  return objects(body.messages ?? body.input);
}

export function messagesOf(wire: ScriptedWire, body: JsonObject): readonly SentMessage[] {
  if (wire === "openai_responses") return itemMessages(objects(body.input));
  return objects(body.messages).map(wire === "anthropic_messages" ? anthropicMessage : chatMessage);
}

/** All that is new since the last answer of the model: the user's words, or the results of its calls. */
export function newestText(messages: readonly SentMessage[]): string {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(last + 1)
    .flatMap((message) => [...message.results.map((result) => result.text), message.text])
    .filter((text) => text !== "")
    .join("\n");
}

export function newestUserText(messages: readonly SentMessage[]): string {
  // Images of results are sent in the user's name, and are not the user's words.
  const own = ({ role, text, images }: SentMessage) => role === "user" && text !== "" && images.length === 0;
  return messages.findLast(own)?.text ?? "";
}

/**
 * The messages as JSON, one text each; Anthropic's `system` and OpenAI's `instructions` are the first. Without cache
 * marks, and with Anthropic's short forms written out, so that equal prompts are equal texts.
 */
export function transcript(wire: ScriptedWire, body: JsonObject): readonly string[] {
  const messages = sentOf(body);
  if (wire === "openai_responses") {
    const system = body.instructions === undefined ? [] : [{ role: "system", content: body.instructions }];
    return [...system, ...messages].map((message) => JSON.stringify(message));
  }
  if (wire !== "anthropic_messages") return messages.map((message) => JSON.stringify(message));
  const system = body.system === undefined ? [] : [{ role: "system", content: body.system }];
  return [...system, ...messages].map((message) =>
    JSON.stringify(
      { ...message, content: blocksOf(message.content) },
      (key, value) => key === "cache_control" ? undefined : value,
    )
  );
}

/** Histories are told apart by their first user message. */
export function historyKey(wire: ScriptedWire, body: JsonObject): string {
  const all = transcript(wire, body);
  const extra = all.length - sentOf(body).length;
  const first = sentOf(body).findIndex((message) => message.role === "user");
  return `${wire} ${all[first + extra] ?? ""}`;
}

function anthropicMessage(message: JsonObject): SentMessage {
  const blocks = blocksOf(message.content);
  const ofType = (type: string) => blocks.filter((block) => block.type === type);
  return {
    role: string(message.role) ?? "",
    text: textOf(ofType("text")),
    calls: ofType("tool_use").map((block) => ({ id: string(block.id), name: string(block.name) ?? "" })),
    results: ofType("tool_result").map((block) => {
      return { id: string(block.tool_use_id), name: undefined, text: textOf(block.content) };
    }),
    images: [...blocks, ...ofType("tool_result").flatMap((block) => blocksOf(block.content))]
      .filter((block) => block.type === "image").map(({ source }) => ({
        type: string(property(source, "media_type")),
        data: string(property(source, "data")) ?? "",
      })),
  };
}

/** OpenAI's items: those of the assistant that follow each other are one message, each result is one of its own. */
function itemMessages(items: readonly JsonObject[]): readonly SentMessage[] {
  const messages: SentMessage[] = [];
  for (const item of items) {
    const next = itemMessage(item);
    const last = messages.at(-1);
    if (next.role === "assistant" && last?.role === "assistant") {
      const text = [last.text, next.text].filter((one) => one !== "").join("\n");
      messages[messages.length - 1] = { ...last, text, calls: [...last.calls, ...next.calls] };
    } else {
      messages.push(next);
    }
  }
  return messages;
}

function itemMessage(item: JsonObject): SentMessage {
  const nothing = { text: "", calls: [], results: [], images: [] };
  const id = string(item.call_id);
  switch (item.type) {
    case "reasoning":
      return { ...nothing, role: "assistant" };
    case "function_call":
    case "custom_tool_call":
      return { ...nothing, role: "assistant", calls: [{ id, name: string(item.name) ?? "" }] };
    case "function_call_output":
    case "custom_tool_call_output":
      return {
        ...nothing,
        role: "tool",
        results: [{ id, name: undefined, text: textOf(item.output) }],
        images: openaiImages(item.output),
      };
    default: {
      const { content } = item;
      return {
        ...nothing,
        role: string(item.role) ?? "",
        text: textOf(content),
        images: openaiImages(content),
      };
    }
  }
}

/** OpenAI's chat's and Ollama's. */
function chatMessage(message: JsonObject): SentMessage {
  const role = string(message.role) ?? "";
  const text = textOf(message.content);
  const result = { id: string(message.tool_call_id), name: string(message.tool_name), text };
  return {
    role,
    text: role === "tool" ? "" : text,
    calls: objects(message.tool_calls).map((call) => {
      return { id: string(call.id), name: string(property(call.function, "name")) ?? "" };
    }),
    results: role === "tool" ? [result] : [],
    images: [...openaiImages(message.content), ...ollamaImages(message.images)],
  };
}

function openaiImages(content: unknown): readonly SentImage[] {
  const shown = objects(content).filter(({ type }) => type === "image_url" || type === "input_image");
  return shown.map(({ image_url }) => {
    const url = string(image_url) ?? string(property(image_url, "url")) ?? "";
    const [, type, data = ""] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
    return { type, data };
  });
}

function ollamaImages(images: unknown): readonly SentImage[] {
  return Array.isArray(images) ? images.map((data) => ({ type: undefined, data: string(data) ?? "" })) : [];
}

/** The list of the project's files, which a busy machine sends later than in the first request. */
const LATE_FILES =
  /\n*<context_(\w+)>\n(?:Built with: |Files when the session began)[\s\S]*?<\/context_\1>\n?/g;

/** A text without the list of the project's files. */
export function withoutLateFiles(text: string): string {
  return text.replace(LATE_FILES, "");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return withoutLateFiles(content);
  return objects(content).map((part) => withoutLateFiles(string(part.text) ?? ""))
    .filter((text) => text !== "").join("\n");
}

/** A message without what it says of the mode. */
export function withoutMode(text: string): string {
  return text.replace(/^<mode_\w+>[^]*?<\/mode_\w+>\n\n|\n<mode_\w+>[^]*?<\/mode_\w+>/g, "");
}
