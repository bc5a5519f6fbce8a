/**
 * An HTTP proxy to the allowed hosts, on a Unix socket: the only network of a program that has none of its own. The
 * program may be hostile and talk to it directly.
 */
import { join } from "node:path";
import { type HostTarget, matchesHost } from "../../policy/hosts.ts";
import { runFolder } from "../system/run_folder.ts";
import { type DialOptions, plainRoute, Refusal, tunnel } from "./dial.ts";
import { RequestBody } from "./request_body.ts";
import { parseRequest, type ProxyRequest, requestHead } from "./request_head.ts";
import {
  closeQuietly,
  type Connection,
  copy,
  copyBody,
  drain,
  readHead,
  writeAll,
  writeText,
} from "./streams.ts";

interface AllowProxyOptions extends Omit<DialOptions, "patterns"> {
  /** Patterns of the allowed hosts, see policy/hosts.ts; read for each request. */
  hosts(): readonly string[];
  /** A host was refused for the first time: "name:port". */
  onRefused?(host: string): void;
  /** Listens on a port of this machine instead of a socket, which needs a forwarder. */
  readonly isOnPort?: boolean;
  /** A request failed, also one to an allowed host. @param problem the end of a sentence */
  onProblem?(problem: string): void;
}

const MOST_CONNECTIONS = 256;
/** Hosts that are remembered as refused. */
const MOST_REFUSED = 50;
/** Bytes. */
const LONGEST_HEAD = 65_536;
const HEAD_MS = 10_000;
/** Before the next connection is accepted after an error. */
const PAUSE_MS = 100;
/** Bytes of a socket's path, in sun_path of sockaddr_un. */
const LONGEST_PATH = 107;

export class AllowProxy implements AsyncDisposable {
  /** The path of the socket; empty on a port. */
  readonly socket: string;
  /** Its URL on a port; undefined on a socket. */
  readonly url: string | undefined;
  readonly #options: AllowProxyOptions;
  readonly #listener: Deno.UnixListener | Deno.TcpListener;
  readonly #open = new Set<Connection>();
  readonly #refused = new Set<string>();
  readonly #accepting: Promise<void>;
  #clients = 0;
  #isClosed = false;

  private constructor(
    socket: string,
    listener: Deno.UnixListener | Deno.TcpListener,
    options: AllowProxyOptions,
  ) {
    this.socket = socket;
    this.url = "port" in listener.addr ? `http://127.0.0.1:${listener.addr.port}` : undefined;
    this.#listener = listener;
    this.#options = options;
    this.#accepting = this.#accept();
  }

  /** @throws {Error} one line */
  static async open(options: AllowProxyOptions): Promise<AllowProxy> {
    if (options.isOnPort === true) {
      return new AllowProxy("", Deno.listen({ hostname: "127.0.0.1", port: 0 }), options);
    }
    const path = join(await runFolder(), `proxy-${crypto.randomUUID().slice(0, 8)}`);
    if (new TextEncoder().encode(path).length > LONGEST_PATH) {
      throw new Error(
        `Cannot open a network proxy: ${path} is too long for a socket. Set TMPDIR to a shorter folder.`,
      );
    }
    return new AllowProxy(path, Deno.listen({ transport: "unix", path }), options);
  }

  /** The hosts that were refused, the first ones: "name:port". */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    closeQuietly(this.#listener);
    this.#open.forEach(closeQuietly);
    await this.#accepting;
    if (this.socket !== "") await Deno.remove(this.socket).catch(() => {});
  }

  async #accept(): Promise<void> {
    for (;;) {
      const client = await this.#next();
      if (client === undefined) return;
      if (this.#clients >= MOST_CONNECTIONS) {
        closeQuietly(client);
        continue;
      }
      this.#clients++;
      // A broken connection is its program's problem.
      this.#serve(client).catch(() => {}).finally(() => this.#clients--);
    }
  }

  /** The next connection; undefined once it is closed. */
  async #next(): Promise<Connection | undefined> {
    while (!this.#isClosed) {
      try {
        return await this.#listener.accept();
      } catch {
        // The process may have too many open files for now.
        if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
    return undefined;
  }

  async #serve(client: Connection): Promise<void> {
    this.#open.add(client);
    const slow = setTimeout(() => closeQuietly(client), HEAD_MS);
    try {
      const message = await readHead(client, LONGEST_HEAD);
      clearTimeout(slow);
      if (message === undefined) return;
      await this.#answer(client, parseRequest(message.head), message.rest);
    } finally {
      clearTimeout(slow);
      this.#open.delete(client);
      closeQuietly(client);
    }
  }

  async #answer(client: Connection, request: ProxyRequest, rest: Uint8Array): Promise<void> {
    if (request.kind === "invalid") {
      return await reply(client, "400 Bad Request", `Invalid request: ${request.problem}.`);
    }
    const { target } = request;
    const options = { ...this.#options, patterns: this.#options.hosts() };
    const host = `${target.name}:${target.port}`;
    if (!matchesHost(options.patterns, target)) {
      this.#refuse(host);
      return await reply(client, "403 Forbidden", `Refused: ${host} is not an allowed host.`);
    }
    try {
      if (request.kind === "connect") await this.#tunnel(client, target, options, rest);
      else await this.#forward(client, request, options, rest);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.isForbidden) this.#refuse(host);
      this.#options.onProblem?.(error.message);
      const status = error.isForbidden ? "403 Forbidden" : "502 Bad Gateway";
      await reply(client, status, `Refused: ${host}: ${error.message}.`);
    }
  }

  async #tunnel(
    client: Connection,
    target: HostTarget,
    options: DialOptions,
    rest: Uint8Array,
  ): Promise<void> {
    const { connection, rest: early } = await tunnel(target, options);
    await this.#during(client, connection, async () => {
      await writeText(client, "HTTP/1.1 200 Connection established\r\n\r\n");
      await writeAll(client, early);
      await writeAll(connection, rest);
      await Promise.all([copy(client, connection), copy(connection, client)]);
    });
  }

  /** One request; the client opens another connection for the next one. */
  async #forward(
    client: Connection,
    request: Extract<ProxyRequest, { kind: "plain" }>,
    options: DialOptions,
    rest: Uint8Array,
  ): Promise<void> {
    const { connection, proxy } = await plainRoute(request.target, options);
    await this.#during(client, connection, async () => {
      await writeText(connection, requestHead(request, proxy));
      const sending = copyBody(client, connection, new RequestBody(request.framing), rest);
      const receiving = copy(connection, client).finally(() => closeQuietly(client));
      await Promise.all([sending, receiving]);
    });
  }

  async #during(client: Connection, connection: Connection, work: () => Promise<void>): Promise<void> {
    // The program may have been ended meanwhile.
    if (!this.#open.has(client)) return closeQuietly(connection);
    this.#open.add(connection);
    try {
      await work();
    } finally {
      this.#open.delete(connection);
      closeQuietly(connection);
    }
  }

  #refuse(host: string): void {
    if (this.#refused.has(host) || this.#refused.size >= MOST_REFUSED) return;
    this.#refused.add(host);
    this.#options.onRefused?.(host);
  }
}

async function reply(client: Connection, status: string, line: string): Promise<void> {
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${line.length + 1}\r\n`;
  await writeText(client, `${head}Connection: close\r\n\r\n${line}\n`);
  await client.closeWrite();
  // A client that cannot send its body may not read the answer.
  const slow = setTimeout(() => closeQuietly(client), HEAD_MS);
  try {
    await drain(client);
  } finally {
    clearTimeout(slow);
  }
}
