/**
 * Encodes the answers of a script in the formats of four wires. Pure: an answer becomes a sequence of steps
 * for the server.
 *
 * Sources: OpenAI, "Chat Completions: streaming events", "Responses: streaming events" and the types of its
 * client; Anthropic, "Streaming messages" and "Errors"; Ollama, docs/api.md, api/types.go and
 * server/routes.go.
 */
import { AnthropicEncoder } from "./wire_anthropic.ts";
import { ollamaEncoder } from "./wire_ollama.ts";
import { openaiEncoder } from "./wire_openai.ts";
import { ResponsesEncoder } from "./wire_responses.ts";
import { plan } from "./plan.ts";
import { type Answer, type Control, endsAnswer, type HttpAnswer } from "./answer.ts";
import type { Encoder, Reply } from "./encoder.ts";

export type ScriptedWire = "openai_chat" | "openai_responses" | "anthropic_messages" | "ollama";

export type ScriptStep =
  | { readonly kind: "send"; readonly bytes: Uint8Array<ArrayBuffer> }
  | {
    readonly kind: "respond";
    readonly code: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }
  | Exclude<Control, { kind: "garbage" }>;

const encoders: Readonly<Record<ScriptedWire, (answer: Answer, reply: Reply) => Encoder>> = {
  openai_chat: openaiEncoder,
  openai_responses: (_, reply) => new ResponsesEncoder(reply),
  anthropic_messages: (answer, reply) => new AnthropicEncoder(answer, reply),
  ollama: ollamaEncoder,
};

const utf8 = new TextEncoder();

/** The steps of `answer` on `wire`. */
export function* encode(wire: ScriptedWire, answer: Answer, reply: Reply): Generator<ScriptStep> {
  const instead = answer.parts.some((part) => part.kind === "status" || part.kind === "html");
  const encoder = encoders[wire](answer, reply);
  let produced = 0;
  if (!instead) yield* send(encoder.begin());
  for (const delta of plan(answer, reply.firstCall)) {
    if (delta.kind === "status" || delta.kind === "html") yield httpAnswer(wire, delta, reply);
    else if (delta.kind === "error") yield* send(encoder.error(delta.type, delta.message));
    else if (delta.kind === "garbage") yield garbage(wire, delta.bytes);
    else if (
      delta.kind === "slow" || delta.kind === "wait" || delta.kind === "split" || delta.kind === "cut"
    ) yield delta;
    else if (delta.kind !== "eof") {
      if (delta.kind !== "call_end") produced++;
      yield* send(encoder.content(delta));
    }
  }
  if (answer.parts.some(endsAnswer)) return;
  const usage = answer.usage ?? { input: reply.promptTokens, output: produced, cached: 0 };
  const calls = answer.parts.some((part) => part.kind === "call");
  const end = encoder.end(answer.stop ?? (calls ? "tool_calls" : "end_turn"), usage);
  yield* send(answer.noDone ? end.slice(0, -1) : end);
}

/** Number of ids that an answer uses. */
export function countCalls(answer: Answer): number {
  return answer.parts.filter((part) => part.kind === "call").length;
}

export function contentType(wire: ScriptedWire): string {
  if (wire === "openai_chat") return "text/event-stream; charset=utf-8";
  return wire === "ollama" ? "application/x-ndjson" : "text/event-stream";
}

/** The JSON body of an HTTP error in the provider's format. */
export function errorBody(wire: ScriptedWire, code: number, message: string, request: number): string {
  if (wire === "ollama") return JSON.stringify({ error: message });
  if (wire === "anthropic_messages") {
    const error = {
      type: anthropicErrors[code] ?? (code < 500 ? "invalid_request_error" : "api_error"),
      message,
    };
    return JSON.stringify({ type: "error", error, request_id: `req_${request}` });
  }
  const [type, name] = openaiErrors[code] ?? [code < 500 ? "invalid_request_error" : "server_error", null];
  return JSON.stringify({ error: { message, type, param: null, code: name } });
}

const anthropicErrors: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const openaiErrors: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ["invalid_request_error", "invalid_api_key"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
};

function httpAnswer(wire: ScriptedWire, answer: HttpAnswer, reply: Reply): ScriptStep {
  if (answer.kind === "html") {
    const body =
      "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body><h1>Sign in to the network</h1></body></html>\n";
    return { kind: "respond", code: 200, headers: { "content-type": "text/html; charset=utf-8" }, body };
  }
  const body = answer.body ??
    errorBody(wire, answer.code, `The script answers with HTTP ${answer.code}.`, reply.request);
  const type = /^\s*[{[]/.test(body) ? "application/json" : "text/plain; charset=utf-8";
  return { kind: "respond", code: answer.code, headers: { "content-type": type, ...answer.headers }, body };
}

/** On its own line; a blank line ends it if events end with one. */
function garbage(wire: ScriptedWire, bytes: Uint8Array): ScriptStep {
  const end = utf8.encode(wire === "ollama" ? "\n" : "\n\n");
  return { kind: "send", bytes: new Uint8Array([...bytes, ...end]) };
}

function* send(frames: readonly string[]): Generator<ScriptStep> {
  for (const frame of frames) yield { kind: "send", bytes: utf8.encode(frame) };
}
