/** Bytes of a server-sent-events stream → the data of each event. Chunks may split anywhere. */
import { createParser } from "eventsource-parser";
import type { Framing } from "./framing.ts";

export function sse(): Framing {
  const frames: string[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: (event) => frames.push(event.data) });
  return {
    push(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      return frames.splice(0);
    },
    end() {
      // An event that is complete but for its closing empty line is taken; a cut one fails to parse later.
      parser.feed(decoder.decode() + "\n\n");
      return frames.splice(0);
    },
  };
}
