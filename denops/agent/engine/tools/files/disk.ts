/** The file system as tools use it: every path was resolved before. Deno's own, wrapped thinly. */
import type { PathLookups } from "../../../policy/path.ts";

export interface FileInfo {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  /** Permission bits; undefined where the system has none. */
  readonly mode?: number;
}

export const lookups: PathLookups = {
  async realPath(path) {
    try {
      return await Deno.realPath(path);
    } catch {
      return undefined;
    }
  },
  async kind(path) {
    try {
      const info = await Deno.lstat(path);
      if (info.isSymlink) return "symlink";
      if (info.isDirectory) return "directory";
      return info.isFile ? "file" : "other";
    } catch {
      return undefined;
    }
  },
};

/** Undefined if nothing is there. */
export async function fileInfo(path: string): Promise<FileInfo | undefined> {
  try {
    const info = await Deno.stat(path);
    const kind = info.isFile ? "file" : info.isDirectory ? "directory" : "other";
    return { kind, size: info.size, ...(info.mode === null ? {} : { mode: info.mode & 0o7777 }) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
