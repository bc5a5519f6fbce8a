/**
 * Anthropic Messages, streamed.
 * Source: docs.anthropic.com, "Messages", "Streaming Messages", "Tool use", "Prompt caching", "Extended
 * thinking", "Vision". A tool's result may be a list of text and images.
 */
import * as z from "../../../deps/zod.ts";
import { WIRE_FACTS } from "../../../protocol/providers.ts";
import type { AssistantMessage, Image, Message, Reasoning, ToolCall } from "../../log/messages.ts";
import type { FinishReason, ModelRequest } from "../../log/model_request.ts";
import { argumentsObject } from "../arguments.ts";
import { type IdRule, withCallIds } from "./call_ids.ts";
import { thinkingOf } from "./claude_thinking.ts";
import { ArgumentsText, Index, parseFrame, requestBody, toolName } from "./json.ts";
import type { Delta, Endpoint, HttpRequest, Wire } from "./wire.ts";

/** The API refuses blank text, and then every later request of the session. */
const EMPTY = "[empty message]";

/** "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" */
const IDS: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 32 };

const ErrorObject = z.object({ type: z.string().optional(), message: z.string() });

const TokenCounts = z.object({
  input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
});

const Block = z.object({
  type: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
  text: z.string().optional(),
  data: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  input: ArgumentsText.catch(undefined),
});

const Event = z.object({
  type: z.string(),
  index: Index,
  message: z.object({ usage: TokenCounts.nullish() }).optional(),
  content_block: Block.optional(),
  /** Set in a complete answer that replaces the stream. */
  content: z.array(Block).optional().catch(undefined),
  stop_reason: z.string().nullish(),
  delta: z.object({
    type: z.string().optional(),
    text: z.string().optional(),
    partial_json: z.string().optional(),
    thinking: z.string().optional(),
    signature: z.string().optional(),
    stop_reason: z.string().nullish(),
    /** Set in a refusal. */
    stop_details: z.object({ explanation: z.string().nullish() }).nullish().catch(undefined),
  }).optional(),
  usage: TokenCounts.nullish(),
  error: ErrorObject.optional(),
});
type Event = z.infer<typeof Event>;

interface State {
  /** Token counts of message_start; message_delta may omit the input tokens. */
  readonly counts: z.infer<typeof TokenCounts>;
  /** Some servers begin a call with its complete input. Later pieces replace it. */
  readonly input?: Extract<Delta, { type: "call_arguments" }> | undefined;
}

export const anthropicMessages: Wire<State> = {
  framing: "sse",

  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest {
    const cached = { cache_control: { type: "ephemeral" } };
    const tools = request.tools.map((tool, index) => ({
      name: tool.name,
      description: tool.description,
      input_schema: tool.parameters,
      ...(index === request.tools.length - 1 ? cached : {}),
    }));
    const thinking = thinkingOf(request);
    const { "anthropic-beta": own, ...headers } = endpoint.headers;
    const betas = [own, thinking.beta].filter((beta) => beta !== undefined);
    return {
      url: `${endpoint.baseUrl}${WIRE_FACTS.anthropic_messages.path}`,
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        ...(endpoint.apiKey === undefined ? {} : { "x-api-key": endpoint.apiKey }),
        ...headers,
        ...(betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") }),
      },
      body: requestBody({
        model: request.model,
        max_tokens: thinking.maxTokens,
        stream: true,
        ...thinking.fields,
        ...(request.temperature === undefined || thinking.isOn ? {} : { temperature: request.temperature }),
        system: [{ type: "text", text: request.system, ...cached }],
        ...(tools.length === 0 ? {} : { tools }),
        ...(tools.length > 0 && request.textOnly === true ? { tool_choice: { type: "none" } } : {}),
        messages: markCached(encodeMessages(withCallIds(request.messages, IDS))),
      }),
    };
  },

  start: () => ({ counts: {} }),

  step(state, frame) {
    const event = parseFrame(Event, frame);
    switch (event.type) {
      case "message_start":
        return messageStart(state, event);
      case "content_block_start": {
        const [rest, before] = takeInput(state);
        return [{ ...rest, input: wholeInput(event) }, [...before, ...blockStart(event)]];
      }
      case "content_block_delta": {
        const isReplaced = event.delta?.partial_json && state.input?.index === (event.index ?? 0);
        return [isReplaced ? { ...state, input: undefined } : state, blockDelta(event)];
      }
      case "content_block_stop":
        return takeInput(state);
      case "message_delta": {
        const [rest, before] = takeInput(state);
        const [next, deltas] = messageDelta(rest, event);
        return [next, [...before, ...deltas]];
      }
      case "message_stop": {
        const [rest, before] = takeInput(state);
        return [rest, [...before, { type: "done" }]];
      }
      case "message":
        return [state, wholeMessage(event)];
      case "error": {
        const kind = event.error?.type ?? "error";
        const retryable = ["overloaded_error", "api_error", "rate_limit_error", "timeout_error"].includes(
          kind,
        );
        return [state, [{ type: "error", message: event.error?.message ?? kind, retryable }]];
      }
      default:
        // ping and future kinds
        return [state, []];
    }
  },

  errorText(body) {
    const parsed = z.object({ error: ErrorObject }).safeParse(body);
    return parsed.success ? parsed.data.error.message : undefined;
  },
};

type BlockStart = Pick<Event, "content_block" | "index">;

function blockStart({ content_block: block, index }: BlockStart): readonly Delta[] {
  if (block?.type === "tool_use") {
    return [{ type: "call_start", index: index ?? 0, id: block.id ?? "", name: block.name ?? "" }];
  }
  if (block?.type === "redacted_thinking") return [{ type: "redacted", data: block.data ?? "" }];
  return block?.type === "text" && block.text ? [{ type: "text", text: block.text }] : [];
}

function wholeInput({ content_block: block, index }: BlockStart): State["input"] {
  return block?.input ? { type: "call_arguments", index: index ?? 0, text: block.input } : undefined;
}

/** Sends the complete input of the last call if no pieces followed. */
function takeInput(state: State): readonly [State, readonly Delta[]] {
  return state.input === undefined ? [state, []] : [{ ...state, input: undefined }, [state.input]];
}

function wholeMessage({ content = [], usage, stop_reason: reason }: Event): readonly Delta[] {
  const blocks = content.flatMap((block, index): readonly Delta[] => {
    const input = wholeInput({ content_block: block, index });
    return [
      ...block.thinking ? [{ type: "thought", text: block.thinking } as const] : [],
      ...block.signature ? [{ type: "signature", signature: block.signature } as const] : [],
      ...blockStart({ content_block: block, index }),
      ...input ? [input] : [],
    ];
  });
  const counts = usage ? [usageOf(dropEmpty(usage))] : [];
  const finish = reason ? [{ type: "finish", reason: finishReason(reason) } as const] : [];
  return [...blocks, ...counts, ...finish];
}

function blockDelta({ delta, index: number }: Event): readonly Delta[] {
  const index = number ?? 0;
  switch (delta?.type) {
    case "text_delta":
      return [{ type: "text", text: delta.text ?? "" }];
    case "input_json_delta":
      return [{ type: "call_arguments", index, text: delta.partial_json ?? "" }];
    case "thinking_delta":
      return [{ type: "thought", text: delta.thinking ?? "" }];
    case "signature_delta":
      return [{ type: "signature", signature: delta.signature ?? "" }];
    default:
      return [];
  }
}

/** Counts the input here, because it is charged even if the answer is stopped. */
function messageStart(state: State, { message }: Event): readonly [State, readonly Delta[]] {
  const counts = dropEmpty(message?.usage ?? {});
  return [{ ...state, counts }, Object.keys(counts).length === 0 ? [] : [usageOf(counts)]];
}

function usageOf(counts: State["counts"]): Delta {
  const cachedRead = counts.cache_read_input_tokens ?? 0;
  const cachedWrite = counts.cache_creation_input_tokens ?? 0;
  const input = (counts.input_tokens ?? 0) + cachedRead + cachedWrite;
  return { type: "usage", usage: { input, output: counts.output_tokens ?? 0, cachedRead, cachedWrite } };
}

function messageDelta(state: State, event: Event): readonly [State, readonly Delta[]] {
  const counts = { ...state.counts, ...dropEmpty(event.usage ?? {}) };
  const deltas: Delta[] = [usageOf(counts)];
  if (event.delta?.stop_reason) {
    const why = event.delta.stop_details?.explanation;
    deltas.push({ type: "finish", reason: finishReason(event.delta.stop_reason), ...(why ? { why } : {}) });
  }
  return [{ ...state, counts }, deltas];
}

function dropEmpty(counts: z.infer<typeof TokenCounts>): z.infer<typeof TokenCounts> {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => typeof value === "number"));
}

/** Source: platform.claude.com/docs, "Handling stop reasons". */
function finishReason(reason: string): FinishReason {
  switch (reason) {
    case "tool_use":
      return "tool_calls";
    case "max_tokens":
      return "length";
    case "model_context_window_exceeded":
      return "window_full";
    case "refusal":
      return "refused";
    case "pause_turn":
      return "paused";
    default:
      // end_turn, stop_sequence and future kinds
      return "stop";
  }
}

interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Record<string, unknown>[];
}

/** Roles must alternate, and one user message must contain all results of the preceding message's calls. */
function encodeMessages(messages: readonly Message[]): readonly WireMessage[] {
  const encoded: WireMessage[] = [];
  for (const message of messages) {
    const next = encodeMessage(message);
    const last = encoded.at(-1);
    if (last?.role === next.role) {
      encoded[encoded.length - 1] = { role: last.role, content: [...last.content, ...next.content] };
    } else {
      encoded.push(next);
    }
  }
  return encoded;
}

function encodeMessage(message: Message): WireMessage {
  switch (message.role) {
    case "user":
      return {
        role: "user",
        content: [
          { type: "text", text: message.text.trim() === "" ? EMPTY : message.text },
          ...(message.images ?? []).flatMap(encodeImage),
        ],
      };
    case "tool":
      return {
        role: "user",
        content: [{
          type: "tool_result",
          tool_use_id: message.id,
          content: message.images === undefined ? message.text : [
            { type: "text", text: message.text.trim() === "" ? EMPTY : message.text },
            ...message.images.flatMap(encodeImage),
          ],
          ...(message.isError ? { is_error: true } : {}),
        }],
      };
    case "assistant":
      return { role: "assistant", content: encodeAssistant(message) };
  }
}

/** The name comes first, because a result may have several images. */
function encodeImage({ name, type, data }: Image): readonly Record<string, unknown>[] {
  return [
    { type: "text", text: `${name}:` },
    { type: "image", source: { type: "base64", media_type: type, data } },
  ];
}

/** Keeps the blocks in their original order: the API refuses moved thoughts. Text precedes calls. */
function encodeAssistant({ text, calls, reasoning }: AssistantMessage): readonly Record<string, unknown>[] {
  if (text.trim() === "" && calls.length === 0) return [{ type: "text", text: "[Reasoning completed]" }];
  const blocks: Record<string, unknown>[] = [];
  let textEnd = 0;
  let called = 0;
  const addUpTo = (characters: number, count: number) => {
    const part = characters < text.length ? text.slice(textEnd, characters) : text.slice(textEnd).trimEnd();
    // The API refuses empty and blank text.
    if (part.trim() !== "") blocks.push({ type: "text", text: part });
    blocks.push(...calls.slice(called, count).map(encodeCall));
    textEnd = Math.max(textEnd, characters);
    called = Math.max(called, count);
  };
  for (const part of reasoning) {
    if (part.type === "signed" || part.type === "redacted") addUpTo(part.at?.text ?? 0, part.at?.calls ?? 0);
    blocks.push(...encodeReasoning(part));
  }
  addUpTo(text.length, calls.length);
  // "The final block in an assistant message cannot be `thinking`."
  return blocks.slice(0, blocks.findLastIndex(({ type }) => type === "text" || type === "tool_use") + 1);
}

function encodeCall({ id, name, arguments: text }: ToolCall): Record<string, unknown> {
  return { type: "tool_use", id, name: toolName(name), input: argumentsObject(text) };
}

function encodeReasoning(part: Reasoning): readonly Record<string, unknown>[] {
  switch (part.type) {
    case "signed":
      return [{ type: "thinking", thinking: part.text, signature: part.signature }];
    case "redacted":
      return [{ type: "redacted_thinking", data: part.data }];
    default:
      // The API refuses an unsigned thought.
      return [];
  }
}

/** Marks the last two messages for the cache, so that the next request finds this one's prefix. */
function markCached(messages: readonly WireMessage[]): readonly WireMessage[] {
  return messages.map((message, index) => {
    const last = message.content.at(-1);
    if (index < messages.length - 2 || last === undefined) return message;
    const marked = { ...last, cache_control: { type: "ephemeral" } };
    return { role: message.role, content: [...message.content.slice(0, -1), marked] };
  });
}
