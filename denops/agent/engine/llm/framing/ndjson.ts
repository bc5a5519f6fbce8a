/** Bytes of newline-delimited JSON → its lines. Chunks may split anywhere. */
import type { Framing } from "./framing.ts";

export function ndjson(): Framing {
  // The decoder would take a mark at the start of any piece for the body's; trim drops the body's own.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Pieces of a line that has no end yet; joined once. */
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
