/**
 * JSON-RPC messages on a pipe, one per line, for both sides of ACP. No message is longer than the other side
 * accepts, because that would end the connection and the engine. A message that is too large becomes an error
 * of its own request. Source: agentclientprotocol.com/protocol/transports.
 */
import { type AnyMessage, MessageTooLargeError, type Stream } from "../deps/acp_sdk.ts";
import type { BytePipe } from "./byte_pipe.ts";

/** Bytes of a sent line, and of a received one: others may count differently. */
const LARGEST_SENT = 24 * 2 ** 20;
const LARGEST_READ = 32 * 2 ** 20;
const NEWLINE = 10;
/** The protocol's "parse error" and "internal error". */
const PARSE_ERROR = -32700;
const INTERNAL_ERROR = -32603;

/** Observes messages as they pass. */
export interface Passing {
  /** False drops the message. */
  arrives(message: AnyMessage): boolean;
  leaves(message: AnyMessage): void;
}

export function messageStream({ read, write }: BytePipe, passing?: Passing): Stream {
  const encoder = new TextEncoder();
  let incoming!: ReadableStreamDefaultController<AnyMessage>;
  const lineOf = (message: AnyMessage) => encoder.encode(`${JSON.stringify(message)}\n`);
  const receive = (padded: string) => {
    // Also drops a byte order mark.
    const line = padded.trim();
    if (line === "") return;
    let message: AnyMessage;
    try {
      message = JSON.parse(line);
    } catch {
      const refusal = {
        jsonrpc: "2.0",
        id: null,
        error: { code: PARSE_ERROR, message: "Parse error" },
      } as const;
      // If nobody receives it, the end of the pipe says so too.
      return void write(lineOf(refusal)).catch(() => {});
    }
    // The reader refuses anything but an object.
    const isObject = typeof message === "object" && message !== null;
    if (!isObject || passing?.arrives(message) !== false) incoming.enqueue(message);
  };
  const readAll = async () => {
    const lines = new Lines(receive);
    try {
      for (let bytes = await read(); bytes !== undefined; bytes = await read()) lines.push(bytes);
      lines.end();
      incoming.close();
    } catch (error) {
      incoming.error(error);
    }
  };
  return {
    readable: new ReadableStream({
      start(controller) {
        incoming = controller;
        readAll();
      },
    }),
    writable: new WritableStream({
      async write(message) {
        passing?.leaves(message);
        const bytes = lineOf(message);
        if (bytes.length <= LARGEST_SENT) return await write(bytes);
        // A notification is dropped.
        if (!("id" in message)) return;
        const details = `the message is too large (${Math.round(bytes.length / 2 ** 20)} MB)`;
        const error = { code: INTERNAL_ERROR, message: details, data: { details } };
        const refusal: AnyMessage = { jsonrpc: "2.0", id: message.id, error };
        if ("method" in message) incoming.enqueue(refusal);
        else await write(lineOf(refusal));
      },
    }),
  };
}

/** Joins pieces to lines; each byte is read once. */
class Lines {
  readonly #take: (line: string) => void;
  // By default the decoder would drop a byte order mark in every piece.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(take: (line: string) => void) {
    this.#take = take;
  }

  /** @throws {MessageTooLargeError} */
  push(bytes: Uint8Array): void {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      this.#add(bytes.subarray(from, at));
      this.end();
      from = at + 1;
    }
    this.#add(bytes.subarray(from));
  }

  end(): void {
    const text = this.#pieces.map((piece) => this.#decoder.decode(piece, { stream: true })).join("");
    this.#pieces = [];
    this.#size = 0;
    this.#take(text + this.#decoder.decode());
  }

  #add(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size > LARGEST_READ) throw new MessageTooLargeError(LARGEST_READ);
    if (bytes.length > 0) this.#pieces.push(bytes);
  }
}
