/** Temporarily opens files and folders whose modes exclude their owner. */
import { dirname } from "node:path";

/**
 * Runs an operation that the modes of the user's own files and folders forbid; they are opened and closed again.
 * @param path its folders are opened for reading and writing @param reads whether the file or the folder's names are
 * read @param roots real paths; nothing above them changes
 */
export async function opened<Result>(
  path: string,
  reads: boolean,
  roots: readonly string[],
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
  const closed: { readonly path: string; readonly mode: number }[] = [];
  try {
    for (const at of [...foldersOf(path, roots), ...(reads ? [path] : [])]) {
      const { mode, isDirectory, isSymlink } = await Deno.lstat(at).catch(() => NOTHING);
      const needed = isDirectory ? 0o700 : 0o400;
      if (isSymlink) break;
      if (mode === null || (mode & needed) === needed) continue;
      await Deno.chmod(at, (mode & 0o7777) | needed);
      closed.push({ path: at, mode: mode & 0o7777 });
    }
    return await act();
  } finally {
    for (const { path, mode } of closed.reverse()) {
      // A removed file needs no mode.
      await Deno.chmod(path, mode).catch(() => {});
    }
  }
}

const NOTHING = { mode: null, isDirectory: false, isSymlink: false };

/** From the root down. */
function foldersOf(path: string, roots: readonly string[]): readonly string[] {
  const folders: string[] = [];
  for (let at = dirname(path); !roots.includes(at) && at !== dirname(at); at = dirname(at)) {
    folders.unshift(at);
  }
  return folders;
}
