/**
 * Keeps the requests and answers of a session's last turn as they were on the wire, for people who debug a model's
 * template. It keeps references to texts and bytes that exist anyway, up to a limit: the oldest go first.
 */
import { messageOf } from "../../shared/errors.ts";
import type { HttpExchange } from "../log/http_exchange.ts";
import type { HttpRequest } from "./wire/wire.ts";

/** Characters and bytes of one turn. */
const MOST_KEPT = 4_000_000;
const MOST_EXCHANGES = 200;

export class WireLog {
  #exchanges: LoggedExchange[] = [];
  #size = 0;

  /** A turn begins: forgets the one before. */
  begin(): void {
    this.#exchanges = [];
    this.#size = 0;
  }

  /** Call it for each attempt. @param secrets texts that nobody may see */
  send(request: HttpRequest, secrets: readonly string[]): LoggedExchange {
    const exchange: LoggedExchange = new LoggedExchange(secrets, (size) => this.#takes(exchange, size));
    this.#exchanges.push(exchange);
    if (this.#exchanges.length > MOST_EXCHANGES) this.#size -= this.#exchanges.shift()?.drop() ?? 0;
    exchange.sent(request);
    return exchange;
  }

  /** The oldest first. */
  get exchanges(): readonly HttpExchange[] {
    return this.#exchanges.map((exchange) => exchange.facts);
  }

  /** Counts a part of an exchange, for which older ones make room. @returns whether it fits */
  #takes(exchange: LoggedExchange, size: number): boolean {
    // An attempt of an earlier turn may still be reading.
    if (!this.#exchanges.includes(exchange)) return false;
    for (const other of this.#exchanges) {
      if (this.#size + size <= MOST_KEPT || other === exchange) break;
      this.#size -= other.drop();
    }
    if (this.#size + size > MOST_KEPT) return false;
    this.#size += size;
    return true;
  }
}

class LoggedExchange {
  readonly #secrets: readonly string[];
  readonly #takes: (size: number) => boolean;
  readonly #time = Date.now();
  readonly #since = performance.now();
  #request: Omit<HttpRequest, "body"> = { url: "", headers: {} };
  #body: string | undefined;
  #answer: Pick<NonNullable<HttpExchange["answer"]>, "status" | "headers" | "after"> | undefined;
  #pieces: Uint8Array[] = [];
  #isCut = false;
  #failure: string | undefined;
  #size = 0;

  /** @param takes counts a part; false: it has no room */
  constructor(secrets: readonly string[], takes: (size: number) => boolean) {
    this.#secrets = secrets;
    this.#takes = takes;
  }

  sent({ body, ...request }: HttpRequest): void {
    this.#request = request;
    if (!this.#takes(body.length)) return;
    this.#body = body;
    this.#size = body.length;
  }

  answered({ status, headers }: Response): void {
    this.#answer = { status, headers: [...headers], after: Math.round(performance.now() - this.#since) };
  }

  /** More of the answer's body. The bytes must not change. */
  read(bytes: Uint8Array): void {
    this.#isCut ||= !this.#takes(bytes.length);
    if (this.#isCut) return;
    this.#pieces.push(bytes);
    this.#size += bytes.length;
  }

  failed(error: unknown): void {
    this.#failure = messageOf(error);
  }

  /** Forgets the bodies. @returns their size */
  drop(): number {
    const size = this.#size;
    this.#body = undefined;
    this.#isCut = true;
    this.#pieces = [];
    this.#size = 0;
    return size;
  }

  get facts(): HttpExchange {
    const { url, headers } = this.#request;
    const decoder = new TextDecoder();
    const body = this.#pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") +
      decoder.decode();
    return {
      time: this.#time,
      url,
      headers,
      body: this.#body,
      answer: this.#answer && { ...this.#answer, body, isCut: this.#isCut },
      failure: this.#failure,
      secrets: this.#secrets,
    };
  }
}
