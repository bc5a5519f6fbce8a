/**
 * A folder for the model's notes and temporary scripts, shared by a session and its forks. It is not part of the
 * project: its files are not recorded and are deleted with the last of these sessions.
 */
import { isAbsolute, join, resolve } from "node:path";
import { isInside, resolvePath } from "../../../policy/path.ts";
import type { RootedPath } from "../../../policy/roots.ts";
import { SCRATCH_FOLDER } from "../../../protocol/sessions_file.ts";
import { lookups } from "./disk.ts";

/** Bytes of all its files at the end of a turn. */
const MOST_BYTES = 64 * 1024 ** 2;
const MOST_FILES = 2_000;

/** The folder expires after this time without a message. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;

export class Scratch {
  /** Absolute, real. */
  readonly folder: string;

  /** @param state the project's state folder @param owner a session, also of its forks */
  constructor(state: string, owner: string) {
    if (!/^[\w-]+$/.test(owner)) throw new Error(`not the id of a session: ${owner}`);
    this.folder = join(realPath(state), SCRATCH_FOLDER, owner);
  }

  holds(path: string): boolean {
    return isInside(path, this.folder);
  }

  /** Undefined for paths elsewhere. @throws {PathError} if it leads out */
  async resolve(path: string): Promise<RootedPath | undefined> {
    if (!isAbsolute(path) || !this.holds(resolve(path))) return undefined;
    const found = await resolvePath(path, this.folder, lookups);
    const link = join(this.folder, found.named);
    const withSlashes = (path: string) => path.replaceAll("\\", "/");
    return { ...found, root: this.folder, link, relative: withSlashes(found.path), named: withSlashes(link) };
  }

  /** Creates the folder. On failure, tools and commands report the error. */
  async make(): Promise<void> {
    await Deno.mkdir(this.folder, { recursive: true, mode: 0o700 }).catch(() => {});
  }

  /** Removes the largest files until the rest fits. @returns one line for the user, if any was removed */
  async tidy(): Promise<string | undefined> {
    const files: { readonly path: string; readonly size: number }[] = [];
    await collect(this.folder, files);
    files.sort((a, b) => a.size - b.size);
    const all = files.length;
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    while (bytes > MOST_BYTES || files.length > MOST_FILES) {
      const largest = files.pop();
      if (largest === undefined) break;
      await Deno.remove(largest.path).catch(() => {});
      bytes -= largest.size;
    }
    const removed = all - files.length;
    return removed === 0
      ? undefined
      : `The scratch folder was too full: ${removed} of its files were removed.`;
  }

  /** Removes the folder and its content; links are removed, not followed. */
  async remove(): Promise<void> {
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
  }

  /**
   * Removes the folders of deleted sessions, and of sessions without a message for a week. @param used time of the last
   * message in a session that uses this owner's folder
   */
  static async expire(
    state: string,
    used: (owner: string) => number | undefined,
    now = Date.now(),
  ): Promise<void> {
    const names = await Array.fromAsync(Deno.readDir(join(state, SCRATCH_FOLDER))).catch(() => []);
    for (const { name } of names) {
      const path = join(state, SCRATCH_FOLDER, name);
      const made = (await Deno.lstat(path).catch(() => undefined))?.mtime?.getTime() ?? now;
      // A session without a message may get one soon.
      if (now - (used(name) ?? made) > KEPT_MS) {
        await Deno.remove(path, { recursive: true }).catch(() => {});
      }
    }
  }
}

/** Everything except folders; links are not followed. */
async function collect(
  folder: string,
  files: { readonly path: string; readonly size: number }[],
): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  for (const { name, isDirectory } of entries) {
    const path = join(folder, name);
    if (isDirectory) await collect(path, files);
    else files.push({ path, size: (await Deno.lstat(path).catch(() => undefined))?.size ?? 0 });
  }
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}
