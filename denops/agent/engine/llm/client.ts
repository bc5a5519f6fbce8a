/**
 * One request to a model: HTTP, framing, retries. The stream never throws; it ends in exactly one
 * `done`, `cancelled` or `failed`.
 */
import { trace } from "../../protocol/trace.ts";
import { TurnError } from "../../shared/errors.ts";
import type { ModelRequest } from "../log/model_request.ts";
import { readAnswer, refusal, type TryEnd } from "./answer.ts";
import { delay } from "./delay.ts";
import { connectionError, cutOffError, htmlError, silenceError } from "./failures/transport.ts";
import { names, type Target, via } from "./failures/text.ts";
import type { Refused } from "./failures/refusals.ts";
import type { AnyWire } from "./registry.ts";
import { GIVE_UP_MS, TRIES, waitMs } from "./retry.ts";
import type { Delta, Endpoint } from "./wire/wire.ts";
import type { WireLog } from "./wire_log.ts";

/** The longest delay that setTimeout accepts. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Seconds without a byte after which the user is told. */
const QUIET = 30;
/** Interval between attempts while a server loads its model. */
const LOADING_MS = 1_000;

export type ModelEvent =
  /** The deltas of one network read, in order; never empty. */
  | { readonly type: "deltas"; readonly deltas: readonly Delta[] }
  | {
    readonly type: "retry";
    readonly attempt: number;
    readonly tries: number;
    readonly waitMs: number;
    readonly reason: string;
  }
  /** A message for the user. */
  | { readonly type: "notice"; readonly text: string }
  /** `isCut`: the client ended the answer before the provider reported its usage. */
  | {
    readonly type: "done";
    readonly isCut?: true;
    /** The answer repeats the same call, which is made once. */
    readonly isLoop?: true;
    /** The tool of a call that the answer quotes without making it (text_tools/reading.ts). */
    readonly shownCall?: string;
  }
  | { readonly type: "cancelled" }
  | { readonly type: "failed"; readonly error: TurnError };

export interface ClientOptions {
  readonly wire: AnyWire;
  readonly endpoint: Endpoint;
  readonly target: Target;
  /** Seconds without a byte after which a request times out. */
  readonly timeout: number;
  /** Seconds without a byte after which the user is told. */
  readonly quiet?: number;
  readonly fetch: typeof fetch;
  readonly wireLog?: WireLog | undefined;
  /**
   * Called when the provider refuses the key. @returns whether `endpoint` has a new key @throws {TurnError}
   * if it has none
   */
  keyRefused(): Promise<boolean>;
  /** Returns a request without the refused parts; undefined if none is possible. */
  otherwise(refused: readonly Refused[], request: ModelRequest): ModelRequest | undefined;
  /** Called with the token limit that the server reported. */
  windowTold(tokens: number): void;
}

export async function* streamModel(
  request: ModelRequest,
  options: ClientOptions,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const tries = new Tries(request, options);
  let isReported = false;
  for (;;) {
    using silence: SilenceTimer = new SilenceTimer(options, signal, isReported);
    const deltas = oneTry(tries.request, options, silence);
    const { end, hasContent } = yield* traced(deltas, silence, quietNotice(options));
    isReported = silence.isReported;
    if (signal.aborted) return yield { type: "cancelled" };
    if (end.type === "done") return yield { type: "done" };
    let next: NextTry;
    try {
      next = await tries.after(end, hasContent);
    } catch (error) {
      if (signal.aborted) return yield { type: "cancelled" };
      if (error instanceof TurnError) return yield { type: "failed", error };
      throw error;
    }
    if (next.type === "failed") return yield next;
    if (next.type === "at_once") continue;
    yield next;
    if (!await delay(next.waitMs, signal)) return yield { type: "cancelled" };
  }
}

function quietNotice({ target, timeout, quiet = QUIET }: ClientOptions): ModelEvent {
  const { provider } = names(target);
  return {
    type: "notice",
    text: `${provider}${via(target)} has sent nothing for ${quiet} s. ` +
      `The request fails after ${timeout} s (limits.request_timeout).`,
  };
}

/** The deltas of one attempt, traced with their duration. @param notice sent once, after a long silence */
async function* traced(
  deltas: AsyncGenerator<readonly Delta[], TryEnd>,
  silence: SilenceTimer,
  notice: ModelEvent,
): AsyncGenerator<ModelEvent, { readonly end: TryEnd; readonly hasContent: boolean }> {
  const since = trace?.now();
  let isFirst = true;
  let hasContent = false;
  try {
    while (true) {
      const reading = deltas.next();
      if (await silence.comesBefore(reading)) yield notice;
      const next = await reading;
      if (next.done) return { end: next.value, hasContent };
      if (isFirst) trace?.span("first byte", since);
      isFirst = false;
      hasContent ||= next.value.some(isContent);
      yield { type: "deltas", deltas: next.value };
    }
  } finally {
    // A consumer that stops early ends the request.
    await deltas.return({ type: "done" });
    trace?.span("request", since);
  }
}

type Failure = Omit<Extract<TryEnd, { type: "failed" }>, "type">;
type NextTry = { readonly type: "at_once" } | Extract<ModelEvent, { type: "retry" | "failed" }>;

/** Decides after a failure whether, when and how to retry. */
class Tries {
  readonly #options: ClientOptions;
  readonly #start = performance.now();
  /** Failed attempts, except those that another request avoids. */
  #count = 0;
  #isRenewed = false;
  request: ModelRequest;

  constructor(request: ModelRequest, options: ClientOptions) {
    this.request = request;
    this.#options = options;
  }

  /**
   * @param hasContent whether a part of the answer arrived before the failure @throws {TurnError} without a
   * new key
   */
  async after(end: Exclude<TryEnd, { type: "done" }>, hasContent: boolean): Promise<NextTry> {
    if (end.type === "failed" && end.noKey && !this.#isRenewed) {
      this.#isRenewed = true;
      if (await this.#options.keyRefused()) return { type: "at_once" };
    }
    const failure: Failure = end.type === "failed"
      ? end
      : { error: cutOffError(this.#options.target, hasContent), retryable: true };
    if (failure.window !== undefined) this.#options.windowTold(failure.window);
    const other = hasContent ? undefined : this.#options.otherwise(failure.refused ?? [], this.request);
    if (other === undefined) return this.#wait(failure, hasContent);
    this.request = other;
    return { type: "at_once" };
  }

  #wait({ error, retryable, headers, loading }: Failure, hasContent: boolean): NextTry {
    const again = { type: "retry", attempt: this.#count + 1, tries: TRIES, reason: error.reason } as const;
    // Loading a large model takes minutes. Limit the time instead of the number of attempts.
    if (loading && performance.now() - this.#start < this.#options.timeout * 1_000) {
      return { ...again, waitMs: LOADING_MS };
    }
    this.#count += 1;
    const wait = waitMs(this.#count, headers, Date.now(), Math.random());
    const isLast = hasContent || !retryable || this.#count === TRIES || wait > GIVE_UP_MS;
    return isLast ? { type: "failed", error } : { ...again, waitMs: wait };
  }
}

/** Whether a retry would repeat this delta. Token counts do not matter. */
export function isContent({ type }: Delta): boolean {
  return type !== "usage";
}

async function* oneTry(
  request: ModelRequest,
  options: ClientOptions,
  silence: SilenceTimer,
): AsyncGenerator<readonly Delta[], TryEnd> {
  const { wire, endpoint, target } = options;
  let response: Response;
  let exchange: ReturnType<WireLog["send"]> | undefined;
  const onBytes = (bytes: Uint8Array) => exchange?.read(bytes);
  try {
    const encoded = wire.encode(request, endpoint);
    exchange = options.wireLog?.send(encoded, target.secrets);
    const { url, headers, body } = encoded;
    response = await options.fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual", // the key must not follow to another host
      signal: silence.signal,
    });
  } catch (error) {
    exchange?.failed(error);
    if (silence.expired) {
      return { type: "failed", error: silenceError(options.timeout, target), retryable: true };
    }
    return { type: "failed", ...connectionError(error, target) };
  }
  silence.heard();
  exchange?.answered(response);
  if (response.status !== 200) return await refusal(response, wire, target, onBytes);
  if (/text\/html/i.test(response.headers.get("content-type") ?? "")) {
    await response.body?.cancel();
    return { type: "failed", error: htmlError(target), retryable: false };
  }
  try {
    return yield* readAnswer(response, wire, target, () => silence.heard(), onBytes);
  } catch (error) {
    exchange?.failed(error);
    if (silence.expired) {
      return { type: "failed", error: silenceError(options.timeout, target), retryable: true };
    }
    if (error instanceof TurnError) return { type: "failed", error, retryable: false };
    // The body broke off. Hyper's error text does not help the user.
    return { type: "cut_off" };
  }
}

/** Aborts when the user cancels, or when the timeout passes without a byte. */
class SilenceTimer implements Disposable {
  readonly #controller = new AbortController();
  readonly #milliseconds: number;
  readonly #quietMs: number;
  readonly signal: AbortSignal;
  #heardAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReported: boolean;
  #wake = () => {};

  /** @param isReported an earlier attempt has already reported a long silence to the user */
  constructor(
    { timeout, quiet = QUIET }: Pick<ClientOptions, "timeout" | "quiet">,
    signal: AbortSignal,
    isReported: boolean,
  ) {
    this.#isReported = isReported;
    this.#milliseconds = Math.min(timeout * 1_000, LONGEST_TIMER_MS);
    this.#quietMs = quiet * 1_000;
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.heard();
    this.#wait(Math.min(this.#quietMs, this.#milliseconds));
  }

  /** Whether the first long silence begins before the reading ends. */
  async comesBefore(reading: Promise<unknown>): Promise<boolean> {
    if (this.#isReported) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await Promise.race([reading, promise]);
    return this.#isReported;
  }

  get isReported(): boolean {
    return this.#isReported;
  }

  get expired(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Called for every token, so it does not restart the timer. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const silent = performance.now() - this.#heardAt;
      if (silent >= this.#milliseconds) return this.#controller.abort();
      if (silent >= this.#quietMs && !this.#isReported) {
        this.#isReported = true;
        this.#wake();
      }
      const next = this.#isReported ? this.#milliseconds : Math.min(this.#quietMs, this.#milliseconds);
      this.#wait(next - silent);
    }, milliseconds);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
