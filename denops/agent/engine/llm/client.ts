/**
 * One request to a model: HTTP, framing, retries. The stream never throws; it ends in exactly one
 * `done`, `cancelled` or `failed`.
 */
import { delay } from "./delay.ts";
import { messageOf, TurnError } from "../core/errors.ts";
import type { ModelRequest } from "../core/messages.ts";
import {
  connectionError,
  cutOffError,
  garbageError,
  htmlError,
  silenceError,
  statusError,
  streamError,
  type Target,
  tooLargeError,
} from "./failures.ts";
import type { AnyWire } from "./registry.ts";
import { GIVE_UP_MS, isRetryable, TRIES, waitMs } from "./retry.ts";
import type { Delta, Endpoint } from "./wire/wire.ts";

/** Bytes of one answer at most. */
const LARGEST_ANSWER = 8_000_000;
/** Bytes from the start of an answer that are kept, for a message about one that is no stream. */
const START_KEPT = 4_000;

export type ModelEvent =
  /** What one read from the network brought, in order; never empty. */
  | { readonly type: "deltas"; readonly deltas: readonly Delta[] }
  | {
    readonly type: "retry";
    readonly attempt: number;
    readonly tries: number;
    readonly waitMs: number;
    readonly reason: string;
  }
  | { readonly type: "done" }
  | { readonly type: "cancelled" }
  | { readonly type: "failed"; readonly error: TurnError };

export interface ClientOptions {
  readonly wire: AnyWire;
  readonly endpoint: Endpoint;
  readonly target: Target;
  /** Seconds without a byte after which the provider counts as gone. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

/** How one try ended. */
type TryEnd =
  | { readonly type: "done" }
  | {
    readonly type: "failed";
    readonly error: TurnError;
    readonly retryable: boolean;
    readonly headers?: Headers;
  }
  /** The body ended before the answer did. */
  | { readonly type: "cut_off" };

export async function* streamModel(
  request: ModelRequest,
  options: ClientOptions,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  let current = request;
  for (let attempt = 1;; attempt++) {
    let started = false;
    const tryOnce = oneTry(current, options, signal);
    let end: TryEnd;
    while (true) {
      const next = await tryOnce.next();
      if (next.done) {
        end = next.value;
        break;
      }
      started ||= next.value.some(isContent);
      yield { type: "deltas", deltas: next.value };
    }
    if (signal.aborted) return yield { type: "cancelled" };
    if (end.type === "done") return yield { type: "done" };
    const { error, retryable, headers } = end.type === "failed"
      ? end
      : { error: cutOffError(options.target, started), retryable: true, headers: undefined };
    if (!started && current.temperature !== undefined && isTemperatureRefusal(error)) {
      const { temperature: _refused, ...rest } = current;
      current = rest;
      attempt--;
      continue;
    }
    const wait = waitMs(attempt, headers, Date.now(), Math.random());
    if (started || !retryable || attempt === TRIES || wait > GIVE_UP_MS) {
      return yield { type: "failed", error };
    }
    yield { type: "retry", attempt, tries: TRIES, waitMs: wait, reason: error.reason };
    if (!await delay(wait, signal)) return yield { type: "cancelled" };
  }
}

/** Something that a second try would bring again: tokens that are only counted are not. */
function isContent({ type }: Delta): boolean {
  return type !== "usage";
}

/** Some models take no temperature but their own, and say so only when asked. */
function isTemperatureRefusal(error: TurnError): boolean {
  return error.kind === "bad_request" && /temperature/i.test(error.message);
}

async function* oneTry(
  request: ModelRequest,
  options: ClientOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Delta[], TryEnd> {
  const { wire, endpoint, target } = options;
  using silence = new SilenceTimer(options.timeout, signal);
  let response: Response;
  try {
    const { url, headers, body } = wire.encode(request, endpoint);
    response = await options.fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual", // the key must not follow to another host
      signal: silence.signal,
    });
  } catch (error) {
    if (silence.expired) {
      return { type: "failed", error: silenceError(options.timeout, target), retryable: true };
    }
    return { type: "failed", ...connectionError(error, target) };
  }
  silence.heard();
  if (response.status !== 200) return await refused(response, options);
  if (/text\/html/i.test(response.headers.get("content-type") ?? "")) {
    await response.body?.cancel();
    return { type: "failed", error: htmlError(target), retryable: false };
  }
  try {
    return yield* readBody(response, options, silence);
  } catch (error) {
    if (silence.expired) {
      return { type: "failed", error: silenceError(options.timeout, target), retryable: true };
    }
    if (error instanceof TurnError) return { type: "failed", error, retryable: false };
    // The body broke off: hyper's text for it says nothing a user could use.
    return { type: "cut_off" };
  }
}

async function refused(response: Response, { wire, target }: ClientOptions): Promise<TryEnd> {
  const text = await response.text().catch(() => "");
  let detail = /^\s*</.test(text) ? "" : text;
  try {
    detail = wire.errorText(JSON.parse(text)) ?? text;
  } catch {
    // Not JSON: the text itself is shown.
  }
  return {
    type: "failed",
    error: statusError(response.status, detail, target),
    retryable: isRetryable(response.status),
    headers: response.headers,
  };
}

async function* readBody(
  response: Response,
  { wire, target }: ClientOptions,
  silence: SilenceTimer,
): AsyncGenerator<readonly Delta[], TryEnd> {
  const framing = wire.framing();
  const decoder = wire.decoder();
  let size = 0;
  let start = "";
  let finished = false;
  let framed = false;
  for await (const bytes of response.body ?? []) {
    silence.heard();
    size += bytes.length;
    if (size > LARGEST_ANSWER) throw tooLargeError(LARGEST_ANSWER, target);
    if (start.length < START_KEPT) start += new TextDecoder().decode(bytes.subarray(0, START_KEPT));
    const frames = framing.push(bytes);
    framed ||= frames.length > 0;
    const step = stepFrames(frames, decoder, target);
    if (step.deltas.length > 0) yield step.deltas;
    finished ||= step.finished;
    if (step.end !== undefined) return step.end;
  }
  const rest = framing.end();
  const step = stepFrames(rest, decoder, target);
  if (step.deltas.length > 0) yield step.deltas;
  // A frame that cannot be read at the very end was cut off in the middle.
  const broken = step.end?.type === "failed" && step.end.error.kind === "bad_answer";
  if (step.end !== undefined && !(framed && broken)) return step.end;
  // A reason to stop was given: only the closing mark is missing, as with some compatible servers.
  if (finished || step.finished) return { type: "done" };
  if (framed || rest.length > 0) return { type: "cut_off" };
  const said = errorInBody(start, wire);
  if (said !== undefined) throw streamError(said, target);
  // Not a single frame, nor a comment: it is something else altogether.
  if (/^\s*[^\s:]/.test(start)) throw garbageError(start, target);
  return { type: "cut_off" };
}

/** Some servers answer 200 with one JSON error object instead of a stream. */
function errorInBody(text: string, wire: AnyWire): string | undefined {
  try {
    return wire.errorText(JSON.parse(text));
  } catch {
    return undefined;
  }
}

interface Step {
  readonly deltas: readonly Delta[];
  readonly finished: boolean;
  readonly end?: TryEnd;
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
      return { deltas, finished, end };
    }
    for (const delta of next) {
      if (delta.type === "done") return { deltas, finished, end: { type: "done" } };
      if (delta.type === "error") {
        const error = streamError(delta.message, target);
        return { deltas, finished, end: { type: "failed", error, retryable: delta.retryable } };
      }
      if (delta.type === "finish") finished = true;
      deltas.push(delta);
    }
  }
  return { deltas, finished };
}

/** Aborts when the user does, or when nothing was heard for too long. */
class SilenceTimer implements Disposable {
  readonly #controller = new AbortController();
  readonly #milliseconds: number;
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout>;

  constructor(seconds: number, signal: AbortSignal) {
    this.#milliseconds = seconds * 1_000;
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.#timer = this.#start();
  }

  get expired(): boolean {
    return this.#controller.signal.aborted;
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#controller.abort(), this.#milliseconds);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
