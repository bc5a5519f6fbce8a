/**
 * The one timer between the engine and the screen. The first update passes at once, later ones at most every
 * 32 ms and merged, and never a second batch before Neovim has taken the first.
 */
import type { Update } from "../protocol/ui.ts";

const INTERVAL_MS = 32;
/** The first text of a message waits for this many word characters, so that "**Wh" never flashes. */
const FIRST_TEXT = 8;
const WORD = /[\p{L}\p{N}_]/gu;

type TextUpdate = Extract<Update, { type: "text" }>;

export interface PumpClock {
  now(): number;
  setTimer(run: () => void, milliseconds: number): () => void;
}

export const realClock: PumpClock = {
  now: () => performance.now(),
  setTimer(run, milliseconds) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

export class Pump implements Disposable {
  readonly #deliver: (batch: readonly Update[]) => Promise<void>;
  readonly #clock: PumpClock;
  #queue: Update[] = [];
  /** Text that is not long enough to show yet, per chat. */
  readonly #held = new Map<number, TextUpdate>();
  /** Messages of which something was shown. */
  readonly #shown = new Set<string>();
  #lastFlush = -Infinity;
  #delivering = false;
  #cancelTimer: (() => void) | undefined;
  #disposed = false;

  /** @param deliver resolves when Neovim has taken the batch */
  constructor(deliver: (batch: readonly Update[]) => Promise<void>, clock: PumpClock = realClock) {
    this.#deliver = deliver;
    this.#clock = clock;
  }

  push(update: Update): void {
    if (this.#disposed) return;
    if (update.type === "text") {
      if (!this.#hold(update)) return;
    } else {
      this.#releaseBefore(update);
      this.#append(update);
    }
    this.#schedule(isUrgent(update));
  }

  /** True if there is something to show. */
  #hold(update: TextUpdate): boolean {
    const held = this.#held.get(update.chat);
    const joins = held?.message === update.message;
    if (held !== undefined && !joins) this.#append(held);
    const merged = joins ? { ...held, text: held.text + update.text } : update;
    const needed = this.#shown.has(update.message) ? 1 : FIRST_TEXT;
    if ((merged.text.match(WORD)?.length ?? 0) < needed) {
      this.#held.set(update.chat, merged);
      return held !== undefined && !joins;
    }
    this.#held.delete(update.chat);
    this.#shown.add(update.message);
    this.#append(merged);
    return true;
  }

  /** Whatever comes after a text ends its wait; order holds within a chat. */
  #releaseBefore(update: Update): void {
    if (!("chat" in update)) return;
    const held = this.#held.get(update.chat);
    if (held !== undefined) this.#append(held);
    this.#held.delete(update.chat);
    if (update.type === "turn_done") this.#shown.clear();
  }

  #append(update: Update): void {
    const last = this.#queue.at(-1);
    const merged = last === undefined ? undefined : merge(last, update);
    if (merged === undefined) this.#queue.push(update);
    else this.#queue[this.#queue.length - 1] = merged;
  }

  #schedule(urgent: boolean): void {
    if (this.#delivering || this.#queue.length === 0) return;
    const wait = urgent ? 0 : this.#lastFlush + INTERVAL_MS - this.#clock.now();
    if (wait > 0 && this.#cancelTimer !== undefined) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (wait <= 0) this.#flush();
    else this.#cancelTimer = this.#clock.setTimer(() => this.#flush(), wait);
  }

  #flush(): void {
    this.#cancelTimer = undefined;
    const batch = this.#queue;
    this.#queue = [];
    this.#lastFlush = this.#clock.now();
    this.#delivering = true;
    this.#deliver(batch)
      .catch(() => {}) // Neovim is gone or Lua has failed and said so; nothing can be shown either way.
      .then(() => {
        this.#delivering = false;
        if (!this.#disposed) this.#schedule(this.#queue.some(isUrgent));
      });
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#cancelTimer?.();
  }
}

/** Somebody waits for an answer to these. */
function isUrgent({ type }: Update): boolean {
  return type === "ask_editor" || type === "approval";
}

/** One update for two, where the second only goes on with the first. */
function merge(last: Update, next: Update): Update | undefined {
  if ((last.type === "text" || last.type === "thought") && next.type === last.type) {
    const same = last.chat === next.chat && last.message === next.message;
    return same ? { ...last, text: last.text + next.text } : undefined;
  }
  if (last.type === "tool" && next.type === "tool") {
    return last.chat === next.chat && last.id === next.id ? { ...last, ...next } : undefined;
  }
  return undefined;
}
