/** A screen that can be waited for: a {@link Grid}, when it was painted, and who watches it. */
import { Grid } from "./grid.ts";
import { within } from "./project.ts";

/** One time the screen changed: when (`performance.now()`), and how many of its rows. */
export interface Paint {
  readonly at: number;
  readonly rows: number;
}

/** What a screen is waited for: a part of its text, a pattern in it, or a condition on it. */
export type Shows = string | RegExp | ((text: string) => boolean);

export class Screen {
  readonly #grid = new Grid();
  readonly #paints: Paint[] = [];
  readonly #watchers = new Set<() => void>();
  /** The first event that could not be decoded; the screen is wrong from then on. */
  #broken: unknown;
  #ended = false;

  /** What is shown. Throws if an event could not be decoded. */
  get grid(): Grid {
    if (this.#broken !== undefined) throw this.#broken;
    return this.#grid;
  }

  /** Each flush that changed what is shown, oldest first. */
  get paints(): readonly Paint[] {
    return this.#paints;
  }

  /** Nothing more will be drawn. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Takes the parameters of one `redraw` notification. */
  redraw(events: readonly unknown[]): void {
    try {
      for (const rows of this.#grid.redraw(events)) {
        if (rows > 0) this.#paints.push({ at: performance.now(), rows });
      }
    } catch (error) {
      this.#broken ??= error;
    }
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** The rows without blanks at their ends, joined by line breaks. */
  text(): string {
    return this.grid.rows().map((row) => row.trimEnd()).join("\n");
  }

  shows(what: Shows): boolean {
    const text = this.text();
    if (typeof what === "string") return text.includes(what);
    // `search` leaves `lastIndex` alone, so that a global pattern gives the same answer each time.
    if (what instanceof RegExp) return text.search(what) >= 0;
    return what(text);
  }

  /** Asks now and after each redraw; false if it does not hold in time (milliseconds) or ever. */
  async watch(holds: () => boolean, timeout: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const look = () => {
      try {
        if (holds()) resolve(true);
        else if (this.#ended) resolve(false);
      } catch (error) {
        reject(error);
      }
    };
    this.#watchers.add(look);
    try {
      look();
      const outcome = await within(timeout, promise);
      return outcome.done && outcome.value;
    } finally {
      this.#watchers.delete(look);
    }
  }

  /** The rows in a frame, for an error. */
  framed(): string {
    const rows = this.#grid.rows();
    const edge = "─".repeat(this.#grid.size.columns);
    return [`┌${edge}`, ...rows.map((row) => `│${row}`), `└${edge}`].join("\n");
  }

  #wake(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
