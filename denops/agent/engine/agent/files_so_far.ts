/** Tells while a turn runs what it has changed so far. At its end the session tells all of it, and stores that. */
import type { AgentEvent, Emit } from "../core/events.ts";

/** The least time between two lists while a sub-agent works. Milliseconds. */
const PAUSE = 500;

export class FilesSoFar {
  readonly #list: () => Promise<AgentEvent>;
  readonly #tell: Emit;
  #isStale = false;
  #told = 0;

  /** @param list what the turn that runs has changed */
  constructor(list: () => Promise<AgentEvent>, tell: Emit) {
    this.#list = list;
    this.#tell = tell;
  }

  /** What a call changes, and the ends of those of sub-agents. */
  hear(event: AgentEvent): void {
    if (event.type === "file_modified") this.#isStale = true;
    const isNested = event.type === "tool_done" && event.parent !== undefined;
    if (isNested && performance.now() - this.#told >= PAUSE) this.step();
  }

  /** What the model is told next has been stored: all calls of its answer have ended. */
  step(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#told = performance.now();
    this.#list().then(this.#tell, () => {
      // The turn's end says it.
    });
  }
}
