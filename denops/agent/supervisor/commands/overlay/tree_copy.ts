/** A copy of a root that a program writes to, and what it has changed there. Follows no links. */
import { dirname, join } from "node:path";
import { entered, infoAt, isForeign, kindOf, modeOf, namesIn, openFolder, readable } from "./layer.ts";
import { removeTree } from "./run_folder.ts";

/** Stamps change with the entry. */
interface CopiedEntry {
  /** Of the original; empty if it may have changed since. */
  readonly original: string;
  readonly copy: string;
}

/** Real paths that are empty in the copy. */
export type Covered = ReadonlyMap<string, "folder" | "file">;

/** Deno tells in whole seconds when a file was changed last. */
const CHANGE_STEP_MS = 1_000;
const OWNER_ONLY = 0o700;
/** Smaller files are copied at once. */
const SMALL_BYTES = 1024 ** 2;
/** Yields to other work after this time. */
const SLICE_MS = 8;

export class TreeCopy {
  readonly #root: string;
  readonly #copy: string;
  /** By path in the root; folders too. */
  readonly #entries = new Map<string, CopiedEntry>();
  #covered = new Set<string>();
  #since = performance.now();

  /** @param root a real path @param copy a folder that this makes */
  constructor(root: string, copy: string) {
    this.#root = root;
    this.#copy = copy;
  }

  /** Whether the copy had it when it was last renewed. */
  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /**
   * Makes the copy like the root. Unreadable files are left out.
   * @param since milliseconds since 1970: now @param count is called for each file and may throw
   */
  async renew(covered: Covered, since: number, count: (bytes: number) => void): Promise<void> {
    const kept = new Set<string>();
    this.#covered = new Set();
    // Modes are set when the folders are complete.
    const modes: (readonly [path: string, mode: number])[] = [];
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const info = infoAt(join(this.#root, folder));
      const names = info?.isDirectory ? entered(join(this.#root, folder)) : undefined;
      if (info === undefined || names === undefined) continue;
      makeFolder(join(this.#copy, folder));
      kept.add(folder);
      modes.push([folder, modeOf(info)]);
      for (const name of names) {
        const path = join(folder, name);
        await this.#breathe();
        const cover = covered.get(join(this.#root, path));
        if (cover === undefined) {
          const kind = await this.#renewEntry(path, since, count);
          if (kind === "folder") folders.push(path);
          else if (kind !== undefined) kept.add(path);
        } else {
          await makeEmpty(join(this.#copy, path), cover);
          this.#covered.add(path);
        }
      }
    }
    await this.#removeOthers(kept);
    for (const [folder, mode] of modes.toReversed()) {
      Deno.chmodSync(join(this.#copy, folder), mode);
      this.#entries.set(folder, { original: "", copy: stampAt(join(this.#copy, folder)) });
    }
  }

  /** Undefined: it is not in the copy. A folder is only named. */
  async #renewEntry(path: string, since: number, count: (bytes: number) => void) {
    const [from, to] = [join(this.#root, path), join(this.#copy, path)];
    const info = isForeign(path) ? undefined : infoAt(from);
    const kind = kindOf(info);
    if (kind === "folder") return kind;
    if (info === undefined || kind === "other") return undefined;
    count(info.size);
    const original = stampOf(info);
    const last = this.#entries.get(path);
    if (last?.original === original && last.copy === stampAt(to)) return kind;
    if (stampAt(to) !== "") await removeTree(to);
    if (!await copied(from, to, info)) return undefined;
    const isSettled = stampAt(from) === original && (info.ctime?.getTime() ?? since) < since - CHANGE_STEP_MS;
    this.#entries.set(path, { original: isSettled ? original : "", copy: stampAt(to) });
    return kind;
  }

  async #removeOthers(kept: ReadonlySet<string>): Promise<void> {
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      openFolder(join(this.#copy, folder));
      for (const name of namesIn(join(this.#copy, folder))) {
        const path = join(folder, name);
        await this.#breathe();
        if (this.#covered.has(path)) continue;
        if (!kept.has(path)) await removeTree(join(this.#copy, path));
        else if (infoAt(join(this.#copy, path))?.isDirectory) folders.push(path);
      }
    }
    for (const path of this.#entries.keys()) if (!kept.has(path)) this.#entries.delete(path);
  }

  /**
   * Copies what the program has changed, with the folders around it.
   * @param upper a folder that this makes
   */
  async copyChanges(upper: string, signal: AbortSignal): Promise<void> {
    const modes = new Map<string, number>();
    const found = new Set<string>();
    const changed: string[] = [];
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      found.add(folder);
      const stamp = stampAt(join(this.#copy, folder));
      modes.set(folder, modeOf(Deno.lstatSync(join(this.#copy, folder))));
      if (this.#entries.get(folder)?.copy !== stamp) changed.push(folder);
      openFolder(join(this.#copy, folder));
      for (const name of namesIn(join(this.#copy, folder))) {
        const path = join(folder, name);
        await this.#breathe();
        signal.throwIfAborted();
        if (this.#covered.has(path)) continue;
        if (infoAt(join(this.#copy, path))?.isDirectory) folders.push(path);
        else {
          found.add(path);
          if (this.#entries.get(path)?.copy !== stampAt(join(this.#copy, path))) changed.push(path);
        }
      }
    }
    // A list finds what is missing in a folder that is there.
    const deleted = [...this.#entries.keys()].filter((path) => !found.has(path));
    const around = new Set(
      ["", ...changed, ...deleted].flatMap(selfAndParents).filter((path) => modes.has(path)),
    );
    const inOrder = [...around].sort((a, b) => a.length - b.length);
    for (const folder of inOrder) makeFolder(join(upper, folder));
    for (const path of changed) {
      await this.#breathe();
      signal.throwIfAborted();
      if (!modes.has(path)) await copyOut(join(this.#copy, path), join(upper, path));
    }
    for (const folder of inOrder.toReversed()) {
      Deno.chmodSync(join(upper, folder), modes.get(folder) ?? OWNER_ONLY);
    }
  }

  async #breathe(): Promise<void> {
    if (performance.now() - this.#since <= SLICE_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}

function selfAndParents(path: string): readonly string[] {
  const all = [path];
  for (let folder = path; folder !== ""; all.push(folder)) folder = dirname(`/${folder}`).slice(1);
  return all;
}

/** Empty if there is nothing. */
function stampAt(path: string): string {
  const info = infoAt(path);
  return info === undefined ? "" : stampOf(info);
}

function stampOf(info: Deno.FileInfo): string {
  const { ino, size, mtime, ctime } = info;
  const own = info.isDirectory ? [] : [ino, size, mtime?.getTime(), ctime?.getTime()];
  return [kindOf(info), modeOf(info), ...own].join(" ");
}

/** Open for its owner. */
function makeFolder(path: string): void {
  const info = infoAt(path);
  if (info !== undefined && !info.isDirectory) Deno.removeSync(path);
  Deno.mkdirSync(path, { recursive: true });
  Deno.chmodSync(path, OWNER_ONLY);
}

/** An empty one stays, because the program's sandbox may cover it. */
async function makeEmpty(path: string, kind: "folder" | "file"): Promise<void> {
  const info = infoAt(path);
  const isEmpty = kind === "folder"
    ? info?.isDirectory && entered(path)?.length === 0
    : info?.isFile && info.size === 0;
  if (isEmpty) return;
  if (info !== undefined) await removeTree(path);
  if (kind === "folder") await Deno.mkdir(path);
  else await Deno.writeTextFile(path, "");
}

/** Copies a file or link to a new one. @returns false if it cannot be read */
async function copied(from: string, to: string, info: Deno.FileInfo): Promise<boolean> {
  if (info.isSymlink) {
    const target = readable(() => Deno.readLinkSync(from));
    if (target === undefined || isForeign(target)) return false;
    await Deno.symlink(target, to);
    return true;
  }
  if (!await copyContent(from, to, info)) return false;
  // Build tools compare times.
  if (info.mtime !== null) Deno.utimeSync(to, info.mtime, info.mtime);
  Deno.chmodSync(to, modeOf(info));
  return true;
}

async function copyContent(from: string, to: string, { size }: Deno.FileInfo): Promise<boolean> {
  try {
    if (size <= SMALL_BYTES) Deno.copyFileSync(from, to);
    else await Deno.copyFile(from, to);
    return true;
  } catch (error) {
    readable(() => {
      throw error;
    });
    return false;
  }
}

/** Copies an entry of a program's copy out of its reach. A list refuses what is no file and no link. */
async function copyOut(from: string, to: string): Promise<void> {
  const info = infoAt(from);
  // Its name is not UTF-8.
  if (info === undefined) await Deno.writeTextFile(to, "");
  else if (info.isSymlink) await Deno.symlink(await Deno.readLink(from), to);
  else if (info.isFile) {
    Deno.chmodSync(from, modeOf(info) | 0o400);
    await copyContent(from, to, info);
    for (const path of [from, to]) Deno.chmodSync(path, modeOf(info));
  } else await Deno.link(from, to);
}
