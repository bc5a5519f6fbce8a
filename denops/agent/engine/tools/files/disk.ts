/** The file system as tools use it: every path was resolved before. Deno's own, wrapped thinly. */
import type { PathLookups } from "../../../policy/path.ts";
import { join } from "node:path";
import { ToolError } from "../../core/errors.ts";
import { isImage, LOOKED_AT } from "./image.ts";

export interface FileInfo {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  /** Permission bits; undefined where the system has none. */
  readonly mode?: number;
}

/** Synchronous: a look at a file takes less than a turn to another thread, and each call takes many. */
export const lookups: PathLookups = {
  realPath: (path) => Promise.resolve(found(() => Deno.realPathSync(path))),
  kind: (path) =>
    Promise.resolve(found(() => {
      const info = Deno.lstatSync(path);
      if (info.isSymlink) return "symlink";
      if (info.isDirectory) return "directory";
      return info.isFile ? "file" : "other";
    })),
};

function found<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Undefined if nothing is there. */
export function fileInfo(path: string): FileInfo | undefined {
  try {
    const info = Deno.statSync(path);
    const kind = info.isFile ? "file" : info.isDirectory ? "directory" : "other";
    return { kind, size: info.size, ...(info.mode === null ? {} : { mode: info.mode & 0o7777 }) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/**
 * Opens the file that was judged: its path is still its real one, so no link leads elsewhere, and what is read from
 * the handle is that file, whatever takes its name meanwhile.
 * @param path real @throws {ToolError} if another file is found there, and as `Deno.open` does
 */
export async function openByRealPath(path: string): Promise<Deno.FsFile> {
  const file = await Deno.open(path);
  try {
    const { dev, ino } = await file.stat();
    const named = Deno.lstatSync(path);
    if (Deno.realPathSync(path) === path && named.dev === dev && named.ino === ino) return file;
    throw new ToolError("another file took its place at this moment; nothing was read. Try again.");
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Folders and files that are looked at for names of one file. */
const MOST_LOOKED_AT = 50_000;

/** Are all names (hard links) of the file in these folders? */
export async function hasAllNamesIn(path: string, folders: readonly string[]): Promise<boolean> {
  const { dev, ino, nlink } = Deno.lstatSync(path);
  if (nlink === null || nlink === 1) return true;
  let missing = nlink;
  let left = MOST_LOOKED_AT;
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined && missing > 0 && left > 0; folder = waiting.pop()) {
    try {
      for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
        left -= 1;
        const at = join(folder, name);
        if (isDirectory && name !== ".git") waiting.push(at);
        const info = isFile ? await Deno.lstat(at) : undefined;
        if (info?.ino === ino && info.dev === dev) missing -= 1;
      }
    } catch {
      // A folder that cannot be looked into has no name that would count.
    }
  }
  return missing === 0;
}

export interface ImageFile {
  readonly bytes: Uint8Array;
  /** Of the file, in bytes. */
  readonly size: number;
}

/** The file's bytes, or its first `most`; undefined if it is no image, then hardly anything was read. */
export async function readImage(
  path: string,
  most: number,
  signal: AbortSignal,
): Promise<ImageFile | undefined> {
  using file = await openByRealPath(path);
  const start = await readUpTo(file, LOOKED_AT, signal);
  if (!isImage(start)) return undefined;
  const { size } = await file.stat();
  const rest = await readUpTo(file, Math.max(0, Math.min(size, most) - start.length), signal);
  const bytes = new Uint8Array(start.length + rest.length);
  bytes.set(start);
  bytes.set(rest, start.length);
  return { bytes, size };
}

/** @param path real */
export async function readWhole(path: string, signal: AbortSignal): Promise<Uint8Array> {
  using file = await openByRealPath(path);
  return await readUpTo(file, (await file.stat()).size, signal);
}

async function readUpTo(file: Deno.FsFile, most: number, signal: AbortSignal): Promise<Uint8Array> {
  const buffer = new Uint8Array(most);
  let length = 0;
  while (length < most) {
    signal.throwIfAborted();
    const count = await file.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** Does the file hold these bytes? Undefined: is nothing there? Synchronous, so that it holds for what comes next. */
export function isStill(path: string, bytes: Uint8Array | undefined): boolean {
  try {
    const now = Deno.readFileSync(path);
    return bytes !== undefined && now.length === bytes.length && now.every((byte, at) => byte === bytes[at]);
  } catch (error) {
    return bytes === undefined && error instanceof Deno.errors.NotFound;
  }
}

/** Tells one state of a file from the next. */
export function stampOf(path: string): string | undefined {
  try {
    const { dev, ino, size, mtime } = Deno.lstatSync(path);
    return [dev, ino, size, mtime?.getTime()].join(" ");
  } catch {
    return undefined;
  }
}
