/**
 * Counts an agent's requests that have no answer yet, and keeps its messages in the order in which they came. The SDK
 * starts the handler of a notification some turns of the event loop later, but settles an answer at once: so a prompt's
 * answer could overtake the last text.
 */
import type { AnyMessage } from "../../deps/acp_sdk.ts";
import type { Passing } from "../../shared/message_stream.ts";

/** A notification whose handler was not started by then was refused by the SDK: it is not of the protocol. */
const LONGEST_WAIT_MS = 100;
/** Requests of one agent that have no answer yet: all its sessions' tools together ask less. */
const MOST_OPEN = 256;

export class Arrival implements Passing {
  readonly #counted: ReadonlySet<string>;
  readonly #onFlood: (why: string) => void;
  #open = 0;
  #seen = 0;
  #handled = 0;
  #waiting: (() => void)[] = [];

  /**
   * @param counted methods of notifications whose handlers go through {@link handle}
   * @param onFlood it asks too much at once; nothing more of it arrives. `why` follows "it"
   */
  constructor(counted: readonly string[], onFlood: (why: string) => void) {
    this.#counted = new Set(counted);
    this.#onFlood = onFlood;
  }

  arrives(message: AnyMessage): boolean {
    if (this.#open > MOST_OPEN) return false;
    if ("method" in message && "id" in message && ++this.#open > MOST_OPEN) {
      this.#onFlood(`asked more than ${MOST_OPEN} things at once`);
      return false;
    }
    if ("method" in message && !("id" in message) && this.#counted.has(message.method)) this.#seen += 1;
    return true;
  }

  leaves(message: AnyMessage): void {
    if (!("method" in message)) this.#open -= 1;
  }

  /** Handles a counted notification. */
  handle(take: () => void): void {
    try {
      take();
    } finally {
      this.#noteHandled();
    }
  }

  #noteHandled(): void {
    this.#handled += 1;
    if (this.#handled < this.#seen) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when everything that had come by now is handled. */
  async caughtUp(): Promise<void> {
    if (this.#handled >= this.#seen) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = setTimeout(() => {
      this.#handled = this.#seen;
      resolve();
    }, LONGEST_WAIT_MS);
    await promise;
    clearTimeout(timer);
  }
}
