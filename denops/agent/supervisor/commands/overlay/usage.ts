/** How much is in a folder on disk that others write to. */
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Limits } from "./changes.ts";
import { infoAt } from "./layer.ts";

/** Counting takes at most a 20th of the time. */
const COUNT_SHARE = 20;

export class OverlayUsage {
  readonly #folder: string;
  readonly #limits: Limits;
  /** As much must be free on the file system, or the folder is counted again. */
  #least: Limits | undefined;
  /** When it is counted again even so: other programs may have freed as much as was written here. */
  #due = 0;
  #measurement: Promise<boolean> | undefined;

  constructor(folder: string, limits: Limits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** One count at a time: whoever watches asks again before a large one has ended. */
  isPastLimits(): Promise<boolean> {
    this.#measurement ??= this.#look().finally(() => this.#measurement = undefined);
    return this.#measurement;
  }

  /**
   * Counts if the file system has lost enough since the last count, or if that is long ago. A folder that is gone is past
   * no limit.
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

  /** Up to the limits. */
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
