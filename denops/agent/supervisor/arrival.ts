/**
 * Keeps an agent's messages in the order in which they came. The SDK starts the handler of a notification some
 * turns of the event loop later, but settles an answer at once: so a prompt's answer could overtake the last text.
 */
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** A notification whose handler was not started by then was refused by the SDK: it is not of the protocol. */
const LONGEST_WAIT_MS = 100;

export class Arrival {
  readonly #counted: ReadonlySet<string>;
  #seen = 0;
  #handled = 0;
  #waiting: (() => void)[] = [];

  /** @param counted methods of notifications whose handlers call {@link handled} */
  constructor(counted: readonly string[]) {
    this.#counted = new Set(counted);
  }

  /** The same stream, looked at as it comes. */
  tap({ readable, writable }: Stream): Stream {
    const count = new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        if ("method" in message && !("id" in message) && this.#counted.has(message.method)) this.#seen += 1;
        controller.enqueue(message);
      },
    });
    return { readable: readable.pipeThrough(count), writable };
  }

  /** A counted notification has been handled. */
  handled(): void {
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
