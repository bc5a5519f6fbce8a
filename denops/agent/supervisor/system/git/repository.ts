/** Finds the git repository of a folder without git, and without reading its settings. */
import { lstatSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isInside } from "../../../policy/path.ts";
import { settingsIn } from "./git_settings.ts";
import { neovimEnvironment } from "../neovim_environment.ts";
import { ifThere, oneFile } from "../one_file.ts";

export interface Repository {
  /** The folder that contains `.git`. */
  readonly top: string;
  /** The folder with HEAD and the index. */
  readonly own: string;
  /** The folder with branches and objects; different only in a linked worktree. */
  readonly common: string;
  readonly kind: "main" | "worktree" | "submodule";
}

type FoundRepository =
  | { readonly type: "repository"; readonly repository: Repository }
  /** `why`: half a sentence. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "none" };

const LONGEST_LINE = 4_096;
/** Entries of a git folder that can be links to another place. */
const ENTRIES = ["HEAD", "config", "config.worktree", "index", "objects", "refs", "packed-refs", "reftable"]
  .concat("logs", "info", "shallow", "commondir", "gitdir");

/**
 * The nearest repository at or above a folder. A `.git` file counts only if the repository that it names
 * points back: a linked worktree, or a submodule.
 * @param folder real path
 * @see gitrepository-layout(5)
 */
export async function findRepository(folder: string, roots: readonly string[]): Promise<FoundRepository> {
  const ceilings = (neovimEnvironment().GIT_CEILING_DIRECTORIES ?? "").split(":");
  for (let top = folder;; top = dirname(top)) {
    const info = await Deno.lstat(join(top, ".git")).catch(() => undefined);
    if (info !== undefined) {
      return await read(top, info, roots).catch((error) => ({ type: "refused", why: error.message }));
    }
    const parent = dirname(top);
    if (parent === top || ceilings.includes(parent)) return { type: "none" };
  }
}

async function read(top: string, info: Deno.FileInfo, roots: readonly string[]): Promise<FoundRepository> {
  const git = join(top, ".git");
  const repository = info.isDirectory
    ? await mainOf(top, git, roots)
    : info.isFile
    ? await linkedOf(top, git, roots)
    : undefined;
  if (repository === undefined) {
    return { type: "refused", why: `${git} leads to a repository elsewhere, or is none` };
  }
  const link = await linkOut(repository);
  if (link !== undefined) return { type: "refused", why: `${link} is a link to a place elsewhere` };
  return { type: "repository", repository };
}

/** The first entry whose content is outside of the repository's folders. */
async function linkOut({ own, common }: Repository): Promise<string | undefined> {
  const folders = [...new Set([own, common])];
  for (const path of folders.flatMap((folder) => ENTRIES.map((name) => join(folder, name)))) {
    const real = await realPath(path);
    if (real !== undefined && !folders.some((folder) => isInside(real, folder))) return path;
  }
  return undefined;
}

async function mainOf(
  top: string,
  git: string,
  roots: readonly string[],
): Promise<Repository | undefined> {
  for (const name of ["HEAD", "objects", "refs"]) {
    if (!await exists(join(git, name))) return undefined;
  }
  const isShared = await exists(join(git, "commondir"));
  const worktree = await worktreeOf(git, roots);
  const isIts = worktree === undefined || worktree === top;
  return isIts && !isShared ? { top, own: git, common: git, kind: "main" } : undefined;
}

/**
 * Changes when a file that defines the repository or its location changes.
 * @param folder where the search started
 */
export function repositoryStamp(folder: string, { top, own, common }: Repository): string {
  const folders = [...new Set([own, common])];
  const paths = folders.flatMap((path) => ENTRIES.map((name) => join(path, name)));
  const above: string[] = [];
  for (let path = folder; isInside(path, top); path = dirname(path)) above.push(join(path, ".git"));
  return [top, ...above, ...folders, join(common, "objects", "info", "alternates"), ...paths]
    .map((path) => {
      const info = ifThere(() => lstatSync(path));
      if (info === undefined) return "";
      // For folders only their identity: each commit changes their content.
      const content = info.isFile() ? `${info.size} ${info.mtimeMs} ${info.ctimeMs}` : "";
      return `${info.dev} ${info.ino} ${info.mode} ${info.uid} ${content}`;
    }).join("\n");
}

/** The work tree that the settings name. */
async function worktreeOf(own: string, roots: readonly string[]): Promise<string | undefined> {
  const settings = await settingsIn([join(own, "config")], roots);
  const worktree = settings.findLast(({ key }) => key === "core.worktree")?.value;
  return worktree === undefined ? undefined : await realPath(resolve(own, worktree)) ?? worktree;
}

async function linkedOf(
  top: string,
  git: string,
  roots: readonly string[],
): Promise<Repository | undefined> {
  const [, name] = /^gitdir: (.+)\n?$/.exec(await textOf(git)) ?? [];
  const own = name === undefined ? undefined : await realPath(resolve(top, name));
  if (own === undefined) return undefined;
  const line = async (file: string) => resolve(own, (await textOf(join(own, file))).trimEnd());
  const common = await realPath(await line("commondir"));
  const back = await realPath(await line("gitdir"));
  const isWorktree = common !== undefined && dirname(dirname(own)) === common &&
    basename(dirname(own)) === "worktrees" && back === git;
  if (isWorktree) return { top, own, common, kind: "worktree" };
  return await worktreeOf(own, roots) === top ? { top, own, common: own, kind: "submodule" } : undefined;
}

async function realPath(path: string): Promise<string | undefined> {
  return await Deno.realPath(path).catch(() => undefined);
}

async function textOf(path: string): Promise<string> {
  return await oneFile(path, LONGEST_LINE).then(({ text }) => text, () => "");
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
