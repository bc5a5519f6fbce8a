/** Splits newline-delimited JSON into lines. Chunk boundaries can be anywhere. */
import type { Framing } from "./framing.ts";

export function ndjson(): Framing {
  // By default the decoder would drop a byte order mark in every chunk; trim drops the one of the body.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Chunks of the current line, joined once at its end. */
  const partial: string[] = [];
  const take = (text: string) => {
    const [first = "", ...more] = text.split("\n");
    partial.push(first);
    if (more.length === 0) return [];
    const rest = more.pop() ?? "";
    const lines = [partial.splice(0).join(""), ...more];
    partial.push(rest);
    return lines.map((line) => line.trim()).filter((line) => line !== "");
  };
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(decoder.decode() + "\n"),
  };
}
