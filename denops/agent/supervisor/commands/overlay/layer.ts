/** Reads the entries of an overlay's layer. Follows no links. */

export type Kind = "file" | "folder" | "link" | "other";

/** Bytes: Linux's PATH_MAX minus the prefix. */
const LONGEST_PATH = 3_000;

/** Why a path cannot be kept. */
export function unfitness(path: string): string | undefined {
  if (isForeign(path)) return "its name is not UTF-8";
  return new TextEncoder().encode(path).length > LONGEST_PATH ? "its path is too long" : undefined;
}

/** Invalid UTF-8 is replaced by this character: such a path names nothing, or another file. */
export function isForeign(path: string): boolean {
  return path.includes("\ufffd");
}

export function modeOf(info: Deno.FileInfo): number {
  return (info.mode ?? 0) & 0o7777;
}

/** In a deterministic order. */
export function namesIn(folder: string): readonly string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
}

/** Undefined if the user cannot read the folder. */
export function entered(folder: string): readonly string[] | undefined {
  return readable(() => {
    Deno.lstatSync(`${folder}/.`);
    return namesIn(folder);
  });
}

export function infoAt(path: string): Deno.FileInfo | undefined {
  return readable(() => Deno.lstatSync(path));
}

export function kindOf(info: Deno.FileInfo | undefined): Kind | undefined {
  if (info === undefined) return undefined;
  if (info.isSymlink) return "link";
  return info.isFile ? "file" : info.isDirectory ? "folder" : "other";
}

/** A command may have removed its owner's permissions. */
export function openFolder(path: string): void {
  const mode = modeOf(Deno.lstatSync(path));
  if ((mode & 0o500) !== 0o500) Deno.chmodSync(path, mode | 0o500);
}

/** Undefined for files that are missing or unreadable. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    if (error instanceof Deno.errors.PermissionDenied) return undefined;
    if (error instanceof Error && "code" in error && GONE.has(String(error.code))) return undefined;
    throw error;
  }
}

const GONE = new Set(["ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENXIO", "EAGAIN", "EISDIR"]);
