/**
 * Ollama /api/chat, newline-delimited JSON.
 * Source: github.com/ollama/ollama, docs/api.md ("Generate a chat completion") and docs/tool-calling. Any
 * message may have images, but renderers of vision models (model/renderers/qwen3vl.go) ignore those of tool
 * messages.
 */
import * as z from "../../../deps/zod.ts";
import { WIRE_FACTS } from "../../../protocol/providers.ts";
import type { Message } from "../../log/messages.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { argumentsObject } from "../arguments.ts";
import { plainThought } from "../reasoning.ts";
import { imageLabel, resultsEndedBy } from "../vision.ts";
import { functionOf, jsonHeaders, parseFrame, requestBody, toolName } from "./json.ts";
import type { Delta, Endpoint, HttpRequest, Wire } from "./wire.ts";

const Line = z.object({
  message: z.object({
    content: z.string().nullish(),
    thinking: z.string().nullish(),
    tool_calls: z.array(z.object({
      id: z.string().nullish(),
      function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
    })).nullish(),
  }).nullish(),
  done: z.boolean().nullish(),
  done_reason: z.string().nullish(),
  prompt_eval_count: z.number().nullish(),
  eval_count: z.number().nullish(),
  error: z.string().nullish(),
});

interface State {
  /** Calls arrive complete; this numbers them. */
  readonly calls: number;
  readonly hasContent: boolean;
}

export const ollama: Wire<State> = {
  framing: "ndjson",

  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest {
    return {
      url: `${endpoint.baseUrl}${WIRE_FACTS.ollama.path}`,
      headers: jsonHeaders(endpoint),
      body: requestBody({
        model: request.model,
        stream: true,
        keep_alive: "30m",
        // Refuse a prompt that is too long instead of truncating it silently.
        truncate: false,
        shift: false,
        ...thinkField(request),
        options: {
          num_ctx: request.contextWindow,
          ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
          ...(request.maxOutputTokens === undefined ? {} : { num_predict: request.maxOutputTokens }),
        },
        messages: [{ role: "system", content: request.system }, ...request.messages.flatMap(encodeAll)],
        ...(request.tools.length === 0
          ? {}
          : { tools: request.tools.map((tool) => ({ type: "function", function: functionOf(tool) })) }),
      }),
    };
  },

  // Templates read the thoughts of the current turn: model/renderers/qwen3vl.go, gemma4.go, harmony.
  keeps: () => "turn",

  start: () => ({ calls: 0, hasContent: false }),

  step(state, frame) {
    const line = parseFrame(Line, frame);
    if (line.error) {
      const retryable = /overload|unavailable|timed? ?out|loading|busy/i.test(line.error);
      return [state, [{ type: "error", message: line.error, retryable }]];
    }
    const deltas: Delta[] = [];
    if (line.message?.thinking) deltas.push({ type: "thought", text: line.message.thinking });
    if (line.message?.content) deltas.push({ type: "text", text: line.message.content });
    let { calls } = state;
    const hasContent = state.hasContent || deltas.length > 0;
    for (const call of line.message?.tool_calls ?? []) {
      const args = call.function.arguments;
      deltas.push({ type: "call_start", index: calls, id: call.id ?? "", name: call.function.name });
      const text = typeof args === "string" ? args : JSON.stringify(args ?? {});
      deltas.push({ type: "call_arguments", index: calls, text });
      calls += 1;
    }
    const reason = line.done_reason ?? "";
    // The model was only loaded, or another request has unloaded it; this request was not processed.
    if (line.done && !hasContent && calls === 0 && /^(?:un)?load$/.test(reason)) {
      return [state, [{
        type: "error",
        message: `the model answered nothing ("${reason}")`,
        retryable: true,
      }]];
    }
    if (line.done) {
      const usage = { input: line.prompt_eval_count ?? 0, output: line.eval_count ?? 0 };
      const finish = reason === "length" ? "length" : calls > 0 ? "tool_calls" : "stop";
      deltas.push({ type: "usage", usage }, { type: "finish", reason: finish }, { type: "done" });
    }
    return [{ calls, hasContent }, deltas];
  },

  errorText(body) {
    const parsed = z.object({ error: z.string() }).safeParse(body);
    return parsed.success ? parsed.data.error : undefined;
  },
};

/** In ascending order. A server without the level gets the nearest lower one that it accepts. */
const LEVELS = ["low", "medium", "high", "max"];

/** Source: docs/capabilities/thinking.mdx. Thinking can't be disabled for every model with levels. */
function thinkField({ effort, thinking = [] }: ModelRequest): { readonly think?: boolean | string } {
  if (effort === undefined) return thinking.includes(true) ? { think: true } : {};
  if (effort === "none" && thinking.includes(false)) return { think: false };
  const known = LEVELS.filter((level) => thinking.includes(level));
  const level = known.findLast((one) => LEVELS.indexOf(one) <= LEVELS.indexOf(effort)) ?? known[0];
  if (level !== undefined) return { think: level };
  return effort !== "none" && thinking.includes(true) ? { think: true } : {};
}

/**
 * Images follow all results of an answer, each in a user message, because results must come before its text.
 */
function encodeAll(
  message: Message,
  at: number,
  messages: readonly Message[],
): readonly Record<string, unknown>[] {
  return [
    encodeMessage(message),
    ...resultsEndedBy(messages, at).flatMap((result) =>
      (result.images ?? []).map(({ name, data }) => ({
        role: "user",
        content: imageLabel(result, name),
        images: [data],
      }))
    ),
  ];
}

function encodeMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case "user": {
      const images = message.images?.map(({ data }) => data);
      return { role: "user", content: message.text, ...(images === undefined ? {} : { images }) };
    }
    case "tool":
      return {
        role: "tool",
        tool_name: toolName(message.name),
        tool_call_id: message.id,
        content: message.text,
      };
    case "assistant": {
      const empty = message.text.trim() === "" && message.calls.length === 0;
      const calls = message.calls.map((call) => ({
        id: call.id,
        function: { name: toolName(call.name), arguments: argumentsObject(call.arguments) },
      }));
      const thought = plainThought(message);
      return {
        role: "assistant",
        content: empty ? "[Reasoning completed]" : message.text,
        ...(thought === undefined ? {} : { thinking: thought }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
    }
  }
}
