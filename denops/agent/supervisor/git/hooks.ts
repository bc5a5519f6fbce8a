/** Finds git's hook folders if the configuration moves them into the project: writes there need approval. */
import { basename, dirname, join, relative, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { SafeToWrite } from "../../protocol/config.ts";
import { type Setting, settingsIn } from "../system/git/git_settings.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { userGit } from "../system/git/user_git.ts";
import { statOf, textOf } from "./folder_tree.ts";
import { namedBy } from "./folders.ts";

const REASON = "git runs it automatically (core.hooksPath)";
/** Bytes of a file that names a folder. */
const LONGEST_LINE = 4_096;
/** Limit for the settings files of a root. */
const MOST_FILES = 100;

/** Entries of `safe_to_write`; none for a root whose hooks are in `.git`. */
export async function hookFolders(roots: readonly string[]): Promise<readonly SafeToWrite[]> {
  const { hooksPath } = await userGit(roots);
  const found = await Promise.all(roots.map(async (root, index) => {
    const { top, settings } = await repositorySettings(root, roots);
    const own = settings.filter(({ key }) => key === "core.hookspath").map(({ value }) => value);
    const paths = own.length === 0 && hooksPath !== undefined ? [hooksPath] : own;
    const folders = paths.map((path) => resolve(top, inHome(path)));
    return folders.filter((folder) => folder !== root && isInside(folder, root)).map((folder) => {
      const inside = relative(root, folder).replaceAll("\\", "/").replace(/[*?[\]{}()!\\]/g, "\\$&");
      return { glob: `${index === 0 ? "" : `${basename(root)}/`}${inside}/**`, safe: false, reason: REASON };
    });
  }));
  return found.flat();
}

interface RepositorySettings {
  /** The folder with `.git` in it; without a repository the given one. */
  readonly top: string;
  readonly settings: readonly Setting[];
}

/**
 * All settings that git may obey here, even in a repository that is not used for look-ups. Git itself is not
 * run: it would wait forever for a pipe in place of a file.
 */
async function repositorySettings(root: string, roots: readonly string[]): Promise<RepositorySettings> {
  for (let top = root;; top = dirname(top)) {
    const git = join(top, ".git");
    const info = statOf(git);
    if (info !== undefined) {
      const own = info.isFile ? namedBy(git, textOf(git, LONGEST_LINE)) ?? git : git;
      const shared = textOf(join(own, "commondir"), LONGEST_LINE)?.trim();
      const folders = new Set([own, ...(shared === undefined ? [] : [resolve(own, shared)])]);
      const files = [...folders].flatMap((at) => [join(at, "config"), join(at, "config.worktree")]);
      return { top, settings: await withIncludes(files, roots) };
    }
    if (dirname(top) === top) return { top: root, settings: [] };
  }
}

/** Follows includes regardless of their conditions. An unreadable file counts as empty. */
async function withIncludes(files: readonly string[], roots: readonly string[]): Promise<readonly Setting[]> {
  const all: Setting[] = [];
  const queue = new Set(files);
  for (const file of queue) {
    const settings = await settingsIn([file], roots).catch(() => []);
    all.push(...settings);
    for (const { key, value } of settings) {
      const isInclude = /^include(if\..*)?\.path$/s.test(key) && queue.size < MOST_FILES;
      if (isInclude) queue.add(resolve(dirname(file), inHome(value)));
    }
  }
  return all;
}

function inHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, () => neovimEnvironment().HOME ?? "~");
}
