/**
 * Values as JSON, with long texts in blobs: {"$blob": sha256} stands for a text. An object that has this key by
 * itself is wrapped as {"$json": its JSON}, so that every value comes back as it was.
 */
import type { Blobs } from "./blobs.ts";

/** Characters from which a text goes into a blob. */
const LONG = 2_000;

export function encodePayload(value: unknown, blobs: Pick<Blobs, "putText">): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    // A lone surrogate has no UTF-8; JSON escapes it.
    if (typeof part === "string" && part.length >= LONG && part.isWellFormed()) {
      return { $blob: blobs.putText(part) };
    }
    return isMarked(part) ? { $json: JSON.stringify(part) } : part;
  });
}

export function decodePayload(text: string, blobs: Pick<Blobs, "getText">): unknown {
  // Most have no mark, and are read several times as fast.
  if (!text.includes('"$blob"') && !text.includes('"$json"')) return JSON.parse(text);
  return JSON.parse(text, (_key, part: unknown) => {
    if (!isMarked(part)) return part;
    if (typeof part.$blob === "string") return blobs.getText(part.$blob);
    return typeof part.$json === "string" ? JSON.parse(part.$json) : part;
  });
}

function isMarked(part: unknown): part is { readonly $blob?: unknown; readonly $json?: unknown } {
  return typeof part === "object" && part !== null && ("$blob" in part || "$json" in part);
}
