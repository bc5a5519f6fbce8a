/**
 * Values as JSON with long texts in blobs: {"$blob": sha256} stands for a text. An object with this key is wrapped as
 * {"$json": its JSON}, so that every value survives.
 */
import type { Blobs } from "../blobs.ts";
import type { Sql } from "../sql.ts";

/** Characters of texts that go into a blob, and of texts that reuse an existing one, as file texts do. */
const LONG = 8_000;
const SHARED = 1_000;

interface TextBlobs {
  putText(text: string): string;
  /** Undefined if no blob has it. */
  findText(text: string): string | undefined;
}

/** Contents that the session references. */
export function namedBlobs(database: Sql, blobs: Blobs, session: string): TextBlobs {
  const name = (blob: string) => {
    database.run("INSERT OR IGNORE INTO payload_blobs (session, blob) VALUES (?, ?)", session, blob);
    return blob;
  };
  return {
    putText: (text) => name(blobs.putText(text)),
    findText(text) {
      const blob = blobs.findText(text);
      return blob === undefined ? undefined : name(blob);
    },
  };
}

export function encodePayload(value: unknown, blobs: TextBlobs): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    // A lone surrogate is not UTF-8; JSON escapes it.
    if (typeof part === "string" && part.length >= SHARED && part.isWellFormed()) {
      const blob = part.length >= LONG ? blobs.putText(part) : blobs.findText(part);
      return blob === undefined ? part : { $blob: blob };
    }
    return isMarked(part) ? { $json: JSON.stringify(part) } : part;
  });
}

/** Decodes in place, because most values have no mark. */
export function decodeValue(value: unknown, blobs: Pick<Blobs, "getText">): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isMarked(value)) {
    if (typeof value.$blob === "string") return blobs.getText(value.$blob);
    const json = decodeValue(value.$json, blobs);
    return typeof json === "string" ? JSON.parse(json) : value;
  }
  for (const [key, part] of Object.entries(value)) {
    const decoded = decodeValue(part, blobs);
    // Like JSON.parse: "__proto__" is a normal key.
    if (decoded !== part) {
      Reflect.defineProperty(value, key, {
        value: decoded,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
  return value;
}

function isMarked(part: unknown): part is { readonly $blob?: unknown; readonly $json?: unknown } {
  return typeof part === "object" && part !== null && ("$blob" in part || "$json" in part);
}
