/**
 * The folder of a session for the model's own notes and throw-away scripts. It is no part of the project: what is in it
 * is recorded nowhere, and goes with the session.
 */
import { isAbsolute, join, resolve } from "node:path";
import { isInside, resolvePath } from "../../../policy/path.ts";
import type { RootedPath } from "../../../policy/roots.ts";
import { SCRATCH_FOLDER } from "../../../protocol/scratch.ts";
import { lookups } from "./disk.ts";

/** Of all files in it, at the end of a turn. */
const MOST_BYTES = 64 * 1024 ** 2;
const MOST_FILES = 2_000;

/** Without a message for so long, its session has no use for it. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;

export class Scratch {
  /** Absolute, real. */
  readonly folder: string;

  /** @param state the project's state folder */
  constructor(state: string, session: string) {
    if (!/^[\w-]+$/.test(session)) throw new Error(`not the id of a session: ${session}`);
    this.folder = join(realPath(state), SCRATCH_FOLDER, session);
  }

  holds(path: string): boolean {
    return isInside(path, this.folder);
  }

  /** Undefined for what is not named as in there. @throws {PathError} if it leads out */
  async resolve(path: string): Promise<RootedPath | undefined> {
    if (!isAbsolute(path) || !this.holds(resolve(path))) return undefined;
    const found = await resolvePath(path, this.folder, lookups);
    const link = join(this.folder, found.named);
    const withSlashes = (path: string) => path.replaceAll("\\", "/");
    return { ...found, root: this.folder, link, relative: withSlashes(found.path), named: withSlashes(link) };
  }

  /** It is there whenever the model is told of it. Where it cannot be made tools and commands say so. */
  async make(): Promise<void> {
    await Deno.mkdir(this.folder, { recursive: true, mode: 0o700 }).catch(() => {});
  }

  /** Removes the largest files until the rest is within bounds. @returns one line for the user, if it was too full */
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

  /** With all that is in it; links are removed, not followed. */
  async remove(): Promise<void> {
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
  }

  /** Removes those of sessions that are gone, or had no message for a week. @param updated when a session had its last one */
  static async expire(
    state: string,
    updated: (session: string) => number | undefined,
    now = Date.now(),
  ): Promise<void> {
    const names = await Array.fromAsync(Deno.readDir(join(state, SCRATCH_FOLDER))).catch(() => []);
    for (const { name } of names) {
      const path = join(state, SCRATCH_FOLDER, name);
      const made = (await Deno.lstat(path).catch(() => undefined))?.mtime?.getTime() ?? now;
      // One without a message yet may be about to have one.
      if (now - (updated(name) ?? made) > KEPT_MS) {
        await Deno.remove(path, { recursive: true }).catch(() => {});
      }
    }
  }
}

/** Whatever is no folder; links are not followed. */
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
