/** Tells while a turn runs what it has changed so far. At its end the session tells all of it, and stores that. */
import type { TurnFile } from "../../protocol/requests.ts";
import type { AgentEvent } from "../core/events.ts";

/** The least time between two lists while calls run side by side. Milliseconds. */
const PAUSE = 500;

export class FilesSoFar {
  readonly #list: () => Promise<TurnFile[]>;
  readonly #tell: (files: TurnFile[]) => void;
  #isStale = false;
  #told = 0;

  /** @param list what the turn that runs has changed */
  constructor(list: () => Promise<TurnFile[]>, tell: (files: TurnFile[]) => void) {
    this.#list = list;
    this.#tell = tell;
  }

  /** @param open calls that have begun and not ended */
  hear(event: AgentEvent, open: ReadonlySet<string>): void {
    if (event.type === "file_modified") this.#isStale = true;
    if (event.type !== "tool_done" || !this.#isStale) return;
    const now = performance.now();
    if (open.size > 0 && now - this.#told < PAUSE) return;
    this.#isStale = false;
    this.#told = now;
    this.#list().then(this.#tell, () => {
      // The turn's end says it.
    });
  }
}
