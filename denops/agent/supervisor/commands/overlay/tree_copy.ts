/**
 * A copy of a root that a program writes to, and its changes there. Follows no links, also if the program still writes:
 * the kernel can continue its processes after they were stopped.
 */
import { basename, dirname, join } from "node:path";
import { entered, infoAt, isForeign, kindOf, modeOf, namesIn, readable, unfitness } from "./layer.ts";
import { openBelow, OpenEntry } from "./open_entry.ts";
import { removeTree } from "./run_folder.ts";

/** Stamps change with the entry. */
interface CopiedEntry {
  /** Of the original; empty if it may have changed since. */
  readonly original: string;
  readonly copy: string;
}

/** Real paths that are empty in the copy. */
export type Covered = ReadonlyMap<string, "folder" | "file">;

/** Deno reports change times (ctime) in whole seconds. */
const CHANGE_STEP_MS = 1_000;
const OWNER_ONLY = 0o700;
/** Smaller files are copied at once. */
const SMALL_BYTES = 1024 ** 2;
/** Yields to other work after this time. */
const SLICE_MS = 8;

interface ChangesOptions {
  readonly modes: Map<string, number>;
  readonly count: (bytes: number) => void;
  readonly signal: AbortSignal;
}

export class TreeCopy {
  readonly #root: string;
  readonly #copy: string;
  /** By path in the root; folders too. */
  readonly #entries = new Map<string, CopiedEntry>();
  #covered = new Set<string>();
  /** Paths in the copy when its changes were last copied. */
  #found: ReadonlySet<string> = new Set();
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

  /** Whether the program had deleted it when the changes were last copied. */
  hasDeleted(path: string): boolean {
    return this.has(path) && !this.#found.has(path);
  }

  /**
   * Makes the copy like the root. Unreadable files are left out.
   * @param since the current time, in milliseconds since 1970 @param count is called for each entry and may throw
   * @throws {Error} one line: the copy must not be used any more
   */
  async renew(covered: Covered, since: number, count: (bytes: number) => void): Promise<void> {
    const kept = new Set<string>();
    this.#covered = new Set();
    // Modes are set when the folders are complete.
    const modes: (readonly [path: string, mode: number])[] = [];
    const folders = [""];
    await Deno.mkdir(this.#copy, { recursive: true });
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const info = infoAt(join(this.#root, folder));
      const names = info?.isDirectory ? entered(join(this.#root, folder)) : undefined;
      if (info === undefined || names === undefined) continue;
      using copy = this.#makeFolder(folder);
      kept.add(folder);
      modes.push([folder, modeOf(info)]);
      for (const name of names) {
        const path = join(folder, name);
        await this.#breathe();
        const cover = covered.get(join(this.#root, path));
        if (cover === undefined) {
          const kind = await this.#renewEntry(path, copy.at(name), since, count);
          if (kind === "folder") folders.push(path);
          else if (kind !== undefined) kept.add(path);
        } else {
          await makeEmpty(copy.at(name), cover);
          this.#covered.add(path);
        }
      }
    }
    await this.#removeOthers(kept);
    for (const [folder, mode] of modes.toReversed()) {
      await this.#breathe();
      using copy = openBelow(this.#copy, folder);
      copy.setMode(mode);
      this.#entries.set(folder, { original: "", copy: stampOf(Deno.statSync(copy.path)) });
    }
  }

  /** Makes a folder of the copy, open for its owner. Its parent exists. */
  #makeFolder(folder: string): OpenEntry {
    if (folder !== "") {
      using parent = openBelow(this.#copy, parentOf(folder));
      const path = parent.at(basename(folder));
      const info = infoAt(path);
      if (info !== undefined && !info.isDirectory) Deno.removeSync(path);
      if (!info?.isDirectory) Deno.mkdirSync(path);
    }
    const made = openBelow(this.#copy, folder);
    made.setMode(OWNER_ONLY);
    return made;
  }

  /** Copies no folders. @returns undefined if the entry is not in the copy */
  async #renewEntry(path: string, to: string, since: number, count: (bytes: number) => void) {
    const from = join(this.#root, path);
    const info = unfitness(path) === undefined ? infoAt(from) : undefined;
    const kind = kindOf(info);
    if (info === undefined || kind === "other") return undefined;
    count(info.isFile ? info.size : 0);
    if (kind === "folder") return kind;
    const original = stampOf(info);
    const last = this.#entries.get(path);
    if (last?.original === original && last.copy === stampAt(to)) return kind;
    if (stampAt(to) !== "") await removeTree(to);
    if (!await copied(from, to, { info, temporary: `${this.#copy}.new` })) return undefined;
    const isSettled = stampAt(from) === original && (info.ctime?.getTime() ?? since) < since - CHANGE_STEP_MS;
    this.#entries.set(path, { original: isSettled ? original : "", copy: stampAt(to) });
    return kind;
  }

  async #removeOthers(kept: ReadonlySet<string>): Promise<void> {
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      using copy = openBelow(this.#copy, folder);
      for (const name of namesIn(copy.path)) {
        const path = join(folder, name);
        await this.#breathe();
        if (isForeign(name)) throw new Error("the agent has made a file whose name is not UTF-8");
        if (this.#covered.has(path)) continue;
        if (!kept.has(path)) await removeTree(copy.at(name));
        else if (infoAt(copy.at(name))?.isDirectory) folders.push(path);
      }
    }
    for (const path of this.#entries.keys()) if (!kept.has(path)) this.#entries.delete(path);
  }

  /**
   * Copies the program's changes out of its reach, with the folders around them.
   * @param upper a folder that this makes @param count is called for each changed entry and may throw
   */
  async copyChanges(upper: string, count: (bytes: number) => void, signal: AbortSignal): Promise<void> {
    const modes = new Map<string, number>();
    try {
      await this.#copyChanges(upper, { modes, count, signal });
    } finally {
      for (const [folder, mode] of [...modes].toReversed()) {
        if (isOpen(mode)) continue;
        using copy = openBelow(this.#copy, folder);
        copy.setMode(mode);
      }
    }
  }

  /** @param modes gets those of all folders, which this opens */
  async #copyChanges(upper: string, { modes, count, signal }: ChangesOptions): Promise<void> {
    const found = new Set<string>();
    const changed: string[] = [];
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      using copy = openBelow(this.#copy, folder);
      found.add(folder);
      const mode = modeOf(copy.info);
      modes.set(folder, mode);
      if (!isOpen(mode)) copy.setMode(mode | OWNER_ONLY);
      const isChanged = (path: string, stamp: string) => this.#entries.get(path)?.copy !== stamp;
      if (isChanged(folder, stampOf(copy.info))) changed.push(folder);
      for (const name of namesIn(copy.path)) {
        const path = join(folder, name);
        await this.#breathe();
        signal.throwIfAborted();
        if (this.#covered.has(path)) continue;
        const info = unfitness(path) === undefined ? infoAt(copy.at(name)) : undefined;
        if (info?.isDirectory) folders.push(path);
        else {
          found.add(path);
          if (!isChanged(path, info === undefined ? "" : stampOf(info))) continue;
          count(info?.isFile ? info.size : 0);
          changed.push(path);
        }
      }
    }
    this.#found = found;
    // A list finds deleted entries only in folders of the upper layer.
    const deleted = [...this.#entries.keys()].filter((path) => !found.has(path));
    const around = withParents(["", ...changed, ...deleted]).filter((path) => modes.has(path));
    const inOrder = around.sort((a, b) => a.length - b.length);
    for (const folder of inOrder) {
      await this.#breathe();
      Deno.mkdirSync(join(upper, folder), { recursive: true, mode: OWNER_ONLY });
    }
    for (const path of changed.filter((path) => !modes.has(path))) {
      await this.#breathe();
      signal.throwIfAborted();
      using parent = openBelow(this.#copy, parentOf(path));
      await copyOut(parent.at(basename(path)), path, upper);
    }
    for (const folder of inOrder.toReversed()) {
      await this.#breathe();
      Deno.chmodSync(join(upper, folder), modes.get(folder) ?? OWNER_ONLY);
    }
  }

  async #breathe(): Promise<void> {
    if (performance.now() - this.#since <= SLICE_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}

/** Open for its owner. */
function isOpen(mode: number): boolean {
  return (mode & OWNER_ONLY) === OWNER_ONLY;
}

/** Empty for the root. */
function parentOf(path: string): string {
  return dirname(`/${path}`).slice(1);
}

/** Each once. */
function withParents(paths: readonly string[]): string[] {
  const all = new Set([""]);
  for (const path of paths) for (let one = path; !all.has(one); one = parentOf(one)) all.add(one);
  return [...all];
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

/** An empty one stays, because the program's sandbox may cover it. */
async function makeEmpty(path: string, kind: "folder" | "file"): Promise<void> {
  const info = infoAt(path);
  const isEmpty = kind === "folder"
    ? info?.isDirectory && entered(path)?.length === 0
    : info?.isFile && info.size === 0;
  if (isEmpty) return;
  if (info !== undefined) await removeTree(path);
  if (kind === "folder") await Deno.mkdir(path);
  else await Deno.writeTextFile(path, "", { createNew: true });
}

interface CopyOptions {
  readonly info: Deno.FileInfo;
  /** A path out of the program's reach, where the copy is made. */
  readonly temporary: string;
}

/** Copies a file or link to a new one. @returns false if it cannot be read */
async function copied(from: string, to: string, { info, temporary }: CopyOptions): Promise<boolean> {
  if (info.isSymlink) {
    const target = readable(() => Deno.readLinkSync(from));
    if (target === undefined || isForeign(target)) return false;
    await Deno.symlink(target, to);
    return true;
  }
  if (!await copyContent(from, temporary, info)) {
    await removeTree(temporary);
    return false;
  }
  // Build tools compare times.
  if (info.mtime !== null) Deno.utimeSync(temporary, info.mtime, info.mtime);
  Deno.chmodSync(temporary, modeOf(info));
  Deno.renameSync(temporary, to);
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

/** Copies an entry out of the program's reach. A list refuses those that are neither files nor links. */
async function copyOut(from: string, path: string, upper: string): Promise<void> {
  const to = join(upper, path);
  // A list refuses this path too.
  if (unfitness(path) !== undefined) return await Deno.writeTextFile(to, "");
  using entry = new OpenEntry(from);
  const { info } = entry;
  const mode = modeOf(info);
  if (info.isSymlink) await Deno.symlink(await Deno.readLink(from), to);
  else if (info.isFile) {
    if ((mode & 0o400) === 0) entry.setMode(mode | 0o400);
    await copyBytes(entry.path, to, info.size);
    for (const file of [entry.path, to]) Deno.chmodSync(file, mode);
  } else {
    await Deno.link(from, to);
    if (kindOf(infoAt(to)) !== "other") throw new Error(`${path} was replaced meanwhile`);
  }
}

/** @param size bytes at most: the program may make the file larger meanwhile */
async function copyBytes(from: string, to: string, size: number): Promise<void> {
  using source = Deno.openSync(from);
  using copy = Deno.openSync(to, { write: true, createNew: true, mode: 0o600 });
  const isSmall = size <= SMALL_BYTES;
  const chunk = new Uint8Array(Math.min(size, SMALL_BYTES));
  for (let left = size; left > 0;) {
    const part = chunk.subarray(0, left);
    const count = isSmall ? source.readSync(part) : await source.read(part);
    if (count === null) break;
    for (let done = 0; done < count;) {
      const rest = part.subarray(done, count);
      done += isSmall ? copy.writeSync(rest) : await copy.write(rest);
    }
    left -= count;
  }
}
