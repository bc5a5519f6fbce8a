/** Finds the names (hard links) of a file. */
import { join } from "node:path";

/** Folders and files in a search, at most. */
const MOST_LOOKED_AT = 50_000;

/** @param path a real one @returns the file's names in these folders, and whether it has no others */
export async function namesIn(
  path: string,
  folders: readonly string[],
): Promise<{ readonly names: readonly string[]; readonly isAll: boolean }> {
  const { dev, ino, nlink, isFile } = Deno.lstatSync(path);
  if (!isFile || nlink === null || nlink === 1) return { names: [path], isAll: true };
  // One folder may be within another one.
  const names = new Set<string>();
  let left = MOST_LOOKED_AT;
  const waiting = [...folders];
  while (waiting.length > 0 && names.size < nlink && left > 0) {
    const folder = waiting.pop() ?? "";
    try {
      for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
        left -= 1;
        const at = join(folder, name);
        if (isDirectory && name !== ".git") waiting.push(at);
        const info = isFile ? await Deno.lstat(at) : undefined;
        if (info?.ino === ino && info.dev === dev) names.add(at);
      }
    } catch {
      // An unreadable folder has no names that count.
    }
  }
  return { names: [...names], isAll: names.size === nlink };
}
