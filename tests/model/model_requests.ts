/** Sound requests to the model server, for the tests of the server and of its checks. */
import { isObject, type JsonObject } from "./model_messages.ts";
import type { ModelServer } from "./model_server.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

export const wires: readonly ScriptedWire[] = [
  "openai_chat",
  "openai_responses",
  "anthropic_messages",
  "ollama",
];

const paths: Readonly<Record<ScriptedWire, string>> = {
  openai_chat: "/v1/chat/completions",
  openai_responses: "/v1/responses",
  anthropic_messages: "/v1/messages",
  ollama: "/api/chat",
};

export function chatHeaders(wire: ScriptedWire): Readonly<Record<string, string>> {
  if (wire !== "anthropic_messages") return { "content-type": "application/json" };
  return { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "key" };
}

export function chatBody(
  wire: ScriptedWire,
  messages: readonly unknown[],
  extra: JsonObject = {},
): JsonObject {
  const more: Readonly<Record<ScriptedWire, JsonObject>> = {
    openai_chat: { stream_options: { include_usage: true } },
    openai_responses: { store: false, include: ["reasoning.encrypted_content"] },
    anthropic_messages: { max_tokens: 1024 },
    ollama: {},
  };
  const named = wire === "openai_responses" ? { input: messages } : { messages };
  return { model: "test-model", stream: true, ...named, ...more[wire], ...extra };
}

/** Asks with `text` as the only message, or with the messages given. */
export function ask(
  url: string,
  wire: ScriptedWire,
  content: string | readonly unknown[],
  init: { readonly signal?: AbortSignal; readonly extra?: JsonObject } = {},
): Promise<Response> {
  const messages = typeof content === "string" ? [{ role: "user", content }] : content;
  return fetch(url + paths[wire], {
    method: "POST",
    headers: chatHeaders(wire),
    body: JSON.stringify(chatBody(wire, messages, init.extra)),
    ...(init.signal ? { signal: init.signal } : {}),
  });
}

/** The data of every event, or every line, as JSON; the mark of the end as text. */
export function frames(body: string): readonly (JsonObject | string)[] {
  return body.split("\n").filter((line) => line !== "" && !line.startsWith("event: ")).map((line) => {
    const data = line.replace(/^data: /, "");
    if (data === "[DONE]") return data;
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : data;
  });
}

/** The frames of the answer to `text`. */
export async function stream(
  server: ModelServer,
  wire: ScriptedWire,
  text = "Hi",
): Promise<readonly (JsonObject | string)[]> {
  return frames(await (await ask(server.url, wire, text)).text());
}
