/**
 * MessagePack-RPC, as Neovim speaks it over a byte stream.
 *
 * Wire: `[0, id, method, params]` request, `[1, id, error, result]` response,
 * `[2, method, params]` notification. Source: github.com/msgpack-rpc/msgpack-rpc, spec.md,
 * and `:help api`. Neovim's handles (buffer, window, tabpage) are extension types 0, 1 and 2
 * whose payload is a MessagePack integer; they are decoded to plain numbers.
 */
import { messageOf } from "./errors.ts";
import { decode, decodeMultiStream, encode, ExtensionCodec } from "../deps/msgpack.ts";
import type { BytePipe } from "./byte_pipe.ts";

/** Answers a request of the other side, or handles a notification, whose result is ignored. */
type RpcHandler = (method: string, params: readonly unknown[]) => unknown;

/** The other side answered a request with an error; `message` is its text. */
class RpcError extends Error {
  override readonly name = "RpcError";
}

/** The stream ended while a request was waiting for its answer. */
class RpcClosed extends Error {
  override readonly name = "RpcClosed";
}

const handles = new ExtensionCodec();
for (const type of [0, 1, 2]) {
  handles.register({ type, encode: () => null, decode: (data) => decode(data) });
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class MsgpackRpc {
  /** Resolves when the other side has closed its end of the stream. */
  readonly closed: Promise<void>;
  readonly #pipe: BytePipe;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onRequest: RpcHandler;
  readonly #onNotification: RpcHandler;
  #lastId = 0;
  #ended = false;

  constructor(pipe: BytePipe, onRequest: RpcHandler, onNotification: RpcHandler) {
    this.#pipe = pipe;
    this.#onRequest = onRequest;
    this.#onNotification = onNotification;
    this.closed = this.#read();
  }

  /** Sends a request; rejects with {@link RpcError} or, at the end of the stream, {@link RpcClosed}. */
  request(method: string, params: readonly unknown[]): Promise<unknown> {
    if (this.#ended) return Promise.reject(new RpcClosed("the connection is closed"));
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    this.#send([0, id, method, params]);
    return promise;
  }

  notify(method: string, params: readonly unknown[]): void {
    this.#send([2, method, params]);
  }

  #send(message: unknown): void {
    const bytes = encode(message, { extensionCodec: handles, ignoreUndefined: true });
    // A failed write means that the other side is gone; the read loop then ends and rejects pending requests.
    this.#pipe.write(bytes).catch(() => {});
  }

  async #read(): Promise<void> {
    try {
      for await (const message of decodeMultiStream(pieces(this.#pipe), { extensionCodec: handles })) {
        this.#dispatch(message);
      }
    } catch {
      // A broken stream ends like a closed one.
    } finally {
      this.#ended = true;
      for (const waiting of this.#waiting.values()) {
        waiting.reject(new RpcClosed("the connection is closed"));
      }
      this.#waiting.clear();
    }
  }

  #dispatch(message: unknown): void {
    if (!Array.isArray(message)) return;
    const [type, ...rest]: unknown[] = message;
    if (type === 1) this.#settle(rest);
    if (type === 2) this.#call(this.#onNotification, rest[0], rest[1]).catch(() => {});
    if (type === 0) this.#answer(rest[0], rest[1], rest[2]);
  }

  #settle([id, error, result]: readonly unknown[]): void {
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined || typeof id !== "number") return;
    this.#waiting.delete(id);
    if (error === null || error === undefined) waiting.resolve(result);
    else waiting.reject(new RpcError(errorText(error)));
  }

  async #call(handler: RpcHandler, method: unknown, params: unknown): Promise<unknown> {
    return await handler(String(method), Array.isArray(params) ? params : []);
  }

  async #answer(id: unknown, method: unknown, params: unknown): Promise<void> {
    try {
      const result = await this.#call(this.#onRequest, method, params);
      this.#send([1, id, null, result ?? null]);
    } catch (error) {
      this.#send([1, id, messageOf(error), null]);
    }
  }
}

async function* pieces({ read }: BytePipe): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) yield bytes;
}

/** Neovim answers errors as `[type, message]`. */
function errorText(error: unknown): string {
  if (Array.isArray(error) && typeof error[1] === "string") return error[1];
  return typeof error === "string" ? error : JSON.stringify(error);
}
