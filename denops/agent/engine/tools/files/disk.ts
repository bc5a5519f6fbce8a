/** The file system for tools: a thin wrapper of Deno's. All paths are already resolved. */
import type { PathLookups } from "../../../policy/path.ts";
import { dirname } from "node:path";
import { openByRealPath } from "../../files/open_file.ts";
import { isImage, LOOKED_AT } from "../../log/image.ts";

export interface FileInfo {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  /** Permission bits; undefined where the system has none. */
  readonly mode?: number;
}

/** Synchronous, because a round trip to another thread takes longer than a lookup, and each call needs many. */
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

interface ImageFile {
  readonly bytes: Uint8Array;
  /** Bytes of the file. */
  readonly size: number;
}

/** The file's bytes, or its first `most`; undefined if it is not an image, after reading little of it. */
export function readImage(path: string, most: number): ImageFile | undefined {
  using file = openByRealPath(path);
  const start = file.take(LOOKED_AT);
  if (!isImage(start)) return undefined;
  const { size } = file;
  const rest = file.take(Math.max(0, Math.min(size, most) - start.length));
  const bytes = new Uint8Array(start.length + rest.length);
  bytes.set(start);
  bytes.set(rest, start.length);
  return { bytes, size };
}

/** @param path real */
export function readWhole(path: string): Uint8Array {
  using file = openByRealPath(path);
  return file.take(file.size);
}

/**
 * Whether the file has these bytes. Undefined: whether it is missing. Synchronous, so that it holds for the next
 * operation.
 */
export function isStill(path: string, bytes: Uint8Array | undefined): boolean {
  try {
    using file = openByRealPath(path);
    if (file.size !== bytes?.length) return false;
    const now = file.take(file.size);
    return now.length === bytes.length && now.every((byte, at) => byte === bytes[at]);
  } catch (error) {
    return bytes === undefined && error instanceof Deno.errors.NotFound && isInRealFolder(path);
  }
}

/** False if a folder of the path has become a link. Missing folders are not links. */
function isInRealFolder(path: string): boolean {
  const folder = dirname(path);
  const real = found(() => Deno.realPathSync(folder));
  return real === undefined ? folder === path || isInRealFolder(folder) : real === folder;
}

/** Distinguishes states of a file. */
export function stampOf(path: string): string | undefined {
  try {
    const { dev, ino, size, mtime } = Deno.lstatSync(path);
    return [dev, ino, size, mtime?.getTime()].join(" ");
  } catch {
    return undefined;
  }
}
