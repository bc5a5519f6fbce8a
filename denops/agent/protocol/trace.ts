/**
 * Spans of time of this process, for AGENT_TRACE. Whoever measures does it so, which costs one look at a variable where
 * nobody traces:
 *
 * ```ts
 * const since = trace?.now();
 * await work();
 * trace?.span("work", since);
 * ```
 */
import { z } from "../deps/zod.ts";

export const TraceSpan = z.object({
  name: z.string().max(40),
  /** Microseconds since 1970: the one clock that Neovim, the supervisor and the engine in its sandbox share. */
  at: z.number(),
  /** Microseconds. */
  took: z.number(),
  /** Spans of one row lie beside each other or within each other: a call's id, or "". */
  row: z.string().max(100),
});
export type TraceSpan = z.infer<typeof TraceSpan>;

/** Spans are passed on together. */
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

  /** @param since {@link now} when it began; undefined if nobody traced by then */
  span(name: string, since: number | undefined, row = ""): void {
    if (since === undefined) return;
    if (this.#spans.length === 0) setTimeout(() => this.#pass(this.#spans.splice(0)), INTERVAL_MS);
    this.#spans.push({ name, at: since, took: this.now() - since, row });
  }
}

/** Undefined while nobody traces. */
export let trace: Trace | undefined;

/** @param pass is given what has ended since the last time; the first one to come gets it all */
export function startTrace(pass: (spans: TraceSpan[]) => void): void {
  trace ??= new Trace(pass);
}
