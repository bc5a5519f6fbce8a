/**
 * Scans the folders of a project repeatedly. A folder with an unchanged change time has unchanged entries,
 * and no program can set that time, so only changed folders are listed again.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** A younger folder may change again without a new time, as in git's rule for racily clean entries. */
const UNSETTLED_MS = 2_000;

/** Yields to other work after this time. */
const SLICE_MS = 10;

/** Projects that are cached. */
const MOST_TREES = 8;

interface Folder {
  readonly path: string;
  /** An entry is named `.git`. */
  readonly git: boolean;
  /** It looks like a bare repository to git. Source: is_git_directory() of git's setup.c. */
  readonly bare: boolean;
}

interface Known extends Folder {
  /** Undefined if it may have changed since without a trace. */
  readonly stamp: string | undefined;
  readonly below: readonly string[];
}

const trees = new Map<string, FolderTree>();

export class FolderTree {
  readonly #root: string;
  #known = new Map<string, Known>();

  private constructor(root: string) {
    this.#root = root;
  }

  static of(root: string): FolderTree {
    const tree = trees.get(root) ?? new FolderTree(root);
    trees.delete(root);
    trees.set(root, tree);
    const [oldest] = trees.keys();
    if (trees.size > MOST_TREES && oldest !== undefined) trees.delete(oldest);
    return tree;
  }

  /** The folders with git entries. Skips the contents of `.git` folders and follows no links. */
  async look(): Promise<readonly Folder[]> {
    const seen = new Map<string, Known>();
    const open = [this.#root];
    const found: Folder[] = [];
    let since = performance.now();
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (performance.now() - since > SLICE_MS) {
        await new Promise((resolve) => setTimeout(resolve));
        since = performance.now();
      }
      const folder = this.#folder(path);
      if (folder === undefined) continue;
      seen.set(path, folder);
      if (folder.git || folder.bare) found.push(folder);
      for (const name of folder.below) open.push(join(path, name));
    }
    this.#known = seen;
    return found;
  }

  #folder(path: string): Known | undefined {
    const info = statOf(path);
    if (info === undefined || !info.isDirectory) return undefined;
    const changed = (info.ctime ?? info.mtime)?.getTime();
    const stamp = `${info.dev} ${info.ino} ${changed}`;
    const known = this.#known.get(path);
    if (known !== undefined && known.stamp === stamp) return known;
    const settled = changed !== undefined && Math.abs(Date.now() - changed) > UNSETTLED_MS;
    const names = new Set<string>();
    const below: string[] = [];
    for (const { name, isDirectory } of entriesOf(path)) {
      // On a file system that ignores case, ".GIT" is ".git".
      names.add(name.toLowerCase());
      if (isDirectory && name.toLowerCase() !== ".git") below.push(name);
    }
    const bare = names.has("head") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
    return { path, git: names.has(".git"), bare, stamp: settled ? stamp : undefined, below };
  }
}

export function entriesOf(folder: string): readonly Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch {
    return [];
  }
}

export function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Opening a pipe must not block. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Undefined if it is not a file, unreadable, or larger. */
export function bytesOf(path: string, largest: number): Uint8Array | undefined {
  let file: number;
  try {
    file = openSync(path, FLAGS);
  } catch {
    return undefined;
  }
  try {
    const info = fstatSync(file);
    const { size } = info;
    if (!info.isFile() || size > largest) return undefined;
    const bytes = new Uint8Array(size);
    let length = 0;
    for (let count = -1; count !== 0 && length < size; length += count) {
      count = readSync(file, bytes.subarray(length));
    }
    return bytes.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

export function textOf(path: string, largest: number): string | undefined {
  const bytes = bytesOf(path, largest);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}
