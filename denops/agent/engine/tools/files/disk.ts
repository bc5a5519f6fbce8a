/** The file system as tools use it: every path was resolved before. Deno's own, wrapped thinly. */
import { basename, dirname, join } from "node:path";
import type { PathLookups } from "../../../policy/path.ts";
import type { WriteJournal } from "../../core/ports.ts";

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

/**
 * Writes all or nothing: a temporary file in the same folder, synced, then renamed over the target.
 * The mode of an existing file is kept; a hard link to it elsewhere keeps the old content.
 */
export async function writeAtomic(
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
  journal: WriteJournal,
): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${shortName(path)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
  journal.begin(temporary);
  try {
    {
      using file = await Deno.open(temporary, { write: true, createNew: true });
      // For as long as this process lives nobody takes it for a left-over.
      await file.lock(true);
      let written = 0;
      while (written < bytes.length) written += await file.write(bytes.subarray(written));
      if (mode !== undefined && Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
      await file.sync();
    }
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  } finally {
    journal.end(temporary);
  }
}

/** A name may have 255 bytes, and a character up to four of them. */
function shortName(path: string): string {
  return [...basename(path)].slice(0, 50).join("");
}
