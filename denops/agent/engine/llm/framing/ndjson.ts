/** Bytes of newline-delimited JSON → its lines. Chunks may split anywhere. */
import type { Framing } from "./framing.ts";

export function ndjson(): Framing {
  const decoder = new TextDecoder();
  let rest = "";
  const take = (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    return lines.map((line) => line.trim()).filter((line) => line !== "");
  };
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(decoder.decode() + "\n"),
  };
}
