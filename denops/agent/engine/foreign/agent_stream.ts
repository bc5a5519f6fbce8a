/**
 * The messages of another agent, one a line. The agent may send anything, so that lines, rates and open requests are
 * limited here, and updates are handed over in their order, not by handlers. Source: agentclientprotocol.com/protocol,
 * "Transports".
 */
import type { AnyMessage, Stream } from "../../deps/acp_sdk.ts";
import { messageOf } from "../../shared/errors.ts";
import { isRecord } from "../../shared/records.ts";
import type { ForeignPipe } from "../ports/foreign.ts";

/** Characters of a message. */
const LONGEST_LINE = 16_000_000;
/** Useless messages before the agent is ended. */
const MOST_DROPPED = 20_000;
/** Requests of the agent that wait for an answer. */
const MOST_OPEN = 50;
/** An agent that sends more messages in one read is read more slowly. */
const MANY = 500;
const SLOW_MS = 50;

const UPDATE = "session/update";

interface StreamPorts {
  update(params: Readonly<Record<string, unknown>>): void;
  /** The messages of one read were handed over. */
  read(): void;
}

type Message = Readonly<Record<string, unknown>>;

export class AgentStream {
  readonly #pipe: Pick<ForeignPipe, "read" | "write">;
  readonly #ports: StreamPorts;
  /** Ids of our requests without an answer. */
  readonly #sent = new Set<unknown>();
  /** Ids of the agent's requests without an answer. */
  readonly #open = new Set<unknown>();
  readonly #end = Promise.withResolvers<string>();
  #ended: string | undefined;
  #dropped = 0;
  /** The last line that was no message: most programs write their reason there. */
  #lastLine: string | undefined;

  constructor(pipe: Pick<ForeignPipe, "read" | "write">, ports: StreamPorts) {
    this.#pipe = pipe;
    this.#ports = ports;
  }

  /** How the agent ended, in half a sentence. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Resolves when the agent has ended. */
  get end(): Promise<string> {
    return this.#end.promise;
  }

  /** A line of the agent's that was no message. */
  get lastLine(): string | undefined {
    return this.#lastLine;
  }

  /** Nothing is read or written any more. */
  close(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#end.resolve(reason);
  }

  /** The stream of the protocol's client. */
  stream(): Stream {
    let isCancelled = false;
    return {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          this.#read(controller).catch(messageOf).then((ended) => {
            this.close(ended);
            if (!isCancelled) controller.close();
          });
        },
        cancel: () => {
          isCancelled = true;
          this.close("it was closed");
        },
      }),
      writable: new WritableStream<AnyMessage>({
        write: async (message) => {
          if (this.#ended !== undefined) throw new Error(this.#ended);
          if ("method" in message && "id" in message) this.#sent.add(message.id);
          else if ("id" in message) this.#open.delete(message.id);
          await this.#write(message);
        },
      }),
    };
  }

  async #write(message: unknown): Promise<void> {
    await this.#pipe.write(`${JSON.stringify(message)}\n`);
  }

  async #read(controller: ReadableStreamDefaultController<AnyMessage>): Promise<string> {
    let rest = "";
    while (this.#ended === undefined) {
      const { text, ended } = await this.#pipe.read();
      const [first = "", ...lines] = text.split("\n");
      rest += first;
      let count = 0;
      for (const line of lines) {
        await this.#line(rest, controller);
        rest = line;
        count += 1;
      }
      this.#ports.read();
      if (rest.length > LONGEST_LINE) return "it sent a message of more than 16 MB";
      if (this.#dropped > MOST_DROPPED) return "it sends too many useless messages";
      if (ended !== undefined) return ended;
      // Messages that were read run first, and a flood leaves time for other work.
      await pause(count > MANY ? SLOW_MS : 0);
    }
    return this.#ended;
  }

  async #line(line: string, controller: ReadableStreamDefaultController<AnyMessage>): Promise<void> {
    if (this.#ended !== undefined || line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#lastLine = line;
      this.#dropped += 1;
      return;
    }
    if (!isRecord(message)) this.#dropped += 1;
    else if (message.method === UPDATE && isRecord(message.params)) this.#ports.update(message.params);
    else if (await this.#isExpected(message)) controller.enqueue(message as unknown as AnyMessage);
  }

  async #isExpected(message: Message): Promise<boolean> {
    const { method, id } = message;
    if (typeof method !== "string") {
      if (this.#sent.delete(id)) return true;
      this.#dropped += 1;
      return false;
    }
    // The protocol's client only knows answers with such ids.
    if (typeof id !== "string" && typeof id !== "number") {
      this.#dropped += 1;
      return false;
    }
    if (this.#open.size >= MOST_OPEN || this.#open.has(id)) {
      this.#dropped += 1;
      await this.#write({ jsonrpc: "2.0", id, error: { code: -32603, message: "Too many open requests" } });
      return false;
    }
    this.#open.add(id);
    return true;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
