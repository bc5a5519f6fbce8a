/**
 * An MCP server over HTTP as a program that speaks MCP on its standard streams. It runs in the sandbox of such programs
 * and reaches the server's host alone, so the supervisor checks its messages as those of any other server.
 */
import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "../../../deps/mcp.ts";
import { messageOf } from "../../../shared/errors.ts";
import { isRecord } from "../../../shared/records.ts";
import { BridgeStart, BridgeToken, TO_SUPERVISOR } from "./messages.ts";

/** Answers to a first message that a server of the older transport gives. Source: the specification, "Backwards compatibility". */
const OLDER: ReadonlySet<number> = new Set([400, 404, 405]);
/** JSON-RPC: the server's own range. */
const FAILED = -32000;
/** Characters. */
const LONGEST_ERROR = 300;

/** The token of the server; the supervisor sends the next one when the server refuses it. */
class Tokens implements AuthProvider {
  #token: string | undefined;
  #waiting: ((token: string | null) => void)[] = [];

  constructor(token: string | undefined) {
    this.#token = token;
  }

  token(): Promise<string | undefined> {
    return Promise.resolve(this.#token);
  }

  async onUnauthorized(
    { response }: Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0],
  ): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    const refusal = { metadata: resourceMetadataUrl?.href, scope };
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#waiting.push(resolve);
    console.error(TO_SUPERVISOR + JSON.stringify(refusal));
    const token = await promise;
    if (token === null) throw new Error("it wants a login. Log in with :Agent mcp");
    this.#token = token;
  }

  /** The supervisor's answer to the oldest question. */
  receive(token: string | null): void {
    this.#waiting.shift()?.(token);
  }
}

class Bridge {
  readonly #start: BridgeStart;
  readonly #tokens: Tokens;
  #transport: Transport | undefined;
  /** The id of the request `initialize`. */
  #initialize: unknown;

  constructor(start: BridgeStart) {
    this.#start = start;
    this.#tokens = new Tokens(start.token);
  }

  /** A line of the supervisor: a token, or a message for the server. */
  receive(value: unknown): void {
    const token = BridgeToken.safeParse(value);
    if (token.success) return this.#tokens.receive(token.data.bridge_token);
    this.#send(value as JSONRPCMessage).catch((error) => {
      if (!isJSONRPCRequest(value)) return;
      print({ jsonrpc: "2.0", id: value.id, error: { code: FAILED, message: firstLine(error) } });
    });
  }

  async close(): Promise<void> {
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      await this.#transport.terminateSession().catch(() => {});
    }
    await this.#transport?.close();
  }

  async #send(message: JSONRPCMessage): Promise<void> {
    if (isInitializeRequest(message)) this.#initialize = Reflect.get(message, "id");
    const transport = this.#transport ??= await this.#open(StreamableHTTPClientTransport);
    try {
      await transport.send(message);
    } catch (error) {
      const isOlder = isInitializeRequest(message) && error instanceof SdkHttpError &&
        OLDER.has(error.status ?? 0) && transport instanceof StreamableHTTPClientTransport;
      if (!isOlder) throw error;
      this.#transport = await this.#open(SSEClientTransport);
      await this.#transport.send(message);
    }
  }

  async #open(
    kind: typeof StreamableHTTPClientTransport | typeof SSEClientTransport,
  ): Promise<Transport> {
    const { url, headers } = this.#start;
    const transport: Transport = new kind(new URL(url), {
      authProvider: this.#tokens,
      requestInit: { headers },
    });
    transport.onmessage = (message) => this.#pass(message);
    transport.onerror = (error) => console.error(firstLine(error));
    await transport.start();
    return transport;
  }

  #pass(message: unknown): void {
    print(message);
    const result = isRecord(message) && message.id === this.#initialize ? message.result : undefined;
    const version = isRecord(result) ? result.protocolVersion : undefined;
    if (typeof version === "string") this.#transport?.setProtocolVersion?.(version);
  }
}

/** Servers answer with whole pages. */
function firstLine(error: unknown): string {
  const [line = ""] = messageOf(error).split("\n");
  return line.slice(0, LONGEST_ERROR);
}

function print(message: unknown): void {
  console.log(JSON.stringify(message));
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

let bridge: Bridge | undefined;
for await (const line of linesOf(Deno.stdin.readable)) {
  const value: unknown = JSON.parse(line);
  if (bridge === undefined) bridge = new Bridge(BridgeStart.parse(value));
  else bridge.receive(value);
}
await bridge?.close();
Deno.exit(0);
