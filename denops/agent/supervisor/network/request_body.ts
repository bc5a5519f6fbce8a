/**
 * Finds the end of a request's body. Bytes after it would be another request, which nobody has judged. Pure. Source: RFC
 * 9112, section 7.1.
 */
import type { BodyFraming } from "./request_head.ts";

/** Bytes of a line between two chunks, and of all trailers. */
const LONGEST_LINE = 1_024;
const MOST_TRAILERS = 8_192;

const SIZE_LINE = /^([\da-fA-F]{1,12})(?:[\t ]*;[\t\x20-\x7e]*)?$/;
const TRAILER = /^[!#$%&'*+.^`|~\w-]+:[\t\x20-\x7e\x80-\xff]*$/;

const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;

export class RequestBody {
  /** Bytes until the end of the body, or of the chunk. */
  #left: number;
  #state: "data" | "data end" | "size" | "trailers" | "over";
  readonly #isChunked: boolean;
  #line = "";
  #trailers = 0;

  constructor(framing: BodyFraming) {
    this.#isChunked = framing.kind === "chunked";
    this.#left = framing.kind === "length" ? framing.length : 0;
    this.#state = this.#isChunked ? "size" : this.#left === 0 ? "over" : "data";
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** The number of leading bytes that belong to the body. @throws {Error} if they are malformed */
  take(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && this.#state !== "over") {
      if (this.#state === "data") {
        const count = Math.min(this.#left, bytes.length - at);
        this.#left -= count;
        at += count;
        if (this.#left === 0) this.#state = this.#isChunked ? "data end" : "over";
      } else this.#takeOfLine(bytes[at++] ?? 0);
    }
    return at;
  }

  #takeOfLine(byte: number): void {
    if (byte !== LINE_FEED) {
      if (this.#line.endsWith("\r") || this.#line.length >= LONGEST_LINE) throw malformed();
      this.#line += String.fromCharCode(byte);
      return;
    }
    if (this.#line.charCodeAt(this.#line.length - 1) !== CARRIAGE_RETURN) throw malformed();
    const line = this.#line.slice(0, -1);
    this.#line = "";
    this.#endLine(line);
  }

  #endLine(line: string): void {
    switch (this.#state) {
      case "size": {
        const [, digits] = SIZE_LINE.exec(line) ?? [];
        if (digits === undefined) throw malformed();
        this.#left = Number.parseInt(digits, 16);
        this.#state = this.#left === 0 ? "trailers" : "data";
        return;
      }
      case "data end":
        if (line !== "") throw malformed();
        this.#state = "size";
        return;
      case "trailers":
        this.#trailers += line.length;
        if (line === "") this.#state = "over";
        else if (!TRAILER.test(line) || this.#trailers > MOST_TRAILERS) throw malformed();
        return;
      case "data":
      case "over":
        return;
    }
  }
}

function malformed(): Error {
  return new Error("the request's body is malformed");
}
