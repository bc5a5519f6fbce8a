/** Images of what is at a path. */
import type { Contents, Snapshot } from "../core/checkpoints.ts";
import { ABSENT } from "../core/checkpoints.ts";

/** Larger files are not kept: SQLite's blobs and the user's patience end somewhere. */
export const LARGEST_KEPT = 1_000_000_000;

/** Files up to this size are read at once. */
const PART = 4_000_000;

/**
 * What is there now; a file's content goes into `contents`.
 * @param largest bytes; of larger files only the mode is noted
 * @throws {Error} if it cannot be read
 */
export async function takeSnapshot(
  path: string,
  contents: Contents,
  largest: number = LARGEST_KEPT,
): Promise<Snapshot> {
  const info = await lstat(path);
  if (info === undefined) return ABSENT;
  const mode = modeOf(info);
  if (info.isSymlink) return { type: "link", target: await Deno.readLink(path) };
  if (info.isDirectory) return { type: "folder", mode };
  if (!info.isFile) return { type: "other" };
  if (info.size > largest) return { type: "file", mode, blob: undefined };
  const blob = info.size <= PART
    ? contents.put(await Deno.readFile(path))
    : await contents.putParts(() => partsOf(path));
  return { type: "file", mode, blob };
}

/** Undefined if nothing is there. */
export async function lstat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/** Permission bits; undefined where the system has none. */
export function modeOf(info: Deno.FileInfo): number | undefined {
  return info.mode === null || Deno.build.os === "windows" ? undefined : info.mode & 0o7777;
}

async function* partsOf(path: string): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path);
  while (true) {
    const part = new Uint8Array(PART);
    let filled = 0;
    while (filled < PART) {
      const count = await file.read(part.subarray(filled));
      if (count === null) break;
      filled += count;
    }
    if (filled > 0) yield part.subarray(0, filled);
    if (filled < PART) return;
  }
}
