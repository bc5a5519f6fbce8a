/** Splits a server-sent-events stream into event data. Chunk boundaries can be anywhere. */
import { createParser } from "../../../deps/eventsource_parser.ts";
import type { Framing } from "./framing.ts";

export function sse(): Framing {
  const frames: string[] = [];
  // By default the decoder would drop a byte order mark in every chunk; the parser drops only the one of the
  // body.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parser = createParser({ onEvent: (event) => frames.push(event.data) });
  return {
    push(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      return frames.splice(0);
    },
    end() {
      // Accept a last event without its closing empty line; a truncated one fails to parse later.
      parser.feed(decoder.decode() + "\n\n");
      return frames.splice(0);
    },
  };
}
