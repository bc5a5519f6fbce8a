/**
 * What commands may not see in the project: files of deny_read, copies of text that Neovim keeps beside them, sockets and
 * pipes that lead out. Closed on failure: where it cannot be told what there is, the answer says why.
 */
import { join, sep } from "node:path";
import { globMatcher } from "../../policy/glob.ts";

export type Masks =
  | { readonly complete: true; readonly folders: readonly string[]; readonly files: readonly string[] }
  /** `reason`: half a sentence. */
  | {
    readonly complete: false;
    readonly reason: string;
    readonly folders: readonly string[];
    readonly files: readonly string[];
  };

/** Entries of a project that are looked at, and things that are masked. */
const MOST_ENTRIES = 1_000_000;
const MOST_MASKS = 10_000;
/** A folder that has changed so shortly before it was read may change again within the same tick of its clock. */
const RACY_MS = 100;
/** Between two breaths, so that the screen is not kept waiting. */
const SLICE_MS = 8;

/** Names of folders that package managers and builds fill, and what must be there beside or in them for that. */
const DEPENDENCIES: Readonly<
  Record<string, { readonly beside?: readonly string[]; readonly inside?: string }>
> = {
  node_modules: {},
  bower_components: {},
  __pycache__: {},
  ".venv": { inside: "pyvenv.cfg" },
  venv: { inside: "pyvenv.cfg" },
  ".tox": {},
  ".nox": {},
  target: { beside: ["Cargo.toml", "pom.xml", "build.sbt"] },
  ".gradle": {},
  ".git": {},
};

/** Swap and undo files: the text of the file beside them, saved or not. */
const EDITOR_COPIES = /^\..*\.(sw[a-z]|un~)$/;

interface Folder {
  readonly mtime: number;
  readonly inode: number | null;
  readonly folders: readonly string[];
  readonly hiddenFolders: readonly string[];
  readonly files: readonly string[];
  readonly entries: number;
  /** What cannot be listed now may be after a command has changed its mode: it is hidden whole. */
  readonly unreadable: boolean;
  /** Milliseconds since 1970. */
  readonly read: number;
}

interface Linked {
  readonly key: string;
  readonly paths: readonly string[];
}

/** Looks at the folders of one workspace; what has not changed since is not read again. */
export class MaskFinder {
  #key = "";
  #known = new Map<string, Folder>();
  #linked: Linked = { key: "", paths: [] };
  #running: Promise<unknown> = Promise.resolve();

  /** @param roots real paths and what stands before the names of each @param globs relative to the project */
  find(roots: readonly MaskedRoot[], globs: readonly string[]): Promise<Masks> {
    const found = this.#running.then(() => this.#find(roots, globs));
    this.#running = found.catch(() => {});
    return found;
  }

  async #find(roots: readonly MaskedRoot[], globs: readonly string[]): Promise<Masks> {
    const key = JSON.stringify([roots, globs]);
    if (key !== this.#key) this.#known = new Map();
    this.#key = key;
    const isDenied = globMatcher(globs);
    const named = Object.keys(DEPENDENCIES).filter((name) => globs.some((glob) => glob.includes(name)));
    const next = new Map<string, Folder>();
    let entries = 0;
    let changed = false;
    let breath = performance.now();
    for (const { root, prefix } of roots) {
      const waiting = [root];
      for (const path of waiting) {
        const before = this.#known.get(path);
        const folder = look(
          path,
          before,
          (name) => isDenied(prefix + relativeTo(root, join(path, name))),
          named,
        );
        if (folder !== before) changed = true;
        next.set(path, folder);
        entries += folder.entries;
        if (entries > MOST_ENTRIES) {
          return {
            ...collect(next),
            complete: false,
            reason: "the project has too many files to look for secrets",
          };
        }
        for (const name of folder.folders) waiting.push(join(path, name));
        if (performance.now() - breath > SLICE_MS) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          breath = performance.now();
        }
      }
    }
    this.#known = next;
    const { folders, files } = collect(next);
    const linked = await this.#otherNames(files, changed);
    const all = [...new Set([...files, ...linked])];
    if (all.length + folders.length > MOST_MASKS) {
      return { complete: false, reason: "it has too many files that may not be read", folders, files: all };
    }
    return { complete: true, folders, files: all };
  }

  /** Other names of the same files. */
  async #otherNames(files: readonly string[], changed: boolean): Promise<readonly string[]> {
    const inodes = new Set<string>();
    const stamps: string[] = [];
    for (const path of files) {
      const info = statOf(path);
      if (info === undefined || !info.isFile || (info.nlink ?? 1) < 2) continue;
      inodes.add(`${info.dev}:${info.ino}`);
      stamps.push(`${info.dev}:${info.ino}:${info.ctime?.getTime()}`);
    }
    if (inodes.size === 0) return [];
    const key = stamps.join(" ");
    if (!changed && this.#linked.key === key) return this.#linked.paths;
    const paths: string[] = [];
    let breath = performance.now();
    for (const folder of this.#known.keys()) {
      for (const entry of entriesOf(folder) ?? []) {
        if (!entry.isFile) continue;
        const path = join(folder, entry.name);
        const info = statOf(path);
        if (info !== undefined && inodes.has(`${info.dev}:${info.ino}`)) paths.push(path);
        if (performance.now() - breath <= SLICE_MS) continue;
        await new Promise((resolve) => setTimeout(resolve, 0));
        breath = performance.now();
      }
    }
    this.#linked = { key, paths };
    return paths;
  }
}

export interface MaskedRoot {
  readonly root: string;
  /** Before the names of a root that is not the primary one: "lib/". */
  readonly prefix: string;
}

function relativeTo(root: string, path: string): string {
  return path.slice(root.length + 1).replaceAll(sep, "/");
}

function collect(known: ReadonlyMap<string, Folder>): { folders: string[]; files: string[] } {
  const folders: string[] = [];
  const files: string[] = [];
  for (const [path, folder] of known) {
    if (folder.unreadable) folders.push(path);
    for (const name of folder.hiddenFolders) folders.push(join(path, name));
    files.push(...folder.files);
  }
  return { folders, files };
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Undefined if there is a folder that cannot be listed. */
function entriesOf(path: string): readonly Deno.DirEntry[] | undefined {
  try {
    return [...Deno.readDirSync(path)];
  } catch (error) {
    // Of what is gone nothing is seen either.
    return error instanceof Deno.errors.NotFound ? [] : undefined;
  }
}

/** @returns `before` itself if nothing has changed */
function look(
  path: string,
  before: Folder | undefined,
  isDenied: (name: string) => boolean,
  named: readonly string[],
): Folder {
  const info = statOf(path);
  const mtime = info?.mtime?.getTime() ?? 0;
  const inode = info?.ino ?? null;
  const isSame = before !== undefined && !before.unreadable && before.mtime === mtime &&
    before.inode === inode;
  if (isSame && before.read - mtime > RACY_MS) return before;
  const read = Date.now();
  const folders: string[] = [];
  const hiddenFolders: string[] = [];
  const files: string[] = [];
  const listed = entriesOf(path);
  const entries = listed ?? [];
  const names = new Set(entries.map(({ name }) => name));
  for (const entry of entries) {
    const own = join(path, entry.name);
    if (entry.isDirectory) {
      if (isDenied(entry.name)) hiddenFolders.push(entry.name);
      else if (named.includes(entry.name) || !isDependency(entry.name, names, own)) folders.push(entry.name);
    } else if (entry.isFile) {
      if (isDenied(entry.name) || EDITOR_COPIES.test(entry.name)) files.push(own);
    } else if (!entry.isSymlink) files.push(own);
    else if (isDenied(entry.name)) {
      const real = realFile(own);
      if (real !== undefined) files.push(real);
    }
  }
  const unreadable = listed === undefined;
  return { mtime, inode, folders, hiddenFolders, files, entries: entries.length, unreadable, read };
}

function isDependency(name: string, besides: ReadonlySet<string>, path: string): boolean {
  const kind = Object.hasOwn(DEPENDENCIES, name) ? DEPENDENCIES[name] : undefined;
  if (kind === undefined) return false;
  if (kind.beside !== undefined) return kind.beside.some((other) => besides.has(other));
  return kind.inside === undefined || statOf(join(path, kind.inside)) !== undefined;
}

function realFile(path: string): string | undefined {
  try {
    const real = Deno.realPathSync(path);
    return Deno.statSync(real).isDirectory ? undefined : real;
  } catch {
    return undefined;
  }
}
