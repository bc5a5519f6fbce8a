/**
 * OpenAI Chat Completions, streamed, as many services implement it.
 * Sources: platform.openai.com/docs/api-reference/chat and .../chat-streaming. `reasoning_content` is the
 * name of DeepSeek and vLLM, `reasoning` that of OpenRouter and Groq; Mistral's thoughts are a part of the
 * content (docs.mistral.ai, "Reasoning"); Copilot's are `reasoning_text` and `reasoning_opaque` (Zed,
 * crates/copilot_chat). Further finish reasons: documentation of Mistral, DeepSeek and OpenRouter. Images:
 * OpenAI's guide, "Images and vision". `extra_content`: Gemini's "Thought signatures"; without it the next
 * request fails.
 */
import * as z from "../../../deps/zod.ts";
import { WIRE_FACTS } from "../../../protocol/providers.ts";
import type { AssistantMessage, Image, Message } from "../../log/messages.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { argumentsText, isWhole } from "../arguments.ts";
import { isRetryable } from "../retry.ts";
import { imageLabel, resultsEndedBy } from "../vision.ts";
import { bridged, forService } from "./chat_services.ts";
import { effortFields } from "./effort.ts";
import { keptFor, thoughtFields } from "./openai_thoughts.ts";
import { ArgumentsText, functionOf, Index, jsonHeaders, parseFrame, requestBody, toolName } from "./json.ts";
import type { Delta, Endpoint, HttpRequest, Wire } from "./wire.ts";

const ErrorBody = z.union([
  z.object({
    error: z.object({ message: z.string(), code: z.unknown().optional(), type: z.unknown().optional() }),
  }),
  z.object({ error: z.string() }),
  z.object({ message: z.string(), object: z.literal("error") }),
]);

const Called = z.object({ name: z.string().nullish(), arguments: ArgumentsText });

const CallPiece = z.object({
  index: Index,
  id: z.union([z.string(), z.number().transform(String)]).nullish(),
  function: Called.nullish(),
  extra_content: z.record(z.string(), z.unknown()).nullish(),
});

/** Text, or Mistral's list of texts and thoughts. */
const Content = z.union([
  z.string(),
  z.array(z.object({
    text: z.string().nullish(),
    thinking: z.array(z.object({ text: z.string().nullish() })).nullish(),
  })),
]);

const Piece = z.object({
  content: Content.nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish().catch(undefined),
  reasoning_text: z.string().nullish(),
  reasoning_opaque: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.union([z.array(CallPiece), CallPiece.transform((piece) => [piece])]).nullish(),
  /** The older form of `tool_calls`. */
  function_call: Called.nullish(),
});

const Chunk = z.object({
  choices: z.array(z.object({
    delta: Piece.nullish(),
    /** Set in a complete answer that replaces the stream; some servers also use it for a delta. */
    message: Piece.nullish(),
    finish_reason: z.string().nullish(),
  })).nullish(),
  usage: z.object({
    prompt_tokens: z.number().nullish(),
    completion_tokens: z.number().nullish(),
    total_tokens: z.number().nullish(),
    prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
  }).nullish(),
  error: z.unknown().optional(),
});

interface State {
  /** The calls so far by our index, with the provider's id and the arguments' text. */
  readonly calls: readonly { readonly id: string; readonly text: string }[];
  /** The provider's index → ours. */
  readonly current: Readonly<Record<number, number>>;
}

export const openaiChat: Wire<State> = {
  framing: "sse",

  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest {
    const { without = [] } = request;
    const isNewer = without.includes("max_tokens") || new URL(endpoint.baseUrl).hostname === "api.openai.com";
    const limit = isNewer ? "max_completion_tokens" : "max_tokens";
    return {
      url: `${endpoint.baseUrl}${WIRE_FACTS.openai_chat.path}`,
      headers: jsonHeaders(endpoint),
      body: requestBody({
        model: request.model,
        stream: true,
        ...(without.includes("stream_options") ? {} : { stream_options: { include_usage: true } }),
        ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
        ...(request.maxOutputTokens === undefined ? {} : { [limit]: request.maxOutputTokens }),
        ...effortFields(request, endpoint.baseUrl),
        messages: [{ role: "system", content: request.system }, ...encodeMessages(request, endpoint.baseUrl)],
        ...(request.tools.length === 0 ? {} : {
          tools: request.tools.map((tool) => ({ type: "function", function: functionOf(tool) })),
          tool_choice: request.textOnly === true ? "none" : "auto",
        }),
      }),
    };
  },

  keeps: keptFor,

  start: () => ({ calls: [], current: {} }),

  step(state, frame) {
    if (frame.trim() === "[DONE]") return [state, [{ type: "done" }]];
    const chunk = parseFrame(Chunk, frame);
    if (chunk.error !== undefined && chunk.error !== null) return [state, [streamError(chunk.error)]];
    const deltas: Delta[] = [];
    let next = state;
    for (const choice of chunk.choices ?? []) {
      const delta = choice.delta ?? choice.message;
      const details = delta?.reasoning_details ?? [];
      const thought = delta?.reasoning_content ?? delta?.reasoning ?? delta?.reasoning_text ??
        details.map(detailText).join("");
      if (thought) deltas.push({ type: "thought", text: thought });
      if (delta?.reasoning_opaque) deltas.push({ type: "signature", signature: delta.reasoning_opaque });
      if (details.length > 0) deltas.push({ type: "details", details });
      deltas.push(...contentDeltas(delta?.content || (delta?.refusal ?? "")));
      const legacy = delta?.function_call ? [{ function: delta.function_call }] : [];
      for (const piece of delta?.tool_calls ?? legacy) next = stepCall(next, piece, deltas);
      if (choice.finish_reason) {
        deltas.push(finishDelta(choice.finish_reason, next.calls.length > 0));
      }
    }
    if (chunk.usage) {
      const cached = chunk.usage.prompt_tokens_details?.cached_tokens ?? 0;
      const { prompt_tokens: input, completion_tokens: completion, total_tokens: all } = chunk.usage;
      // xAI and Gemini count thoughts only in the total, all others also in the output.
      const output = Math.max(completion ?? 0, (all ?? 0) - (input ?? 0));
      deltas.push({ type: "usage", usage: { input: input ?? 0, output, cachedRead: cached } });
    }
    return [next, deltas];
  },

  // OpenAI, Azure, Fireworks, FastAPI and gateways use different wordings.
  refuses(detail) {
    if (!UNKNOWN.test(detail)) return undefined;
    if (/stream_options/.test(detail)) return "stream_options";
    return /\bmax_tokens\b/.test(detail) ? "max_tokens" : undefined;
  },

  otherWire: (_status, detail) => /\bv1\/responses/.test(detail) ? "openai_responses" : undefined,

  errorText(body) {
    const parsed = ErrorBody.safeParse(Array.isArray(body) ? body[0] : body);
    if (!parsed.success) return undefined;
    if ("message" in parsed.data) return parsed.data.message;
    return typeof parsed.data.error === "string" ? parsed.data.error : parsed.data.error.message;
  },
};

/** The server refuses the parameter, not its value. */
const UNKNOWN =
  /un(?:supported|known|expected|recognized)[\w ]* (?:parameter|argument|field)|extra[ _](?:inputs?|parameters?|forbidden)|not (?:permitted|allowed)|max_completion_tokens/i;

function detailText({ text, summary }: Readonly<Record<string, unknown>>): string {
  return typeof text === "string" ? text : typeof summary === "string" ? summary : "";
}

function contentDeltas(content: z.infer<typeof Content>): readonly Delta[] {
  const parts = typeof content === "string" ? [{ text: content }] : content;
  return parts.flatMap((part): readonly Delta[] => {
    const thought = "thinking" in part ? part.thinking?.map(({ text }) => text ?? "").join("") : undefined;
    return [
      ...(thought ? [{ type: "thought" as const, text: thought }] : []),
      ...(part.text ? [{ type: "text" as const, text: part.text }] : []),
    ];
  });
}

function stepCall(state: State, piece: z.infer<typeof CallPiece>, deltas: Delta[]): State {
  const { name, arguments: text } = piece.function ?? {};
  const calls = [...state.calls];
  let { current } = state;
  let index = continued(state, piece);
  if (index === undefined) {
    index = calls.length;
    current = { ...current, [piece.index ?? index]: index };
    deltas.push({ type: "call_start", index, id: piece.id ?? "", name: name ?? "" });
  }
  const before = calls[index] ?? { id: piece.id ?? "", text: "" };
  calls[index] = { id: before.id, text: before.text + (text ?? "") };
  if (text) deltas.push({ type: "call_arguments", index, text });
  if (piece.extra_content) deltas.push({ type: "call_extra", index, extra: piece.extra_content });
  return { calls, current };
}

/**
 * Our index of the call that a piece continues; undefined if it begins a new one. Some services number every
 * call 0, or omit the number or the id; then a name after complete arguments begins a call.
 */
function continued({ calls, current }: State, piece: z.infer<typeof CallPiece>): number | undefined {
  const same = piece.id ? calls.findIndex(({ id }) => id === piece.id) : -1;
  const unnumbered = same >= 0 ? same : calls.length - 1;
  const index = typeof piece.index === "number" ? current[piece.index] : unnumbered;
  const call = index === undefined ? undefined : calls[index];
  if (call === undefined || !piece.function?.name) return call && index;
  if (piece.id) return call.id === piece.id ? index : undefined;
  return isWhole(call.text) ? undefined : index;
}

/**
 * `model_length` is Mistral's. Gemini writes "content_filter: RECITATION", "function_call_filter: …", or its
 * own names in capitals.
 */
function finishDelta(reason: string, calls: boolean): Delta {
  if (reason === "error" || reason === "insufficient_system_resource") {
    return { type: "error", message: `finish_reason "${reason}"`, retryable: true };
  }
  if (/^(?:model_)?length$|^max_tokens$/i.test(reason)) return { type: "finish", reason: "length" };
  if (/^(?:content_filter|safety|recitation|blocklist|prohibited_content|spii)\b/i.test(reason)) {
    return { type: "finish", reason: "refused" };
  }
  if (/^(?:function_call_filter|malformed_function_call|unexpected_tool_call)\b/i.test(reason)) {
    return { type: "finish", reason: "malformed" };
  }
  return { type: "finish", reason: calls ? "tool_calls" : "stop" };
}

const Failure = z.object({ code: z.unknown().optional(), type: z.unknown().optional() }).catch({});

/** Services put the kind of an error into its code, its type or its text. */
function streamError(error: unknown): Delta {
  const message = openaiChat.errorText({ error }) ?? JSON.stringify(error).slice(0, 200);
  const { code, type } = Failure.parse(error);
  const retryable = isRetryable(Number(code ?? NaN)) ||
    /overload|rate.?limit|capacity|unavailable|server_error|timeout/i.test(`${message} ${type} ${code}`);
  return { type: "error", message, retryable };
}

/** Only user messages may have images. One user message with all images follows the results of an answer. */
function encodeMessages(
  request: ModelRequest,
  baseUrl: string,
): readonly Readonly<Record<string, unknown>>[] {
  const messages = forService(request, baseUrl);
  const encoded = messages.flatMap((message, at) => {
    const parts = resultsEndedBy(messages, at).flatMap((result) =>
      (result.images ?? []).flatMap((image) => imageParts(image, imageLabel(result, image.name)))
    );
    const images = parts.length === 0 ? [] : [{ role: "user", content: parts }];
    const thought = message.role === "assistant" ? thoughtFields(message, request, baseUrl) : {};
    return [{ ...encodeMessage(message), ...thought }, ...images];
  });
  return bridged(encoded, request.model);
}

/** The label comes first, because a message may have several images. */
function imageParts({ type, data }: Image, label: string): readonly Record<string, unknown>[] {
  return [
    { type: "text", text: label },
    { type: "image_url", image_url: { url: `data:${type};base64,${data}` } },
  ];
}

function encodeMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case "user": {
      const { text, images = [] } = message;
      if (images.length === 0) return { role: "user", content: text };
      const imageContent = images.flatMap((image) => imageParts(image, `${image.name}:`));
      return { role: "user", content: [{ type: "text", text }, ...imageContent] };
    }
    case "tool":
      return { role: "tool", tool_call_id: message.id, content: message.text };
    case "assistant": {
      const calls = message.calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: toolName(call.name), arguments: argumentsText(call.arguments) },
        ...(call.extra === undefined ? {} : { extra_content: call.extra }),
      }));
      const sealed = sealedThought(message);
      if (calls.length > 0) return { role: "assistant", content: message.text, ...sealed, tool_calls: calls };
      return {
        role: "assistant",
        ...sealed,
        content: message.text.trim() === "" ? "[Reasoning completed]" : message.text,
      };
    }
  }
}

/** For some models Copilot requires its sealed thoughts back. */
function sealedThought({ reasoning, by }: AssistantMessage): Record<string, unknown> {
  // Other signatures belong to other wires.
  const signed = by?.wire === "openai_chat" ? reasoning.filter((one) => one.type === "signed") : [];
  const opaque = signed.at(-1)?.signature;
  return opaque === undefined
    ? {}
    : { reasoning_text: signed.map(({ text }) => text).join(""), reasoning_opaque: opaque };
}
