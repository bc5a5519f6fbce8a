/**
 * The server's side of one HTTP/1.1 connection, on a plain socket: tests of streaming need to control each
 * write, and to drop the connection in the middle. Format: RFC 9112. Every {@link HttpConnection.write} is
 * one chunk of the body and one write.
 */
import { STATUS_CODES } from "node:http";

export interface ReceivedRequest {
  readonly method: string;
  /** Unparsed, with the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type HttpHeaders = Readonly<Record<string, string>>;

const utf8 = new TextEncoder();
const lineEnd = utf8.encode("\r\n");

export class HttpConnection implements Disposable {
  readonly #conn: Deno.Conn;
  readonly #gone = new AbortController();
  #received = new Uint8Array();
  #more = Promise.withResolvers<void>();
  #keepAlive = true;

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
    this.#receive();
  }

  /** Aborts as soon as the client closes the connection, even in the middle of an answer. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The next request with its body; undefined when the client has disconnected. */
  async next(): Promise<ReceivedRequest | undefined> {
    if (!this.#keepAlive) return undefined;
    const first = await this.#line();
    if (first === undefined) return undefined;
    const [method = "", path = ""] = first.split(" ");
    const headers: Record<string, string> = {};
    for (let line = await this.#line(); line; line = await this.#line()) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    this.#keepAlive = headers.connection?.toLowerCase() !== "close";
    if (headers.expect?.toLowerCase() === "100-continue") {
      await this.#send(utf8.encode("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    const chunked = headers["transfer-encoding"]?.toLowerCase() === "chunked";
    const body = chunked ? await this.#chunks() : await this.#take(Number(headers["content-length"] ?? "0"));
    return body && { method, path, headers, body: new TextDecoder().decode(body) };
  }

  /** Sends a complete answer. */
  async respond(code: number, headers: HttpHeaders, body: string): Promise<void> {
    const bytes = utf8.encode(body);
    await this.#send(joined(head(code, { ...headers, "content-length": String(bytes.length) }), bytes));
  }

  /** Begins an answer whose body follows in writes. */
  async begin(code: number, headers: HttpHeaders): Promise<void> {
    await this.#send(head(code, { ...headers, "transfer-encoding": "chunked" }));
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    await this.#send(joined(utf8.encode(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd));
  }

  /** Ends the body properly. */
  async end(): Promise<void> {
    await this.#send(utf8.encode("0\r\n\r\n"));
  }

  /** Closes the socket; in the middle of a body this is a network error for the client. */
  [Symbol.dispose](): void {
    this.#keepAlive = false;
    try {
      this.#conn.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.#conn.write(bytes.subarray(sent));
  }

  /** Reads continuously, to detect a disconnection at once. */
  async #receive(): Promise<void> {
    const buffer = new Uint8Array(65536);
    try {
      for (let count; (count = await this.#conn.read(buffer)) !== null;) {
        this.#received = joined(this.#received, buffer.subarray(0, count));
        this.#wake();
      }
    } catch {
      // A reset, or the socket was closed here: disconnected as well.
    }
    this.#gone.abort();
    this.#wake();
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  /** A line without its line break. */
  async #line(): Promise<string | undefined> {
    for (let from = 0;;) {
      const end = this.#received.indexOf(10, from);
      if (end >= 0) return new TextDecoder().decode(await this.#take(end + 1)).replace(/\r?\n$/, "");
      from = this.#received.length;
      if (this.gone.aborted) return undefined;
      await this.#more.promise;
    }
  }

  /** Exactly `count` bytes; undefined if the client disconnects before. */
  async #take(count: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    while (this.#received.length < count) {
      if (this.gone.aborted) return undefined;
      await this.#more.promise;
    }
    const taken = this.#received.slice(0, count);
    this.#received = this.#received.slice(count);
    return taken;
  }

  async #chunks(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let body = new Uint8Array();
    for (;;) {
      const size = parseInt(await this.#line() ?? "", 16);
      const chunk = await this.#take(Number.isNaN(size) ? 0 : size);
      if (chunk === undefined || Number.isNaN(size)) return undefined;
      await this.#line();
      if (size === 0) return body;
      body = joined(body, chunk);
    }
  }
}

function head(code: number, headers: HttpHeaders): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return utf8.encode(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Unknown"}\r\n${lines.join("")}\r\n`);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
