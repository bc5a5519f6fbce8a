/**
 * Time measurements of this process, for AGENT_TRACE. They cost a look at a variable when not tracing:
 *
 * ```ts
 * const since = trace?.now();
 * await work();
 * trace?.span("work", since);
 * ```
 */
import * as z from "../deps/zod.ts";

export const TraceSpan = z.object({
  name: z.string().max(40),
  /** Microseconds since 1970: Neovim, the supervisor and the engine share this clock. */
  at: z.number(),
  /** Microseconds. */
  took: z.number(),
  /** Spans of one row are adjacent or nested: a call's id, or "". */
  row: z.string().max(100),
});
export type TraceSpan = z.infer<typeof TraceSpan>;

/** Milliseconds between two batches of spans. */
const INTERVAL_MS = 100;

class Trace {
  readonly #pass: (spans: TraceSpan[]) => void;
  #spans: TraceSpan[] = [];

  constructor(pass: (spans: TraceSpan[]) => void) {
    this.#pass = pass;
  }

  now(): number {
    return (performance.timeOrigin + performance.now()) * 1_000;
  }

  /** @param since {@link now} at the start; undefined if tracing was off */
  span(name: string, since: number | undefined, row = ""): void {
    if (since === undefined) return;
    if (this.#spans.length === 0) setTimeout(() => this.#pass(this.#spans.splice(0)), INTERVAL_MS);
    this.#spans.push({ name, at: since, took: this.now() - since, row });
  }
}

/** Undefined while tracing is off. */
export let trace: Trace | undefined;

/** @param pass receives the new spans; only the first caller gets them */
export function startTrace(pass: (spans: TraceSpan[]) => void): void {
  trace ??= new Trace(pass);
}
