/** File system queries for the path function. */
import type { PathLookups } from "../../policy/path.ts";

export const lookups: PathLookups = {
  realPath: (path) => Deno.realPath(path).catch(() => undefined),
  async kind(path) {
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info === undefined) return undefined;
    if (info.isSymlink) return "symlink";
    if (info.isDirectory) return "directory";
    return info.isFile ? "file" : "other";
  },
};
