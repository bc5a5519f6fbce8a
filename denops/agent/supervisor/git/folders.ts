/** Lists the git repositories in a folder, with the files of each that could make git run programs. */
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import { bytesOf, entriesOf, FolderTree, statOf, textOf } from "./folder_tree.ts";

/** Files of a repository that git obeys; hooks are listed too. */
export const OBEYED = ["config", "config.worktree", "commondir"] as const;

/** Larger files are not a configuration. */
const LARGEST = 1_000_000;

export interface ObeyedFile {
  /** Changes whenever the file does. */
  readonly print: string;
  /** Undefined if it is not a file, or too large for git to obey. */
  readonly text?: string | undefined;
}

export interface GitFolder {
  /** The inode of the folder, which stays when the folder is moved. */
  readonly number: string;
  /** By name: {@link OBEYED}, and "hooks/NAME". A `hooks` that is not a folder is an entry itself. */
  readonly files: Readonly<Record<string, ObeyedFile>>;
}

/** The git files of a project. All paths are absolute. */
export interface GitFinds {
  readonly repositories: Readonly<Record<string, GitFolder>>;
  /** Files and links with the name `.git`, and their targets. */
  readonly redirects: Readonly<Record<string, string>>;
}

/** @param own repositories of the project outside of its folder */
export async function gitFinds(root: string, own: readonly string[]): Promise<GitFinds> {
  const folders = new Set<string>();
  const redirects: Record<string, string> = {};
  const add = (folder: string) => {
    for (const one of [folder, ...gitFoldersBelow(folder)]) folders.add(one);
  };
  own.forEach(add);
  for (const { path, git, bare } of await FolderTree.of(root).look()) {
    if (bare) add(path);
    if (!git) continue;
    const at = join(path, ".git");
    const info = statOf(at);
    if (info?.isDirectory) add(at);
    else if (info !== undefined) {
      redirects[at] = info.isSymlink ? `-> ${linkOf(at)}` : textOf(at, LARGEST) ?? "";
      const target = namedBy(at, redirects[at]);
      if (target !== undefined && [root, ...own].some((place) => isInside(target, place))) add(target);
    }
  }
  const found = [...folders].flatMap((folder): [string, GitFolder][] => {
    const repository = repositoryAt(folder);
    return repository === undefined ? [] : [[folder, repository]];
  });
  return { repositories: Object.fromEntries(found), redirects };
}

/** The real path of the repository that a `.git` file names; undefined if it names none. */
export function namedBy(file: string, content: string | undefined): string | undefined {
  const [, path] = /^gitdir: (.*?)[\r\n]*$/s.exec(content ?? "") ?? [];
  if (path === undefined) return undefined;
  try {
    return Deno.realPathSync(resolve(dirname(file), path));
  } catch {
    return undefined;
  }
}

/** Repositories of submodules and folders of linked worktrees, which are inside of a repository. */
export function gitFoldersBelow(folder: string): readonly string[] {
  const found: string[] = [];
  for (const { name, isDirectory } of entriesOf(join(folder, "worktrees"))) {
    if (isDirectory) found.push(join(folder, "worktrees", name));
  }
  const modules = [join(folder, "modules")];
  for (const at of modules) {
    // A submodule's name may have slashes.
    for (const { name, isDirectory } of entriesOf(at)) {
      const path = join(at, name);
      if (!isDirectory) continue;
      if (statOf(join(path, "HEAD")) === undefined) modules.push(path);
      else found.push(path, ...gitFoldersBelow(path));
    }
  }
  return found;
}

function repositoryAt(folder: string): GitFolder | undefined {
  const info = statOf(folder);
  if (info === undefined || !info.isDirectory) return undefined;
  const files: Record<string, ObeyedFile> = {};
  for (const name of OBEYED) {
    const file = obeyed(join(folder, name), true);
    if (file !== undefined) files[name] = file;
  }
  const hooks = join(folder, "hooks");
  const isFolder = statOf(hooks)?.isDirectory === true;
  for (const { name } of isFolder ? entriesOf(hooks) : []) {
    const file = obeyed(join(hooks, name), false);
    if (file !== undefined && !name.endsWith(".sample")) files[`hooks/${name}`] = file;
  }
  const other = isFolder ? undefined : obeyed(hooks, false);
  if (other !== undefined) files.hooks = other;
  return { number: `${info.dev}:${info.ino}`, files };
}

function obeyed(path: string, read: boolean): ObeyedFile | undefined {
  const info = statOf(path);
  if (info === undefined) return undefined;
  if (info.isSymlink) return { print: `-> ${linkOf(path)}` };
  // Times can be set, or are too coarse, so the content counts.
  const bytes = info.isFile ? bytesOf(path, LARGEST) : undefined;
  const content = bytes === undefined
    ? `${info.ino} ${info.size} ${info.ctime?.getTime()} ${info.mtime?.getTime()}`
    : createHash("sha256").update(bytes).digest("hex");
  return {
    print: `${info.mode} ${content}`,
    ...(read && bytes !== undefined ? { text: new TextDecoder().decode(bytes) } : {}),
  };
}

function linkOf(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}
