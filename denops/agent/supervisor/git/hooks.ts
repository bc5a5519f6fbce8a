/** Where git's hooks are if the configuration moves them into the project: what is in there asks before it is written. */
import { basename, relative, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { SafeToWrite } from "../../protocol/config.ts";
import { run, type RunPlace } from "../system/run.ts";
import { userGit } from "../system/user_git.ts";

const REASON = "git runs it by itself (core.hooksPath)";

/** Entries of `safe_to_write`, none for a root whose hooks are in `.git`. */
export async function hookFolders(
  roots: readonly string[],
  sandboxed: boolean,
): Promise<readonly SafeToWrite[]> {
  const found = await Promise.all(roots.map(async (root, index) => {
    const named = await hooksPath({ root, roots, sandboxed });
    const folder = named === undefined ? root : resolve(root, named);
    if (folder === root || !isInside(folder, root)) return [];
    const inside = relative(root, folder).replaceAll("\\", "/").replace(/[*?[\]{}()!\\]/g, "\\$&");
    const glob = `${index === 0 ? "" : `${basename(root)}/`}${inside}/**`;
    return [{ glob, safe: false, reason: REASON }];
  }));
  return found.flat();
}

/** As git reads it; undefined if no configuration names one, or there is no git. */
async function hooksPath(place: RunPlace): Promise<string | undefined> {
  const lines: string[] = [];
  const { signal } = new AbortController();
  try {
    for (const scope of ["--worktree", "--local"]) {
      const args = ["config", scope, "--includes", "--type=path", "--get", "core.hooksPath"];
      await run("git", args, { ...place, direct: true }, signal, (line) => lines.push(line) > 0);
    }
  } catch {
    return undefined;
  }
  return lines[0] ?? (await userGit(place.roots)).hooksPath;
}
