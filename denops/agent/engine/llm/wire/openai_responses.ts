/**
 * OpenAI Responses, streamed and without storage: each request contains the whole history.
 * Source: the types of OpenAI's client (github.com/openai/openai-node, src/resources/responses/responses.ts)
 * and platform.openai.com/docs, "Reasoning models" (encrypted items go back unchanged and in order, each
 * before the item that followed it), "Function calling". Item ids refer to stored items, so they are omitted,
 * as in codex and opencode. Local servers differ: llama.cpp (tools/server/server-task.cpp) does not number
 * items and gives calls only a `call_id`; Ollama (openai/responses.go) sends complete calls, and its thoughts
 * as "encrypted" content.
 */
import { createHash } from "node:crypto";
import * as z from "../../../deps/zod.ts";
import { WIRE_FACTS } from "../../../protocol/providers.ts";
import type { ModelRequest, Refusable } from "../../log/model_request.ts";
import { isRetryable } from "../retry.ts";
import { effortWord } from "./effort.ts";
import { ArgumentsText, Index, jsonHeaders, parseFrame, requestBody } from "./json.ts";
import { openaiChat } from "./openai_chat.ts";
import { argumentsPiece as argumentsPieceOf, toolItem } from "./custom_tools.ts";
import { begun, found, isItemType, type Items, type Named, NO_ITEMS, withPiece } from "./response_items.ts";
import { inputOf } from "./responses_input.ts";
import type { Delta, Endpoint, HttpRequest, Wire } from "./wire.ts";

type Sent = Readonly<Record<string, unknown>>;

/** The API's minimum. */
const LEAST_TOKENS = 16;

const Texts = z.array(z.object({ text: z.string().nullish(), refusal: z.string().nullish() }));

const Item = z.object({
  type: z.string(),
  id: z.string().nullish(),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: ArgumentsText,
  /** Set in a custom tool's call. */
  input: z.string().nullish(),
  phase: z.string().nullish(),
  content: Texts.nullish(),
  summary: Texts.nullish(),
  encrypted_content: z.string().nullish(),
});
type Item = z.infer<typeof Item>;

const Failure = z.object({
  code: z.unknown().optional(),
  type: z.unknown().optional(),
  message: z.string().nullish(),
});

const Answered = z.object({
  error: Failure.nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  usage: z.object({
    input_tokens: z.number().nullish(),
    output_tokens: z.number().nullish(),
    input_tokens_details: z.object({
      cached_tokens: z.number().nullish(),
      cache_write_tokens: z.number().nullish(),
    }).nullish(),
  }).nullish(),
});

const Event = z.preprocess(
  (value) => isWhole(value) ? { type: "response", ...value } : value,
  z.object({
    type: z.string(),
    output_index: Index,
    item_id: z.string().nullish(),
    item: Item.nullish(),
    delta: z.unknown().optional(),
    arguments: ArgumentsText,
    input: z.string().nullish(),
    response: Answered.nullish(),
    /** Set in a complete answer that replaces the stream. */
    output: z.array(Item).nullish().catch(undefined),
    code: z.unknown().optional(),
    message: z.string().nullish(),
    /** OpenAI documents an error's fields in the event, but its servers nest them here. */
    error: Failure.nullish(),
  }),
);
type Event = z.infer<typeof Event>;

/** A complete answer that replaces the stream has no type. */
function isWhole(value: unknown): value is object {
  return typeof value === "object" && value !== null && "object" in value && value.object === "response";
}

interface State {
  readonly items: Items;
  /** Number of calls that have begun. */
  readonly calls: number;
  /** Characters of text sent so far. */
  readonly characters: number;
  /** The last delta was part of a thought. */
  readonly thought: boolean;
  readonly thinks: boolean;
}

export const openaiResponses: Wire<State> = {
  framing: "sse",

  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest {
    const { tools, temperature, maxOutputTokens } = request;
    return {
      url: `${endpoint.baseUrl}${WIRE_FACTS.openai_responses.path}`,
      headers: jsonHeaders(endpoint),
      body: requestBody({
        model: request.model,
        stream: true,
        store: false,
        ...(temperature === undefined ? {} : { temperature }),
        ...(maxOutputTokens === undefined
          ? {}
          : { max_output_tokens: Math.max(maxOutputTokens, LEAST_TOKENS) }),
        ...reasoningFields(request, endpoint.baseUrl),
        ...cacheKey(request, endpoint.baseUrl),
        instructions: request.system,
        input: inputOf(request),
        ...(tools.length === 0 ? {} : {
          tools: tools.map((tool) => toolItem(request, tool)),
          tool_choice: request.textOnly === true ? "none" : "auto",
          parallel_tool_calls: true,
        }),
      }),
    };
  },

  start: () => ({ items: NO_ITEMS, calls: 0, characters: 0, thought: false, thinks: false }),

  step(state, frame) {
    // Some servers send it after the event that ends the answer.
    if (frame.trim() === "[DONE]") return [state, []];
    const event = parseFrame(Event, frame);
    switch (event.type) {
      case "response.output_item.added":
        return event.item ? itemAdded(state, event, event.item) : [state, []];
      case "response.output_text.delta":
      case "response.refusal.delta":
        return textPiece(state, event);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return thoughtPiece(state, event);
      case "response.reasoning_summary_part.added":
        // Parts of a summary are paragraphs with headings.
        return [state, state.thinks ? [{ type: "thought", text: "\n\n" }] : []];
      case "response.function_call_arguments.delta":
        return argumentsPiece(state, event);
      case "response.function_call_arguments.done":
        return argumentsRest(state, event, event.arguments ?? "");
      case "response.custom_tool_call_input.delta":
        return inputPiece(state, event, textOf(event.delta), false);
      case "response.custom_tool_call_input.done":
        return inputRest(state, event, event.input ?? "");
      case "response.output_item.done":
        return event.item ? itemDone(state, event, event.item) : [state, []];
      case "response.completed":
      case "response.incomplete":
        return [state, [...usageOf(event), finish(state, event), { type: "done" }]];
      case "response":
        return wholeResponse(state, event, frame);
      case "response.failed":
      case "error":
        return [state, [...usageOf(event), ...failed(event)]];
      default:
        // response.created, content_part.added, …_text.done and future kinds
        return [state, []];
    }
  },

  errorText: openaiChat.errorText,

  refuses(detail): Refusable | undefined {
    if (/\bcustom\b/i.test(detail) && /tool|supported values/i.test(detail)) return "custom_tools";
    if (/reasoning[._ ]summar/i.test(detail)) return "reasoning_summary";
    if (
      /invalid_encrypted_content|encrypted.content.*(?:verified|not issued)|required following item/is.test(
        detail,
      )
    ) {
      return "earlier_reasoning";
    }
    return /encrypted.content/i.test(detail) ? "encrypted_reasoning" : undefined;
  },

  // LM Studio answers 200 for unknown paths.
  otherWire: (status, detail) =>
    [404, 405, 501].includes(status) && !/model/i.test(detail) || /unexpected endpoint/i.test(detail)
      ? "openai_chat"
      : undefined,
};

/**
 * All sessions begin alike. Without a key, OpenAI finds a cached prefix only by its beginning, for up to
 * about fifteen requests a minute. Source: platform.openai.com/docs, "Prompt caching".
 */
function cacheKey({ messages: [first] }: ModelRequest, baseUrl: string): Sent {
  if (first === undefined || !/(?:^|\.)openai\.com$/.test(new URL(baseUrl).hostname)) return {};
  return { prompt_cache_key: createHash("sha256").update(first.text).digest("hex").slice(0, 32) };
}

/** Requests no reasoning output from a model that is not to think. */
function reasoningFields(request: ModelRequest, baseUrl: string): Sent {
  const { without = [], thinking, effort } = request;
  const tells = reasons(request.model) && effort !== "none" && thinking?.length !== 0;
  const word = effortWord(request, baseUrl);
  const reasoning = {
    ...(word === undefined ? {} : { effort: word }),
    ...(tells && !without.includes("reasoning_summary") ? { summary: "auto" } : {}),
  };
  return {
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(tells && !without.includes("encrypted_reasoning")
      ? { include: ["reasoning.encrypted_content"] }
      : {}),
  };
}

/** OpenAI's reasoning models, by name: others refuse the fields. */
function reasons(model: string): boolean {
  return /(?:^|[\/:])(?:o\d|codex|gpt-oss|gpt-(?:[5-9]|\d\d))/i.test(model) && !/-chat\b/i.test(model);
}

function textOf(delta: unknown): string {
  return typeof delta === "string" ? delta : "";
}

type Step = readonly [State, readonly Delta[]];

function itemOf(type: Named["type"], { output_index: output, item_id, item }: Event): Named {
  return { type, output, ids: [item_id, item?.id, item?.call_id] };
}

function itemAdded(state: State, event: Event, item: Item): Step {
  if (item.type === "function_call" || item.type === "custom_tool_call") {
    const items = begun(state.items, itemOf(item.type, event));
    const id = item.call_id ?? item.id ?? "";
    const index = items.at(-1)?.index ?? 0;
    const start: Delta = { type: "call_start", index, id, name: item.name ?? "" };
    return [{ ...state, items, calls: state.calls + 1, thinks: false }, [start]];
  }
  if (item.type !== "message" && item.type !== "reasoning") return [state, []];
  const next = { ...state, items: begun(state.items, itemOf(item.type, event)) };
  const { type, phase } = item;
  return [next, type === "message" && phase ? [{ type: "phase", phase, text: state.characters }] : []];
}

function textPiece(state: State, event: Event): Step {
  const text = textOf(event.delta);
  if (text === "") return [state, []];
  const items = withPiece(state.items, found(state.items, itemOf("message", event)), text);
  const next = { ...state, items, characters: state.characters + text.length, thinks: false };
  return [next, [{ type: "text", text }]];
}

function thoughtPiece(state: State, event: Event): Step {
  const text = textOf(event.delta);
  if (text === "") return [state, []];
  const items = withPiece(state.items, found(state.items, itemOf("reasoning", event)), text);
  return [{ ...state, items, thought: true, thinks: true }, [{ type: "thought", text }]];
}

function argumentsPiece(state: State, event: Event): Step {
  const text = textOf(event.delta);
  const call = found(state.items, itemOf("function_call", event)) ??
    state.items.findLast(({ type }) => type === "function_call");
  return call === undefined ? [state, []] : tellArguments(state, call, text);
}

/** Some servers send arguments only when they are complete. */
function argumentsRest(state: State, event: Event, whole: string): Step {
  const call = found(state.items, itemOf("function_call", event));
  if (call === undefined || !whole.startsWith(call.text)) return [state, []];
  return tellArguments(state, call, whole.slice(call.text.length));
}

function tellArguments(state: State, call: Items[number], text: string): Step {
  if (text === "") return [state, []];
  const { index } = call;
  return [{ ...state, items: withPiece(state.items, call, text) }, [{ type: "call_arguments", index, text }]];
}

/** A piece of a custom tool's call. @param isLast the call is complete */
function inputPiece(state: State, event: Event, text: string, isLast: boolean): Step {
  const call = found(state.items, itemOf("custom_tool_call", event));
  if (call === undefined || call.isWhole === true || (text === "" && !isLast)) return [state, []];
  const piece = argumentsPieceOf(text, call.text === "", isLast);
  const items = withPiece(state.items, call, text, isLast);
  return [{ ...state, items }, [{ type: "call_arguments", index: call.index, text: piece }]];
}

function inputRest(state: State, event: Event, whole: string): Step {
  const { text: before = "" } = found(state.items, itemOf("custom_tool_call", event)) ?? {};
  return inputPiece(state, event, whole.startsWith(before) ? whole.slice(before.length) : "", true);
}

/**
 * Sends the part of an item that its pieces have not contained. A reasoning item is complete only when it is
 * done.
 */
function itemDone(state: State, event: Event, item: Item): Step {
  if (!isItemType(item.type)) return [state, []];
  const known = found(state.items, itemOf(item.type, event));
  switch (item.type) {
    case "function_call": {
      const [next, start] = known === undefined ? itemAdded(state, event, item) : [state, []];
      const [last, rest] = argumentsRest(next, event, item.arguments ?? "");
      return [last, [...start, ...rest]];
    }
    case "custom_tool_call": {
      const [next, start] = known === undefined ? itemAdded(state, event, item) : [state, []];
      const [last, rest] = inputRest(next, event, item.input ?? "");
      return [last, [...start, ...rest]];
    }
    case "message": {
      const text = texts(item.content).join("");
      const isTold = known === undefined ? state.characters > 0 : known.text !== "";
      if (text === "" || isTold) return [state, []];
      const next = { ...state, characters: state.characters + text.length, thinks: false };
      return [next, [{ type: "text", text }]];
    }
    case "reasoning": {
      const summary = texts(item.summary);
      const text = [...summary, ...texts(item.content)].join("\n\n");
      const isTold = known === undefined ? state.thought : known.text !== "";
      const deltas: Delta[] = text === "" || isTold ? [] : [{ type: "thought", text }];
      const data = item.encrypted_content;
      if (data) deltas.push({ type: "encrypted", summary, data, text: state.characters, calls: state.calls });
      return [text === "" ? state : { ...state, thought: true, thinks: true }, deltas];
    }
  }
}

function wholeResponse(state: State, { output }: Event, frame: string): Step {
  const response = parseFrame(Answered, frame);
  let next = state;
  const deltas: Delta[] = [];
  for (const item of output ?? []) {
    const [after, more] = itemDone(next, { type: "response", item }, item);
    next = after;
    deltas.push(...more);
  }
  const type = response.incomplete_details?.reason ? "response.incomplete" : "response.completed";
  return [next, [...deltas, ...usageOf({ type, response }), finish(next, { type, response })]];
}

function texts(parts: Item["content"]): readonly string[] {
  return (parts ?? []).map(({ text, refusal }) => text ?? refusal ?? "").filter((text) => text !== "");
}

function usageOf({ response }: Event): readonly Delta[] {
  const usage = response?.usage;
  if (!usage) return [];
  const details = usage.input_tokens_details;
  return [{
    type: "usage",
    usage: {
      input: usage.input_tokens ?? 0,
      output: usage.output_tokens ?? 0,
      cachedRead: details?.cached_tokens ?? 0,
      cachedWrite: details?.cache_write_tokens ?? 0,
    },
  }];
}

function finish({ calls }: State, { type, response }: Event): Delta {
  const reason = response?.incomplete_details?.reason;
  if (reason === "content_filter") return { type: "finish", reason: "refused" };
  if (type === "response.incomplete" && reason === "max_output_tokens") {
    return { type: "finish", reason: "length" };
  }
  return {
    type: "finish",
    reason: calls > 0 ? "tool_calls" : "stop",
  };
}

/** Error codes for requests that violate a policy. */
const POLICY = /^(?:invalid_prompt|content_filter|(?:bio|cyber)_policy|image_content_policy_violation)$/;

function failed({ response, error, code, message }: Event): readonly Delta[] {
  const failure = error ?? response?.error ?? { code, message };
  const kind = typeof failure.code === "string" ? failure.code : "";
  const reason = failure.message || kind || "it gave no reason";
  if (POLICY.test(kind)) return [{ type: "finish", reason: "refused", why: reason }, { type: "done" }];
  const retryable = isRetryable(Number(failure.code ?? NaN)) ||
    /server_error|rate_limit|overload|slow_down|unavailable|timeout/i.test(`${kind} ${failure.type}`);
  return [{ type: "error", message: reason, retryable }];
}
