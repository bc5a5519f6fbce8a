/**
 * Lists a command's changes in one root from the layers of its overlay, once nothing can be written there any
 * more. Follows no links.
 *
 * Source: Documentation/filesystems/overlayfs.rst of Linux, "Upper and Lower", "whiteouts and opaque
 * directories".
 */
import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import {
  entered,
  infoAt,
  isForeign,
  type Kind,
  kindOf,
  modeOf,
  namesIn,
  openFolder,
  readable,
  unfitness,
} from "./layer.ts";

/** `mode`: the twelve lower bits of st_mode. `hash`: SHA-256, hexadecimal. */
export type OverlayEntry =
  | { readonly type: "file"; readonly mode: number; readonly size: number; readonly hash: string }
  | { readonly type: "folder"; readonly mode: number }
  | { readonly type: "link"; readonly target: string };

export interface Change {
  /** Relative to the root; empty for the root itself. */
  readonly path: string;
  /** Undefined if it did not exist. */
  readonly before: Kind | undefined;
  /** Undefined if it was deleted, including its contents. */
  readonly after: OverlayEntry | undefined;
  /** For a new file: a deleted file with the same content. */
  readonly from?: string;
  /** For a folder that is no longer one: all files that it contained, relative to it. */
  readonly lost?: readonly string[];
}

export interface OverlayChanges {
  /** Folders precede their contents. */
  readonly changes: readonly Change[];
  /** Files that were written but differ only in their times. */
  readonly touched: number;
  /** Entries that cannot be kept: half a sentence each. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

interface Layers {
  /** Folder with what the command has written. Its folders are made readable for their owner. */
  readonly upper: string;
  /** The original root. */
  readonly lower: string;
  /** Names that the command saw at the end in a folder of the upper layer. */
  seen(inRoot: string): readonly string[];
}

export interface Limits {
  readonly bytes: number;
  readonly files: number;
}

interface Folder {
  readonly path: string;
  /** The lower layer has it too, and no link precedes it on the path. */
  readonly isMerged: boolean;
}

/** Yields to other work after this time. */
const SLICE_MS = 8;
const CHUNK_BYTES = 1024 ** 2;

/** @throws {Error} one line: something is unreadable, or exceeds the limits */
export async function listChanges(
  layers: Layers,
  limits: Limits,
  signal: AbortSignal,
): Promise<OverlayChanges> {
  return await new Listing(layers, limits, signal).run();
}

/** @returns adds to the changes so far @throws {Error} one line, past the limits */
export function changeCounter(most: Limits): (more: Partial<Limits>) => void {
  const total = { bytes: 0, files: 0 };
  return ({ files = 0, bytes = 0 }) => {
    total.files += files;
    total.bytes += bytes;
    if (total.files > most.files) throw new Error(`it changed more than ${most.files} files`);
    if (total.bytes > most.bytes) throw new Error(`it wrote more than ${sized(most.bytes)}`);
  };
}

class Listing {
  readonly #layers: Layers;
  readonly #count: ReturnType<typeof changeCounter>;
  readonly #signal: AbortSignal;
  readonly #changes: Change[] = [];
  readonly #refused: { path: string; reason: string }[] = [];
  #touched = 0;
  #since = performance.now();
  readonly #chunk = new Uint8Array(CHUNK_BYTES);

  constructor(layers: Layers, limits: Limits, signal: AbortSignal) {
    this.#layers = layers;
    this.#count = changeCounter(limits);
    this.#signal = signal;
  }

  async run(): Promise<OverlayChanges> {
    const { upper, lower } = this.#layers;
    const mode = modeOf(Deno.lstatSync(upper));
    if (mode !== modeOf(Deno.lstatSync(lower))) {
      this.#changes.push({ path: "", before: "folder", after: { type: "folder", mode } });
    }
    const folders: Folder[] = [{ path: "", isMerged: true }];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      folders.push(...await this.#folder(folder));
    }
    return {
      changes: await this.#renamed(await this.#withLost(this.#changes)),
      touched: this.#touched,
      refused: this.#refused,
    };
  }

  /** Its folders that the upper layer contains. */
  async #folder({ path, isMerged }: Folder): Promise<readonly Folder[]> {
    const { upper, lower, seen } = this.#layers;
    const before = isMerged ? entered(join(lower, path)) : [];
    if (before === undefined) {
      this.#refuse(path, "what was in it cannot be read");
      return [];
    }
    openFolder(join(upper, path));
    const names = namesIn(join(upper, path));
    const known = new Set(before);
    const folders: Folder[] = [];
    for (const name of names) {
      const found = await this.#entry(join(path, name), known.has(name));
      if (found !== undefined) folders.push(found);
    }
    const written = new Set(names);
    const rest = before.filter((name) => !written.has(name));
    // If the command replaced a folder with a new one, missing entries have no mark of their own.
    const now = new Set(rest.length === 0 ? [] : seen(path));
    for (const name of rest) if (!now.has(name)) this.#deleted(join(path, name));
    return folders;
  }

  /** @returns it, if it is a folder */
  async #entry(path: string, isKnown: boolean): Promise<Folder | undefined> {
    await this.#breathe();
    this.#count({ files: 1 });
    const unfit = unfitness(path);
    if (unfit !== undefined) {
      this.#refuse(path, unfit);
      return undefined;
    }
    const own = join(this.#layers.upper, path);
    const old = join(this.#layers.lower, path);
    const info = Deno.lstatSync(own);
    const was = isKnown ? infoAt(old) : undefined;
    const before = kindOf(was);
    if (info.isCharDevice && info.rdev === 0) {
      if (isKnown) this.#deleted(path);
    } else if (info.isSymlink) {
      const target = Deno.readLinkSync(own);
      if (isForeign(target)) this.#refuse(path, "it leads to a name that is not UTF-8");
      else if (before === "link" && Deno.readLinkSync(old) === target) this.#touched++;
      else this.#changes.push({ path, before, after: { type: "link", target } });
    } else if (info.isDirectory) {
      const mode = modeOf(info);
      if (!was?.isDirectory || modeOf(was) !== mode) {
        this.#changes.push({ path, before, after: { type: "folder", mode } });
      }
      return { path, isMerged: before === "folder" };
    } else if (info.isFile) {
      await this.#file(path, info, was);
    } else {
      this.#refuse(path, "it is neither a file, a folder nor a link");
    }
    return undefined;
  }

  async #file(path: string, info: Deno.FileInfo, was: Deno.FileInfo | undefined): Promise<void> {
    const { size } = info;
    this.#count({ bytes: size });
    const own = join(this.#layers.upper, path);
    const old = join(this.#layers.lower, path);
    const mode = modeOf(info);
    const isClosed = (mode & 0o400) === 0;
    if (isClosed) Deno.chmodSync(own, mode | 0o400);
    const hash = await this.#hash(own, size);
    // Other names of the file share this mode.
    if (isClosed) Deno.chmodSync(own, mode);
    if (hash === undefined) throw new Error(`${path} cannot be read`);
    const isSame = was?.isFile && was.size === size && modeOf(was) === mode &&
      await this.#hash(old, size) === hash;
    if (isSame) this.#touched++;
    else this.#changes.push({ path, before: kindOf(was), after: { type: "file", mode, size, hash } });
  }

  #deleted(path: string): void {
    const unfit = unfitness(path);
    if (unfit !== undefined) return this.#refuse(path, unfit);
    const before = kindOf(infoAt(join(this.#layers.lower, path)));
    // It may be gone by now.
    if (before !== undefined) this.#changes.push({ path, before, after: undefined });
  }

  #refuse(path: string, reason: string): void {
    this.#refused.push({ path, reason });
  }

  /** Undefined if it is unreadable or has grown: files of the lower layer may change at any time. */
  async #hash(path: string, size: number): Promise<string | undefined> {
    const file = readable(() =>
      openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    );
    if (file === undefined) return undefined;
    try {
      const hash = createHash("sha256");
      let left = size;
      for (let count = -1; count !== 0; left -= count) {
        count = readable(() => readSync(file, this.#chunk)) ?? left + 1;
        if (count > left) return undefined;
        hash.update(this.#chunk.subarray(0, count));
        await this.#breathe();
      }
      return left === 0 ? hash.digest("hex") : undefined;
    } finally {
      closeSync(file);
    }
  }

  /** Adds the contents of lost folders, because the user may want to keep some of them. */
  async #withLost(changes: readonly Change[]): Promise<readonly Change[]> {
    const all: Change[] = [];
    for (const change of changes) {
      const { path, before, after } = change;
      const isGone = before === "folder" && after?.type !== "folder";
      all.push(isGone ? { ...change, lost: await this.#below(path) } : change);
    }
    return all;
  }

  async #below(path: string): Promise<readonly string[]> {
    const found: string[] = [];
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const name of entered(join(this.#layers.lower, path, folder)) ?? []) {
        await this.#breathe();
        this.#count({ files: 1 });
        const inside = join(folder, name);
        const isFolder = kindOf(infoAt(join(this.#layers.lower, path, inside))) === "folder";
        (isFolder ? folders : found).push(inside);
      }
    }
    return found;
  }

  async #renamed(changes: readonly Change[]): Promise<readonly Change[]> {
    const sizes = new Set<number>();
    for (const { before, after } of changes) {
      if (before === undefined && after?.type === "file" && after.size > 0) sizes.add(after.size);
    }
    const left = new Map<string, string[]>();
    for (const { path, before, after, lost = [] } of sizes.size === 0 ? [] : changes) {
      if (after !== undefined) continue;
      for (const file of before === "file" ? [path] : lost.map((inside) => join(path, inside))) {
        await this.#breathe();
        const old = join(this.#layers.lower, file);
        const size = infoAt(old)?.size ?? 0;
        const hash = sizes.has(size) ? await this.#hash(old, size) : undefined;
        if (hash !== undefined) left.set(hash, [...left.get(hash) ?? [], file]);
      }
    }
    return changes.map((change) => {
      const { before, after } = change;
      const from = before === undefined && after?.type === "file" ? left.get(after.hash)?.shift() : undefined;
      return from === undefined ? change : { ...change, from };
    });
  }

  async #breathe(): Promise<void> {
    if (performance.now() - this.#since <= SLICE_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
    this.#signal.throwIfAborted();
  }
}

function sized(bytes: number): string {
  return bytes < 1024 ** 2 ? `${bytes} bytes` : `${Math.floor(bytes / 1024 ** 2)} MiB`;
}
