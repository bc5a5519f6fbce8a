/** Reads files for the index: text of a moderate size. */
import { openByRealPath } from "../files/open_file.ts";

/** Bytes of a file; larger ones are data. */
const MOST_BYTES = 512_000;

/** A file with a zero byte here is not text. */
const LOOKED_AT = 8_000;

/** Milliseconds within which a file may change twice without another time. */
const COARSE_MS = 20;

/** The state of a file on the disk; undefined if it is missing or not a regular file. */
export function stampOfFile(path: string): string | undefined {
  try {
    const { isFile, size, mtime, ctime, ino } = Deno.lstatSync(path);
    if (!isFile) return undefined;
    const changed = Math.max(mtime?.getTime() ?? 0, ctime?.getTime() ?? 0);
    const isSettled = Date.now() - changed > COARSE_MS;
    return [size, mtime?.getTime(), ctime?.getTime(), ino, ...isSettled ? [] : ["new"]].join(" ");
  } catch {
    return undefined;
  }
}

/** Undefined if the file is not text of a moderate size, or cannot be read. @param path real */
export function textOf(path: string): string | undefined {
  try {
    using file = openByRealPath(path);
    if (file.size > MOST_BYTES) return undefined;
    const bytes = file.take(file.size);
    if (bytes.subarray(0, LOOKED_AT).includes(0)) return undefined;
    return new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether a file is as it was indexed. @param indexed its stamp then */
export function isSameFile(indexed: string, now: string | undefined): boolean {
  return indexed === now && !indexed.endsWith("new");
}
