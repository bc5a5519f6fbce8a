/** Reads heads of messages, and copies the bytes of one connection to another. */
import type { RequestBody } from "./request_body.ts";

/** A connection; a file of Deno's would be one too. */
export type Connection = Pick<Deno.Conn, "read" | "write" | "close" | "closeWrite">;

/** Bytes that are read at a time, and held for each direction of a connection. */
const PIECE = 16_384;

/** A head as Latin-1 without its end, and the bytes after it. */
interface MessageHead {
  readonly head: string;
  readonly rest: Uint8Array;
}

/** Undefined if it is longer than `most` bytes, or the connection ends before. */
export async function readHead(from: Connection, most: number): Promise<MessageHead | undefined> {
  let bytes = new Uint8Array(PIECE);
  let length = 0;
  for (;;) {
    if (length === bytes.length) {
      if (length >= most) return undefined;
      const longer = new Uint8Array(Math.min(most, 2 * length));
      longer.set(bytes);
      bytes = longer;
    }
    const count = await from.read(bytes.subarray(length));
    if (count === null) return undefined;
    const end = endOfHead(bytes.subarray(0, length + count), Math.max(0, length - END.length + 1));
    length += count;
    if (end === undefined) continue;
    const head = Array.from(bytes.subarray(0, end), (byte) => String.fromCharCode(byte)).join("");
    return { head, rest: bytes.slice(end + END.length, length) };
  }
}

/** CR LF CR LF */
const END = [13, 10, 13, 10] as const;

function endOfHead(bytes: Uint8Array, from: number): number | undefined {
  for (let at = bytes.indexOf(END[0], from); at !== -1; at = bytes.indexOf(END[0], at + 1)) {
    if (END.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return undefined;
}

export async function writeAll(to: Connection, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await to.write(bytes.subarray(written));
}

export async function writeText(to: Connection, text: string): Promise<void> {
  await writeAll(to, Uint8Array.from(text, (char) => char.charCodeAt(0)));
}

/** Copies until `from` ends, and then ends `to` in this direction. It reads no faster than `to` takes. */
export async function copy(from: Connection, to: Connection): Promise<void> {
  const buffer = new Uint8Array(PIECE);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    await writeAll(to, buffer.subarray(0, count));
  }
  await to.closeWrite();
}

/** Reads until the end. */
export async function drain(from: Connection): Promise<void> {
  const buffer = new Uint8Array(PIECE);
  while (await from.read(buffer) !== null);
}

/**
 * Copies a request's body, and waits for the end of `from`.
 * @param rest the bytes that came with the head
 * @throws {Error} if anything follows the body
 */
export async function copyBody(
  from: Connection,
  to: Connection,
  body: RequestBody,
  rest: Uint8Array,
): Promise<void> {
  const buffer = new Uint8Array(PIECE);
  for (let bytes = rest;;) {
    const count = body.take(bytes);
    await writeAll(to, bytes.subarray(0, count));
    if (count < bytes.length) throw new Error("more than one request in a connection");
    const read = await from.read(buffer);
    if (read === null) return;
    bytes = buffer.subarray(0, read);
  }
}

export function closeQuietly(connection: { close(): void }): void {
  try {
    connection.close();
  } catch {
    // It is already closed.
  }
}
