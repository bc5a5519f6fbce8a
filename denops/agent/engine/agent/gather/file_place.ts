/** Addresses of attached files. */
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { PathMention } from "../../context/mentions.ts";

/** Parses a file's address; a fragment such as "L3-L9" selects lines. */
export function filePlace(uri: string): PathMention | undefined {
  if (!URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  if (url.protocol !== "file:") return undefined;
  const [, from, to = from] = /^#L(\d+)(?:[-:]L?(\d+))?$/.exec(url.hash) ?? [];
  const isPart = url.hash !== "" || url.search !== "";
  url.hash = url.search = "";
  const path = fileURLToPath(url);
  if (from !== undefined && to !== undefined) {
    return { path, lines: { first: Math.max(1, Number(from)), last: Number(to) } };
  }
  return { path, ...(isPart ? { lines: { first: 1, last: Infinity } } : {}) };
}

/** The name of an attachment without a label. */
export function nameOf(uri: string | null | undefined): string {
  return uri ? basename(uri) : "image";
}
