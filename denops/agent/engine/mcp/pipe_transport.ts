/**
 * A transport of the MCP client over a pipe of the supervisor: JSON-RPC, one message a line. The server may send
 * anything, so that lines, rates and ids are limited here. Source: modelcontextprotocol.io/specification, "Transports".
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from "../../deps/mcp.ts";
import { messageOf } from "../../shared/errors.ts";
import { isRecord } from "../../shared/records.ts";
import { Rate } from "./rate.ts";

/** Characters of a message. */
const LONGEST_LINE = 16_000_000;
/** The server's messages that nobody asked for, before it is ended. */
const MOST_DROPPED = 20_000;
/** A server that sends too much is read more slowly. */
const SLOW_MS = 50;

/** The option of a request that names the session it is made for. */
const SESSION = "session";

/** Streams of a server's process, or of its HTTP bridge. */
export interface Pipe {
  /** @param session undefined: the request is for no session in particular @throws {Error} one line */
  write(text: string, session: string | undefined): Promise<void>;
  /** More output, one read at a time. `ended`: how the server ended. @throws {Error} one line */
  read(): Promise<{ readonly text: string; readonly ended?: string | undefined }>;
  close(): void;
}

/** The options of a request that is made for a session. */
export function forSession(session: string): Pick<TransportSendOptions, "headers"> {
  return { headers: { [SESSION]: session } };
}

interface TransportPorts {
  /** Notes a line about the server's behaviour. */
  note(line: string): void;
  /** Sees the server's own requests and notifications before the client does. */
  hear(method: string, params: Readonly<Record<string, unknown>>): void;
}

export class PipeTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** By these fields the client recognises standard streams, whose silence means an old server. */
  readonly stderr = null;
  readonly pid = null;
  readonly #pipe: Pipe;
  readonly #ports: TransportPorts;
  /** Ids of requests without an answer. */
  readonly #open = new Set<unknown>();
  readonly #rate = new Rate();
  #dropped = 0;
  #hasAnswered = false;
  #ended: string | undefined;

  constructor(pipe: Pipe, ports: TransportPorts) {
    this.#pipe = pipe;
    this.#ports = ports;
  }

  /** How the server ended, in half a sentence. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** It has answered a request. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  start(): Promise<void> {
    this.#read().then((ended) => this.#end(ended), (error) => this.#end(messageOf(error)));
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#ended !== undefined) throw new Error(`the server has ended: ${this.#ended}`);
    if ("method" in message && "id" in message) this.#open.add(message.id);
    await this.#pipe.write(`${JSON.stringify(message)}\n`, options?.headers?.[SESSION]);
  }

  close(): Promise<void> {
    this.#end("it was stopped");
    return Promise.resolve();
  }

  #end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#pipe.close();
    this.onclose?.();
  }

  /** @returns how the server ended */
  async #read(): Promise<string> {
    let rest = "";
    while (this.#ended === undefined) {
      const { text, ended } = await this.#pipe.read();
      const [first = "", ...lines] = text.split("\n");
      rest += first;
      for (const line of lines) {
        this.#line(rest);
        rest = line;
      }
      if (rest.length > LONGEST_LINE) return "it sent a message of more than 16 MB";
      if (this.#dropped > MOST_DROPPED) return "it sends too many messages";
      if (ended !== undefined) return ended;
      // Messages that were read run first, and a flood leaves time for other work.
      await pause(this.#rate.isOver ? SLOW_MS : 0);
    }
    return this.#ended;
  }

  #line(line: string): void {
    if (this.#ended !== undefined || line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#drop("a line that is not JSON");
    }
    if (!isRecord(message)) return this.#drop("a line that is no message");
    if (!this.#isExpected(message)) return;
    try {
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } catch (error) {
      this.#drop(`a message that cannot be read: ${messageOf(error)}`);
    }
  }

  #isExpected({ method, id, params }: Readonly<Record<string, unknown>>): boolean {
    if (typeof method !== "string") {
      if (this.#open.delete(id)) return this.#hasAnswered = true;
      this.#drop("an answer to no request");
      return false;
    }
    if (!this.#rate.takes()) {
      this.#drop("more messages than are read");
      return false;
    }
    this.#ports.hear(method, isRecord(params) ? params : {});
    return true;
  }

  #drop(what: string): void {
    this.#dropped += 1;
    // A flood is noted once.
    if (this.#dropped <= 10 || this.#dropped === MOST_DROPPED) this.#ports.note(`It sent ${what}.`);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
