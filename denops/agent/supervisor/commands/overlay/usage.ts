/** Measures a folder on disk while others write to it. */
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Limits } from "./changes.ts";
import { infoAt } from "./layer.ts";

/** Counting takes at most a 20th of the time. */
const COUNT_SHARE = 20;

export class OverlayUsage {
  readonly #folder: string;
  readonly #limits: Limits;
  /** When the file system has less free space than this, the folder is counted again. */
  #least: Limits | undefined;
  /** When it is counted in any case: other programs may have freed as much as was written here. */
  #due = 0;
  #measurement: Promise<boolean> | undefined;

  constructor(folder: string, limits: Limits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** One count at a time, because callers repeat the question before a large count ends. */
  isPastLimits(): Promise<boolean> {
    this.#measurement ??= this.#look().finally(() => this.#measurement = undefined);
    return this.#measurement;
  }

  /**
   * Counts if the free space has shrunk enough, or if the last count is old. A missing folder exceeds no
   * limit.
   */
  async #look(): Promise<boolean> {
    const info = await statfs(this.#folder).catch(() => undefined);
    if (info === undefined) return false;
    const free = { bytes: info.bavail * info.bsize, files: info.ffree };
    const least = this.#least;
    const isEnough = least !== undefined && free.bytes >= least.bytes && free.files >= least.files;
    const start = performance.now();
    if (isEnough && start < this.#due) return false;
    const used = await this.#count();
    const end = performance.now();
    this.#due = end + (end - start) * COUNT_SHARE;
    this.#least = {
      bytes: free.bytes - (this.#limits.bytes - used.bytes),
      files: free.files - (this.#limits.files - used.files),
    };
    return used.bytes > this.#limits.bytes || used.files > this.#limits.files;
  }

  /** Counts up to the limits. */
  async #count(): Promise<Limits> {
    const used = { bytes: 0, files: 0 };
    const folders = [this.#folder];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      try {
        for await (const { name, isDirectory } of Deno.readDir(folder)) {
          const path = join(folder, name);
          used.files++;
          if (isDirectory) folders.push(path);
          else used.bytes += infoAt(path)?.size ?? 0;
          if (used.files > this.#limits.files || used.bytes > this.#limits.bytes) return used;
        }
      } catch {
        // Files that were deleted meanwhile count as empty.
      }
    }
    return used;
  }
}
