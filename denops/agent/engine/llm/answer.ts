/** Parses the body of one HTTP answer into deltas and its end. */
import { messageOf, TurnError } from "../../shared/errors.ts";
import type { Refusable } from "../log/model_request.ts";
import {
  filteredError,
  garbageError,
  isWindowFull,
  loadingError,
  memoryError,
  otherWireError,
  quotaError,
  statusError,
  streamError,
  windowFullError,
} from "./failures/failures.ts";
import { htmlError, tooLargeError } from "./failures/transport.ts";
import { type Target } from "./failures/text.ts";
import { isLoading, isOutOfMemory, refusesCalls, windowIn } from "./failures/local.ts";
import type { AnyWire } from "./registry.ts";
import { Reads } from "./reads.ts";
import type { Refused } from "./failures/refusals.ts";
import { isRetryable } from "./retry.ts";
import type { Delta } from "./wire/wire.ts";

/** Characters of one answer. The JSON around each token may add hundreds of bytes. */
const LARGEST_ANSWER = 8_000_000;
/** The first characters are shown without batching. */
const FIRST_SIZE = 32;
/** Characters of an error body that are read. */
const LARGEST_ERROR = 16_384;

/** How one attempt ended. */
export type TryEnd =
  | { readonly type: "done" }
  | {
    readonly type: "failed";
    readonly error: TurnError;
    readonly retryable: boolean;
    readonly headers?: Headers;
    /** The provider refused the key, which may have expired. */
    readonly noKey?: boolean;
    /** The request may succeed without one of these. */
    readonly refused?: readonly Refused[];
    /** The server's token limit, if the error contains it. */
    readonly window?: number | undefined;
    /** The server is still loading the model. */
    readonly loading?: boolean;
  }
  /** The body ended before the answer was complete. */
  | { readonly type: "cut_off" };

/**
 * Codes of OpenAI and Copilot for an account without credit. They arrive with the status of a rate limit, and
 * the text is ambiguous: Gemini also calls a limit per minute an exceeded quota.
 */
const QUOTA_USED_UP = /"(?:code|type)"\s*:\s*"(?:insufficient_quota|quota_exceeded)"/;

/** Anthropic answers 400: "Your credit balance is too low to access the Anthropic API." */
const NO_CREDIT = /credit balance is too low/i;

/**
 * A prompt that a content filter refused, as Azure (learn.microsoft.com, "Content filtering") and OpenAI word
 * it.
 */
const FILTERED =
  /"code"\s*:\s*"(?:content_filter|ResponsibleAIPolicyViolation|invalid_prompt|(?:bio|cyber)_policy)"/;

/** Classifies an error answer by its status and text. @param onBytes receives the body */
export async function refusal(
  response: Response,
  wire: AnyWire,
  target: Target,
  onBytes: (bytes: Uint8Array) => void,
): Promise<TryEnd> {
  const text = await beginning(response, onBytes);
  const html = /^\s*</.test(text);
  const detail = html ? "" : errorInBody(text, wire) ?? text;
  if ((response.status === 429 && QUOTA_USED_UP.test(text)) || NO_CREDIT.test(detail)) {
    return { type: "failed", error: quotaError(response.status, detail, target), retryable: false };
  }
  // llama.cpp has reported a full window with status 500.
  if ([400, 413, 422, 500].includes(response.status) && isWindowFull(text)) {
    const error = windowFullError(`HTTP ${response.status}: ${detail}`, target);
    const refused: readonly Refused[] = response.status === 413 ? ["images"] : [];
    return { type: "failed", error, retryable: false, refused, window: windowIn(text) };
  }
  if (isLoading(response.status, detail)) {
    return { type: "failed", error: loadingError(detail, target), retryable: true, loading: true };
  }
  if (response.status >= 400 && isOutOfMemory(detail)) {
    return { type: "failed", error: memoryError(detail, target), retryable: false, refused: ["memory"] };
  }
  if (FILTERED.test(text)) return { type: "failed", error: filteredError(detail, target), retryable: false };
  const other = wire.otherWire?.(response.status, html ? "" : text);
  if (other !== undefined) {
    return {
      type: "failed",
      error: otherWireError(response.status, detail, other, target),
      retryable: false,
    };
  }
  const { status } = response;
  const tools: readonly Refused[] = REFUSES_TOOLS.test(detail) ? ["tools"] : [];
  const calls: readonly Refused[] = refusesCalls(detail) ? ["calls"] : [];
  const part = (status < 500 ? wire.refuses?.(text) : undefined) ?? refusedThought(status, detail);
  return {
    type: "failed",
    error: statusError(status, detail, target),
    retryable: isRetryable(status) && tools.length + calls.length === 0,
    headers: response.headers,
    noKey: status === 401,
    refused: [
      ...([400, 422].includes(status) && /temperature/i.test(detail) ? ["temperature" as const] : []),
      ...(part === undefined ? [] : [part]),
      ...(refusesImages(status, detail) ? ["images" as const] : []),
      ...tools,
      ...calls,
    ],
  };
}

/** Builds the end of an answer in whose place an error arrived. */
function failedWith(message: string, target: Target, retryable: boolean): TryEnd {
  const refused: readonly Refused[] = [
    ...(isOutOfMemory(message) ? ["memory" as const] : []),
    ...(refusesCalls(message) ? ["calls" as const] : []),
  ];
  return {
    type: "failed",
    error: streamError(message, target),
    retryable: retryable && refused.length === 0,
    refused,
    window: isWindowFull(message) ? windowIn(message) : undefined,
  };
}

/**
 * Detects refused thinking options. OpenAI: "Unsupported parameter: 'reasoning_effort'". Ollama: "\"m\" does
 * not support thinking". Mistral and vLLM: inputs are not permitted. llama.cpp: status 500 with an error of
 * the template. Anthropic refuses the signature of a thought from another account, or one before which
 * something has changed. A request that lacks a required thought is not retried without thoughts.
 */
function refusedThought(status: number, detail: string): Refusable | undefined {
  const isMissing = /passed back|missing|must start with|expected [`'"]?thinking/i.test(detail);
  if (isMissing || ![400, 404, 422, 500].includes(status)) return undefined;
  const isEarlier = /reasoning_(?:content|details)|signature/i.test(detail) ||
    (/thinking/i.test(detail) && /messages?[.[]/i.test(detail));
  if (isEarlier) return "earlier_reasoning";
  return /reasoning|effort|think|chat_template/i.test(detail) ? "effort" : undefined;
}

/**
 * How servers refuse tools. Ollama: 400 ("llama3 does not support tools"). llama.cpp: 500 ("tools param
 * requires --jinja flag", "Unsupported param: tools"). vLLM: 400 ('"auto" tool choice requires
 * --enable-auto-tool-choice and --tool-call-parser to be set'). OpenRouter: 404 ("No endpoints found that
 * support tool use"). Templates without tool results refuse the second request of a turn ("Conversation roles
 * must alternate").
 */
const REFUSES_TOOLS = new RegExp(
  [
    "does not support (?:tools|tool calls|function calling)",
    "tools? param requires|unsupported param: tools",
    "tool choice requires",
    "support tool use",
    "roles must alternate",
    "(?:unknown|unexpected|unsupported|invalid) (?:message )?role:? [\"'`]?tool\\b",
  ].join("|"),
  "i",
);

/**
 * Detects refused images. OpenRouter answers 404, llama.cpp 500. Some servers only say that content must be a
 * string, and some templates that roles must alternate.
 */
function refusesImages(status: number, detail: string): boolean {
  if (status === 413) return true;
  return [400, 404, 415, 422, 500, 501].includes(status) &&
    /image|vision|multi-?modal|must be a string|expected (?:a )?string|should be 'input text'|roles? must alternate|after role/i
      .test(detail);
}

/** Reads the beginning of a body; a body that breaks off yields what arrived. */
async function beginning(response: Response, onBytes: (bytes: Uint8Array) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      onBytes(bytes);
      text += decoder.decode(bytes, { stream: true });
      if (text.length > LARGEST_ERROR) break;
    }
  } catch {
    // The status alone is enough.
  }
  return text;
}

/** @param heard called for each read @param onBytes receives the body @throws network errors and TurnErrors */
export async function* readAnswer(
  response: Response,
  wire: AnyWire,
  target: Target,
  heard: () => void,
  onBytes: (bytes: Uint8Array) => void = () => {},
): AsyncGenerator<readonly Delta[], TryEnd> {
  const framing = wire.framing();
  const decoder = wire.decoder();
  const text = new TextDecoder();
  /** A body without frames: a complete JSON object, otherwise its beginning. */
  let start = "";
  /** The first character that is not blank. */
  let first = "";
  /** Size of the stored answer: text, arguments and an incomplete frame. */
  let size = 0;
  let unframed = 0;
  let streams = false;
  let finished = false;
  await using reads = new Reads(response.body ?? new Blob([]).stream(), heard);
  try {
    for (let bytes = await reads.next(); bytes !== undefined; bytes = await reads.next()) {
      onBytes(bytes);
      const frames = framing.push(bytes);
      unframed = frames.length > 0 ? 0 : unframed + bytes.length;
      if (size + unframed > LARGEST_ANSWER) throw tooLargeError(LARGEST_ANSWER, target);
      streams ||= frames.length > 0;
      if (!streams && (start.length < LARGEST_ERROR || first === "{")) {
        start += text.decode(bytes, { stream: true });
        first ||= start.trimStart().charAt(0);
      }
      const step = stepFrames(frames, decoder, target);
      for (const delta of step.deltas) size += sizeOf(delta);
      if (size > FIRST_SIZE) reads.slowDown();
      if (step.deltas.length > 0) yield step.deltas;
      finished ||= step.finished;
      if (step.end !== undefined) return step.end;
    }
  } catch (error) {
    if (!finished || error instanceof TurnError) throw error;
    return { type: "done" };
  }
  const last = stepFrames(framing.end(), decoder, target);
  if (last.deltas.length > 0) yield last.deltas;
  if (last.end !== undefined && !last.broken) return last.end;
  if (!streams && isJson(start) && errorInBody(start, wire) === undefined) {
    // The server ignored `stream: true`.
    const whole = stepFrames([start], decoder, target);
    if (whole.deltas.length > 0) yield whole.deltas;
    if (whole.end !== undefined && !whole.broken) return whole.end;
    if (whole.deltas.some(({ type }) => type !== "usage")) return { type: "done" };
  }
  // The answer has a finish reason. Some compatible servers omit the closing mark.
  if (finished || last.finished) return { type: "done" };
  return streams ? { type: "cut_off" } : noStream(start, wire, target);
}

function sizeOf(delta: Delta): number {
  if ("data" in delta) return delta.data.length;
  return "text" in delta && typeof delta.text === "string" ? delta.text.length : 0;
}

/** Classifies a body without frames. */
function noStream(text: string, wire: AnyWire, target: Target): TryEnd {
  const message = errorInBody(text, wire);
  const other = message === undefined ? undefined : wire.otherWire?.(200, message);
  if (message !== undefined && other !== undefined) {
    return { type: "failed", error: otherWireError(200, message, other, target), retryable: false };
  }
  if (message !== undefined) return failedWith(message, target, false);
  if (/^\s*</.test(text)) return { type: "failed", error: htmlError(target), retryable: false };
  if (/^\s*(?:$|[:{]|(?:data|event|id|retry)\b)/.test(text) && !isJson(text)) {
    return { type: "cut_off" };
  }
  return { type: "failed", error: garbageError(text, target), retryable: false };
}

/** Some servers answer 200 with one JSON error object instead of a stream. */
function errorInBody(text: string, wire: AnyWire): string | undefined {
  return isJson(text) ? wire.errorText(JSON.parse(text)) : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Step {
  readonly deltas: readonly Delta[];
  readonly finished: boolean;
  readonly end?: TryEnd;
  /** The last frame could not be parsed. */
  readonly broken?: boolean;
}

function stepFrames(
  frames: readonly string[],
  decoder: { step(frame: string): readonly Delta[] },
  target: Target,
): Step {
  const deltas: Delta[] = [];
  let finished = false;
  for (const frame of frames) {
    let next: readonly Delta[];
    try {
      next = decoder.step(frame);
    } catch (error) {
      const end: TryEnd = { type: "failed", error: garbageError(messageOf(error), target), retryable: false };
      return { deltas, finished, end, broken: true };
    }
    for (const delta of next) {
      if (delta.type === "done") return { deltas, finished, end: { type: "done" } };
      if (delta.type === "error") {
        return { deltas, finished, end: failedWith(delta.message, target, delta.retryable) };
      }
      if (delta.type === "finish") finished = true;
      const joined = joinedDelta(deltas.at(-1), delta);
      if (joined === undefined) deltas.push(delta);
      else deltas[deltas.length - 1] = joined;
    }
  }
  return { deltas, finished };
}

/** One delta for two adjacent ones of the same text, because each one is scanned, stored and shown. */
function joinedDelta(last: Delta | undefined, next: Delta): Delta | undefined {
  if (last === undefined || !("text" in last) || !("text" in next)) return undefined;
  const isSame = (last.type === "text" && next.type === "text") ||
    (last.type === "thought" && next.type === "thought") ||
    (last.type === "call_arguments" && next.type === "call_arguments" && last.index === next.index);
  return isSame ? { ...last, text: last.text + next.text } : undefined;
}
