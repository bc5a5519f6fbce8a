/**
 * The messages of a view: those after the last summary, with masked results. If they still exceed the model's window,
 * whole turns are left out in large steps, so that requests keep their common beginning.
 */
import { type FoldEntry, type LogEntry, type MessageEntry } from "../../log/entries.ts";
import { isFold, isMessage } from "../../log/entry_kinds.ts";
import type { Store } from "../../ports/store.ts";
import { type Chosen, NOTHING_CHOSEN, withoutDropped } from "../chosen.ts";
import { folded, type Folds, foldsInForce, withoutDroppedPins } from "./folds.ts";

/** No text has more characters a token on average, so longer text fits into no window. */
const CHARACTERS_A_TOKEN = 8;

interface WindowOptions {
  readonly store: Pick<Store, "folds" | "messages" | "sizes" | "turn">;
  readonly session: string;
  /** Tokens of the window. */
  window(): number;
  /** Default: nothing. */
  readonly chosen?: Chosen;
}

/** A place in the log: after `skip` messages of its turn. */
interface Place {
  readonly turn: number;
  readonly skip: number;
}

export class HistoryWindow {
  readonly #options: WindowOptions;
  readonly #entries: FoldEntry[];
  #folds: Folds;
  #messages: MessageEntry[] = [];
  /** The place of the first message. */
  #place: Place = { turn: 1, skip: 0 };
  #first = 1;
  /** The value when the user was last notified. */
  #announcedFirst = 1;
  #lost = false;

  /** @param first the first turn in the session's last request; undefined for a new session */
  constructor(options: WindowOptions, first: number | undefined) {
    this.#options = options;
    this.#entries = first === undefined ? [] : [...options.store.folds(options.session)];
    this.#folds = foldsInForce(this.#entries);
    if (first === undefined) return;
    this.#first = this.#announcedFirst = first;
    this.#first = this.#begin();
    this.#read();
  }

  /** The first turn in the view. */
  get first(): number {
    return this.#first;
  }

  get folds(): Folds {
    return this.#folds;
  }

  /** As logged. */
  get messages(): readonly MessageEntry[] {
    return this.#messages;
  }

  /** As the model sees them. */
  get seen(): readonly MessageEntry[] {
    const { chosen = NOTHING_CHOSEN } = this.#options;
    const { masked, compaction } = this.#folds;
    const left = compaction && withoutDroppedPins(compaction, chosen);
    return withoutDropped(folded(this.#messages, { masked, compaction: left }), chosen);
  }

  /** The place of the message at an index. */
  placeOf(at: number): Place {
    return this.#messages.slice(1, at + 1).reduce(
      ({ turn, skip }, { type }) =>
        type === "user_message" ? { turn: turn + 1, skip: 0 } : { turn, skip: skip + 1 },
      this.#place,
    );
  }

  /** Adds new log entries. */
  push(entries: readonly LogEntry[]): void {
    this.#messages.push(...entries.filter(isMessage));
    const news = entries.filter(isFold);
    if (news.length === 0) return;
    this.#entries.push(...news);
    const before = this.#folds.compaction;
    this.#folds = foldsInForce(this.#entries);
    if (this.#folds.compaction !== before) this.#read();
  }

  /** Call it between turns. @returns whether turns were left out, and whether messages became unreadable */
  slide(): { readonly slid: boolean; readonly lost: boolean } {
    const first = this.#begin();
    if (first !== this.#first) {
      this.#first = first;
      this.#read();
    }
    const news = { slid: first !== this.#announcedFirst, lost: this.#lost };
    this.#announcedFirst = first;
    this.#lost = false;
    return news;
  }

  #read(): void {
    const { store, session } = this.#options;
    const { turn, skip } = this.#folds.compaction ?? { turn: 0, skip: 0 };
    this.#place = turn < this.#first ? { turn: this.#first, skip: 0 } : { turn, skip };
    this.#messages = store.messages(session, { first: this.#place.turn }).slice(this.#place.skip);
    this.#lost ||= this.#messages.some((message) =>
      message.type === "control_note" && message.reason === "unreadable"
    );
  }

  /** The first turn to keep: when all turns together exceed the room, the newest ones that fill half of it. */
  #begin(): number {
    const { store, session, window } = this.#options;
    const most = window() * CHARACTERS_A_TOKEN;
    const { turn: partly = 0 } = this.#folds.compaction ?? {};
    const stored = [...store.sizes(session, Math.max(this.#first, partly))];
    // Only a small part of the turn in which a summary ends remains.
    const sizes = stored.map(([turn, size]) => [turn, turn === partly ? 0 : size] as const);
    let sum = sizes.reduce((all, [, size]) => all + size, 0);
    if (sum <= most) return this.#first;
    for (const [turn, size] of sizes.slice(0, -1)) {
      sum -= size;
      if (sum <= most / 2) return turn + 1;
    }
    return sizes.at(-1)?.[0] ?? this.#first;
  }
}
