/**
 * Counts an agent's unanswered requests, and keeps its messages in order. The SDK starts the handler of a
 * notification some turns of the event loop later, but settles an answer at once, so the answer to a prompt
 * could overtake the last text.
 */
import type { AnyMessage } from "../../deps/acp_sdk.ts";
import type { Passing } from "../../shared/message_stream.ts";

/** If a notification's handler has not started by then, the SDK has refused it as unknown. */
const LONGEST_WAIT_MS = 100;
/** Unanswered requests of one agent; the tools of all its sessions together need fewer. */
const MOST_OPEN = 256;

export class Arrival implements Passing {
  readonly #methods: ReadonlySet<string>;
  readonly #onFlood: (why: string) => void;
  #open = 0;
  #seen = 0;
  #handled = 0;
  #waiting: (() => void)[] = [];

  /**
   * @param methods methods of notifications whose handlers go through {@link handle}
   * @param onFlood called for too many requests; nothing more is received. `why` follows "it"
   */
  constructor(methods: readonly string[], onFlood: (why: string) => void) {
    this.#methods = new Set(methods);
    this.#onFlood = onFlood;
  }

  arrives(message: AnyMessage): boolean {
    if (this.#open > MOST_OPEN) return false;
    if ("method" in message && "id" in message && ++this.#open > MOST_OPEN) {
      this.#onFlood(`asked more than ${MOST_OPEN} things at once`);
      return false;
    }
    if ("method" in message && !("id" in message) && this.#methods.has(message.method)) this.#seen += 1;
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

  /** Resolves when everything that was received so far is handled. */
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
