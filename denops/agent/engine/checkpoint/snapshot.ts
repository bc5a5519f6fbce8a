/** Images of what is at a path. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { Contents, Snapshot } from "../log/checkpoints.ts";
import { ABSENT } from "../log/checkpoints.ts";
import { openByRealPath } from "../files/open_file.ts";
import { pauses } from "../../shared/pauses.ts";
import { opened } from "./restore/opened.ts";

/** Contents of larger files are not kept: SQLite's blobs and the user's patience end somewhere. */
export const LARGEST_KEPT = 1_000_000_000;

/** Files up to this size are read at once. */
const PART = 4_000_000;

/** Where contents go. */
export type ContentSink = Pick<Contents, "put" | "putParts">;

/**
 * What is there now; a file's content goes into `contents`.
 * @param roots real paths of folders: below them what its owner has closed is opened for it, and no link is followed
 * @throws {Error} if it cannot be read
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

/** Undefined below a link: what is there is somewhere else. */
async function lstatInRealFolder(path: string): Promise<Deno.FileInfo | undefined> {
  const info = await lstat(path);
  return info !== undefined && Deno.realPathSync(dirname(path)) === dirname(path) ? info : undefined;
}

/** As `takeSnapshot`, of what was just looked at. @param largest bytes; of larger files only the hash is noted */
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
  // What takes seconds to read is told by size, time and number.
  if (size > LARGEST_KEPT) return `large ${size} ${info.mtime?.getTime()} ${info.ino}`;
  const hash = createHash("sha256");
  for await (const part of partsOf(path)) hash.update(part);
  return hash.digest("hex");
}

const NOTHING_THERE = [Deno.errors.NotFound, Deno.errors.NotADirectory, Deno.errors.FilesystemLoop];

/** Undefined if nothing is there. It takes less than a turn to another thread. */
export async function lstat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Promise.resolve(Deno.lstatSync(path));
  } catch (error) {
    if (NOTHING_THERE.some((one) => error instanceof one)) return undefined;
    throw error;
  }
}

/** Permission bits; undefined where the system has none. */
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
