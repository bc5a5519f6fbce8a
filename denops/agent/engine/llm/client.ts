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
  };

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
      started = true;
      yield { type: "deltas", deltas: next.value };
    }
    if (signal.aborted) return yield { type: "cancelled" };
    if (end.type === "done") return yield { type: "done" };
    if (!started && current.temperature !== undefined && isTemperatureRefusal(end.error)) {
      const { temperature: _refused, ...rest } = current;
      current = rest;
      attempt--;
      continue;
    }
    const wait = waitMs(attempt, end.headers, Date.now(), Math.random());
    if (started || !end.retryable || attempt === TRIES || wait > GIVE_UP_MS) {
      return yield { type: "failed", error: end.error };
    }
    yield { type: "retry", attempt, tries: TRIES, waitMs: wait, reason: end.error.message };
    if (!await delay(wait, signal)) return yield { type: "cancelled" };
  }
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
    return { type: "failed", error: cutOffError(target), retryable: true };
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
  for await (const bytes of response.body ?? []) {
    silence.heard();
    size += bytes.length;
    if (size > LARGEST_ANSWER) throw tooLargeError(LARGEST_ANSWER, target);
    if (start.length < 200) start += new TextDecoder().decode(bytes.subarray(0, 200));
    const step = stepFrames(framing.push(bytes), decoder, target);
    if (step.deltas.length > 0) yield step.deltas;
    finished ||= step.finished;
    if (step.end !== undefined) return step.end;
  }
  const step = stepFrames(framing.end(), decoder, target);
  if (step.deltas.length > 0) yield step.deltas;
  if (step.end !== undefined) return step.end;
  // A reason to stop was given: only the closing mark is missing, as with some compatible servers.
  if (finished || step.finished) return { type: "done" };
  if (size > 0 && /^\s*[^\s:{d]/.test(start)) throw garbageError(start, target);
  const said = errorInBody(start, wire);
  if (said !== undefined) throw streamError(said, target);
  return { type: "failed", error: cutOffError(target), retryable: true };
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
