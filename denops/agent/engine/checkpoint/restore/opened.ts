/** What is closed to its owner by its mode alone is opened for a moment. */
import { dirname } from "node:path";

/**
 * Does what the modes of files and folders forbid that are the user's own: they are opened for it, and closed again.
 * @param path its folders are opened to be looked into and written to
 * @param reads the file itself, or the names in the folder, are to be read
 * @param roots real paths of folders that are open; above them nothing is touched
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
      // What was removed needs no mode.
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
