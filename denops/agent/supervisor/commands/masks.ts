/**
 * Finds what is hidden from commands in the project: files of deny_read, Neovim's copies of their text beside
 * them, and sockets and pipes to the outside. Fails closed: if the search is incomplete, the answer says why.
 */
import { basename, join, relative, sep } from "node:path";
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

/** Limit for the entries of a project that are checked. */
const MOST_ENTRIES = 1_000_000;
/**
 * Limit for masks: bubblewrap reads the list of all mounts again for each one, and needs seconds for 1,000.
 */
const MOST_MASKS = 1_000;
/** Limit for files in hidden folders whose hard links are searched. */
const MOST_HIDDEN = 50_000;
/** A folder with more hidden files than this, and nothing else, is hidden as a whole. */
const MOST_IN_FOLDER = 50;
/**
 * A folder that changed this shortly before it was read may change again within the same clock tick, which is
 * two seconds on the coarsest file systems.
 */
const RACY_MS = 2_500;
/** Yields to the screen after this time. */
const SLICE_MS = 8;

/**
 * Names of folders that package managers and builds fill, with the entries beside or inside of them that
 * prove it.
 */
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

/** Swap and undo files, which contain the text of the file beside them, saved or not. */
const EDITOR_COPIES = /^\..*\.(sw[a-z]|un~)$/;

interface Folder {
  /** The inode's change time: programs can set every other time back. */
  readonly changed: number;
  readonly inode: number | null;
  /** Paths, as in all following fields. */
  readonly folders: readonly string[];
  /** Folders that belong to a package manager if they contain a certain file. */
  readonly packages: readonly string[];
  readonly hiddenFolders: readonly string[];
  readonly files: readonly string[];
  /** The targets of links can change without the folder. */
  readonly links: readonly string[];
  readonly entries: number;
  /** An unreadable folder is hidden as a whole, because a command may make it readable. */
  readonly unreadable: boolean;
  /** Milliseconds since 1970. */
  readonly read: number;
}

interface Linked {
  readonly key: string;
  readonly paths: readonly string[];
}

/** Scans the folders of a workspace, and reads only changed ones again. */
export class MaskFinder {
  #key = "";
  /** One map per root: a root may be inside of another, and each has its own names. */
  #known: readonly ReadonlyMap<string, Folder>[] = [];
  #linked: Linked = { key: "", paths: [] };
  #running: Promise<unknown> = Promise.resolve();
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** @param roots real paths, and the prefix of the names in each @param globs relative to the project */
  find(roots: readonly MaskedRoot[], globs: readonly string[]): Promise<Masks> {
    const found = this.#running.then(() => this.#find(roots, globs));
    this.#running = found.catch(() => {});
    return found;
  }

  async #find(roots: readonly MaskedRoot[], globs: readonly string[]): Promise<Masks> {
    const key = JSON.stringify([roots, globs]);
    if (key !== this.#key) this.#known = [];
    this.#key = key;
    const walk = new Walk(globs, this.#now);
    const known: ReadonlyMap<string, Folder>[] = [];
    for (const [index, root] of roots.entries()) {
      known.push(await walk.through(root, this.#known[index] ?? new Map()));
    }
    const { folders, files } = collect(known.flatMap((one) => [...one]), roots);
    if (walk.tooMany) {
      const reason = "the project has too many files to look for secrets";
      return { complete: false, reason, ...atMost(folders, files) };
    }
    this.#known = known;
    const linked = await this.#otherNames(files, folders, walk.changed);
    if (linked === undefined) {
      const reason = "its hidden folders have too many files to check for hard links";
      return { complete: false, reason, ...atMost(folders, files) };
    }
    const all = [...new Set([...files, ...linked])];
    if (all.length + folders.length > MOST_MASKS) {
      const reason = "it has too many files that may not be read";
      return { complete: false, reason, ...atMost(folders, all) };
    }
    return { complete: true, folders, files: all };
  }

  /** Finds hard links to hidden files. @returns undefined if the hidden folders have too many files */
  async #otherNames(
    files: readonly string[],
    folders: readonly string[],
    changed: boolean,
  ): Promise<readonly string[] | undefined> {
    const inodes = new Set<string>();
    const stamps: string[] = [];
    const breath = new Breath();
    const inFolders = await filesBelow(folders, breath);
    if (inFolders === undefined) return undefined;
    for (const path of [...files, ...inFolders]) {
      await breath.take();
      const info = statOf(path);
      if (info === undefined || !info.isFile || (info.nlink ?? 1) < 2) continue;
      inodes.add(`${info.dev}:${info.ino}`);
      stamps.push(`${info.dev}:${info.ino}:${info.ctime?.getTime()}`);
    }
    if (inodes.size === 0) return [];
    const key = stamps.join(" ");
    if (!changed && this.#linked.key === key) return this.#linked.paths;
    const paths: string[] = [];
    for (const folder of this.#known.flatMap((one) => [...one.keys()])) {
      for (const entry of entriesOf(folder) ?? []) {
        if (!entry.isFile) continue;
        const path = join(folder, entry.name);
        const info = statOf(path);
        if (info !== undefined && inodes.has(`${info.dev}:${info.ino}`)) paths.push(path);
        await breath.take();
      }
    }
    this.#linked = { key, paths };
    return paths;
  }
}

interface MaskedRoot {
  readonly root: string;
  /** The prefix of names in a root that is not the primary one: "lib/". */
  readonly prefix: string;
}

class Breath {
  #last = performance.now();

  async take(): Promise<void> {
    if (performance.now() - this.#last <= SLICE_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#last = performance.now();
  }
}

/** Undefined if there are too many. */
async function filesBelow(
  folders: readonly string[],
  breath: Breath,
): Promise<readonly string[] | undefined> {
  const files: string[] = [];
  const waiting = [...folders];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const { name, isFile, isDirectory } of entriesOf(folder) ?? []) {
      if (isFile) files.push(join(folder, name));
      else if (isDirectory) waiting.push(join(folder, name));
    }
    if (files.length + waiting.length > MOST_HIDDEN) return undefined;
    await breath.take();
  }
  return files;
}

class Walk {
  tooMany = false;
  /** Something differs from the last scan. */
  changed = false;
  readonly #isDenied: (name: string) => boolean;
  /** Dependency folders that a rule names. */
  readonly #dependencyFolders: readonly string[];
  readonly #breath = new Breath();
  #entries = 0;

  readonly #now: () => number;

  constructor(globs: readonly string[], now: () => number) {
    this.#now = now;
    this.#isDenied = globMatcher(globs);
    this.#dependencyFolders = Object.keys(DEPENDENCIES).filter((name) =>
      globs.some((glob) => glob.includes(name))
    );
  }

  async through({ root, prefix }: MaskedRoot, past: ReadonlyMap<string, Folder>) {
    const found = new Map<string, Folder>();
    const waiting = [root];
    for (const path of waiting) {
      const folderName = relative(root, path).replaceAll(sep, "/");
      const before = prefix + (folderName === "" ? "" : `${folderName}/`);
      const isDenied = (name: string) => this.#isDenied(before + name);
      const known = past.get(path);
      const folder = look(path, known, isDenied, this.#dependencyFolders, this.#now());
      if (folder !== known) this.changed = true;
      found.set(path, folder);
      this.#entries += folder.entries;
      this.tooMany ||= this.#entries > MOST_ENTRIES;
      if (this.tooMany) break;
      for (const one of folder.folders) waiting.push(one);
      for (const one of folder.packages) if (!isFilled(one)) waiting.push(one);
      if (found.size % 50 === 0) await this.#breath.take();
    }
    return found;
  }
}

function collect(
  known: readonly (readonly [path: string, folder: Folder])[],
  roots: readonly MaskedRoot[],
): { folders: string[]; files: string[] } {
  const folders = new Set<string>();
  const files = new Set<string>();
  for (const [path, folder] of known) {
    if (folder.unreadable) folders.add(path);
    for (const one of folder.hiddenFolders) folders.add(one);
    const isFull = folder.files.length > MOST_IN_FOLDER && folder.files.length === folder.entries;
    if (isFull && roots.every(({ root }) => root !== path)) folders.add(path);
    else for (const file of folder.files) files.add(file);
    for (const link of folder.links) {
      const real = realPath(link);
      const info = real === undefined ? undefined : statOf(real);
      if (real === undefined || info === undefined) continue;
      if (!info.isDirectory) files.add(real);
      // A link to a root, or out of all roots, hides nothing.
      else if (roots.some(({ root }) => isBelow(real, root)) && !isBelow(link, real)) folders.add(real);
    }
  }
  return { folders: [...folders], files: [...files] };
}

/** Limits the masks, so that a command can start even then, if the user allows it. */
function atMost(folders: readonly string[], files: readonly string[]) {
  const fitting = folders.slice(0, MOST_MASKS);
  return { folders: fitting, files: files.slice(0, MOST_MASKS - fitting.length) };
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder + sep);
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Undefined if the folder cannot be listed. */
function entriesOf(path: string): readonly Deno.DirEntry[] | undefined {
  try {
    return [...Deno.readDirSync(path)];
  } catch (error) {
    // A missing folder has no entries.
    return error instanceof Deno.errors.NotFound ? [] : undefined;
  }
}

/** @returns `before` itself if nothing has changed */
function look(
  path: string,
  before: Folder | undefined,
  isDenied: (name: string) => boolean,
  dependencyFolders: readonly string[],
  read: number,
): Folder {
  const info = statOf(path);
  const changed = info?.ctime?.getTime() ?? 0;
  const inode = info?.ino ?? null;
  const isSame = before !== undefined && !before.unreadable && before.changed === changed &&
    before.inode === inode;
  if (isSame && before.read - changed > RACY_MS) return before;
  const folders: string[] = [];
  const packages: string[] = [];
  const hiddenFolders: string[] = [];
  const files: string[] = [];
  const links: string[] = [];
  const listed = entriesOf(path);
  const entries = listed ?? [];
  const names = new Set(entries.map(({ name }) => name));
  for (const entry of entries) {
    const isDeniedFile = entry.isFile && (isDenied(entry.name) || EDITOR_COPIES.test(entry.name));
    // Most entries need no path, and joining one takes as long as everything else.
    if (entry.isFile && !isDeniedFile) continue;
    const own = join(path, entry.name);
    if (isDeniedFile) files.push(own);
    else if (entry.isDirectory) {
      if (isDenied(entry.name)) hiddenFolders.push(own);
      else if (dependencyFolders.includes(entry.name)) folders.push(own);
      else if (kindOf(entry.name)?.inside !== undefined) packages.push(own);
      else if (!isBuilt(entry.name, names)) folders.push(own);
    } else if (!entry.isSymlink) files.push(own);
    else if (isDenied(entry.name)) links.push(own);
  }
  const unreadable = listed === undefined;
  return {
    changed,
    inode,
    folders,
    packages,
    hiddenFolders,
    files,
    links,
    entries: entries.length,
    unreadable,
    read,
  };
}

/** Decides by its name and its siblings, which only change with the parent folder. */
function isBuilt(name: string, besides: ReadonlySet<string>): boolean {
  const kind = kindOf(name);
  if (kind === undefined) return false;
  return kind.beside === undefined || kind.beside.some((other) => besides.has(other));
}

/** Decides by its contents, so it is checked each time. */
function isFilled(path: string): boolean {
  const inside = kindOf(basename(path))?.inside;
  return inside !== undefined && statOf(join(path, inside)) !== undefined;
}

function kindOf(name: string) {
  return Object.hasOwn(DEPENDENCIES, name) ? DEPENDENCIES[name] : undefined;
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}
