/** Bytes of a server-sent-events stream → the data of each event. Chunks may split anywhere. */
import { createParser } from "../../../deps/eventsource_parser.ts";
import type { Framing } from "./framing.ts";

export function sse(): Framing {
  const frames: string[] = [];
  // The decoder would take a mark at the start of any piece for the body's; the parser knows which is.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
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
