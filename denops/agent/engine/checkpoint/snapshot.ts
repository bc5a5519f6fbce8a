/** Takes images of paths. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { Contents, Snapshot } from "../log/checkpoints.ts";
import { ABSENT } from "../log/checkpoints.ts";
import { openByRealPath } from "../files/open_file.ts";
import { pauses } from "../../shared/pauses.ts";
import { opened } from "./restore/opened.ts";

/** Contents of larger files are not stored, because of SQLite's limit for blobs and the time it takes. */
export const LARGEST_KEPT = 1_000_000_000;

/** Files up to this size are read at once. */
const PART = 4_000_000;

/** Receives contents. */
export type ContentSink = Pick<Contents, "put" | "putParts">;

/**
 * The current image of a path; a file's content goes into `contents`.
 * @param roots real paths: below them closed files are opened, and links are not followed @throws {Error} if it cannot
 * be read
 */
export async function takeSnapshot(
  path: string,
  contents: ContentSink,
  roots: readonly string[],
): Promise<Snapshot> {
  const info = await opened(path, false, roots, () => lstatInRealFolder(path));
  if (info === undefined) return ABSENT;
  return await opened(path, true, roots, () => snapshotOf(path, info, contents, LARGEST_KEPT));
}

/** Undefined below a link, because it leads elsewhere. */
async function lstatInRealFolder(path: string): Promise<Deno.FileInfo | undefined> {
  const info = await lstat(path);
  return info !== undefined && Deno.realPathSync(dirname(path)) === dirname(path) ? info : undefined;
}

/** Like `takeSnapshot`, with known metadata. @param largest bytes; larger files only yield a hash */
export async function snapshotOf(
  path: string,
  info: Deno.FileInfo,
  contents: ContentSink,
  largest: number,
): Promise<Snapshot> {
  const mode = modeOf(info);
  if (info.isSymlink) return { type: "link", target: await Deno.readLink(path) };
  if (info.isDirectory) return { type: "folder", mode };
  if (!info.isFile) return { type: "other" };
  return { type: "file", mode, blob: await blobOf(path, info, contents, largest) };
}

async function blobOf(
  path: string,
  info: Deno.FileInfo,
  contents: ContentSink,
  largest: number,
): Promise<string> {
  const { size } = info;
  if (size <= Math.min(PART, largest)) return contents.put(wholeFile(path));
  if (size <= largest) return await contents.putParts(() => partsOf(path));
  // Files that take seconds to read are identified by size, time and inode.
  if (size > LARGEST_KEPT) return `large ${size} ${info.mtime?.getTime()} ${info.ino}`;
  const hash = createHash("sha256");
  for await (const part of partsOf(path)) hash.update(part);
  return hash.digest("hex");
}

const NOTHING_THERE = [Deno.errors.NotFound, Deno.errors.NotADirectory, Deno.errors.FilesystemLoop];

/** Undefined if the path is missing. Avoids a round trip to another thread. */
export async function lstat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Promise.resolve(Deno.lstatSync(path));
  } catch (error) {
    if (NOTHING_THERE.some((one) => error instanceof one)) return undefined;
    throw error;
  }
}

/** Permission bits; undefined if the system has none. */
export function modeOf(info: Deno.FileInfo): number | undefined {
  return info.mode === null || Deno.build.os === "windows" ? undefined : info.mode & 0o7777;
}

function wholeFile(path: string): Uint8Array {
  using file = openByRealPath(path);
  return file.take(file.size);
}

async function* partsOf(path: string): AsyncGenerator<Uint8Array> {
  using file = openByRealPath(path);
  const pause = pauses();
  while (true) {
    await pause();
    const part = file.take(PART);
    if (part.length > 0) yield part;
    if (part.length < PART) return;
  }
}
