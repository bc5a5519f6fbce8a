/**
 * No message is longer than the other side reads: that would end the connection, and with it the engine. What is too
 * large is an error of its own request instead.
 */
import type { AnyMessage, Stream } from "../deps/acp_sdk.ts";

/** Bytes of a line; the other side reads 32 MiB. */
const LARGEST = 24 * 2 ** 20;
/** The protocol's "internal error". */
const INTERNAL_ERROR = -32603;

/** The stream, which sends nothing that is too large. A notification that is, is left out. */
export function sizeLimited({ readable, writable }: Stream): Stream {
  let answer: (message: AnyMessage) => void = () => {};
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    start(controller) {
      answer = (message) => controller.enqueue(message);
    },
  });
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      const size = sizeOf(message);
      if (size <= LARGEST) return controller.enqueue(message);
      if (!("id" in message)) return;
      const details = `the message is too large (${Math.round(size / 2 ** 20)} MB)`;
      const error = { code: INTERNAL_ERROR, message: details, data: { details } };
      const refusal: AnyMessage = { jsonrpc: "2.0", id: message.id, error };
      if ("method" in message) answer(refusal);
      else controller.enqueue(refusal);
    },
  });
  // Either end closes the other; the connection says so.
  outgoing.readable.pipeTo(writable).catch(() => {});
  return { readable: readable.pipeThrough(incoming), writable: outgoing.writable };
}

/** Bytes as JSON: exactly where it matters. */
function sizeOf(message: AnyMessage): number {
  // A character takes six bytes at most, so what is far below the limit need not be written to be measured.
  const most = 6 * characters(message);
  return most <= LARGEST ? most : new TextEncoder().encode(JSON.stringify(message)).length;
}

/** An upper bound of the characters, but for escapes. */
function characters(value: unknown): number {
  if (typeof value === "string") return value.length + 3;
  if (typeof value !== "object" || value === null) return 25;
  if (Array.isArray(value)) return value.reduce<number>((all, part) => all + characters(part), 3);
  return Object.entries(value).reduce((all, [key, part]) => all + key.length + 4 + characters(part), 3);
}
