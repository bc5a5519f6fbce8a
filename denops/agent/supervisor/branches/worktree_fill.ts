/** Writes the files of a new worktree without running a program of the repository. */
import { join } from "node:path";
import { visible } from "../screen/visible.ts";
import { oneFile } from "../system/one_file.ts";
import type { Writes } from "../system/run.ts";
import type { Git } from "./repository.ts";

/** Time limit, for a large repository. */
export const LONGEST_CHECKOUT_MS = 600_000;

const SUBMODULE = "160000";
const LARGEST_ATTRIBUTES = 1_000_000;

interface FilledWorktree {
  /** Names of filters in the attributes. */
  readonly filters: readonly string[];
  /** Paths. */
  readonly submodules: readonly string[];
}

/**
 * Git converts line endings and encodings itself; filters are unknown to it here.
 * @param git in the worktree, which has no files yet
 */
export async function fillWorktree(
  git: Git,
  common: string,
  writes: Writes,
): Promise<FilledWorktree | { readonly complaint: string }> {
  const options = { writes, longest: LONGEST_CHECKOUT_MS };
  for (const args of [["read-tree", "HEAD"], ["checkout-index", "--all", "--force", "--index", "--quiet"]]) {
    const { code, complaint } = await git.run(args, options);
    if (code !== 0) return { complaint };
  }
  const listed = await git.run(["ls-files", "-z", "--stage"], { longest: LONGEST_CHECKOUT_MS });
  const submodules = listed.text.split("\0").flatMap((entry) => {
    const [, path] = new RegExp(`^${SUBMODULE} [^\\t]*\\t(.*)$`, "s").exec(entry) ?? [];
    return path === undefined ? [] : [visible(path)];
  });
  return { filters: await filtersOf(git, common), submodules };
}

/** @param common the repository's folder, which may contain attributes too */
async function filtersOf(git: Git, common: string): Promise<readonly string[]> {
  const listed = await git.run(["ls-files", "-z", "--", ":(glob)**/.gitattributes"]);
  const tracked = listed.text.split("\0").filter((name) => name !== "").map((name) => join(git.root, name));
  const names = new Set<string>();
  for (const path of [...tracked, join(common, "info", "attributes")]) {
    const { text } = await oneFile(path, LARGEST_ATTRIBUTES).catch(() => ({ text: "" }));
    for (const [, name = ""] of text.matchAll(/\sfilter=(\S+)/g)) {
      names.add(visible(name));
    }
  }
  return [...names];
}
