/** How much is in a folder on disk that others write to. */
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Limits } from "./changes.ts";

export class Usage {
  readonly #folder: string;
  readonly #limits: Limits;
  /** As much must be free on the file system, or the folder is counted again. */
  #least: Limits | undefined;

  constructor(folder: string, limits: Limits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /**
   * Counts only if the file system has lost enough since it last did; the first call counts. A folder that is gone, as
   * its command has ended, is not.
   */
  async isPastLimits(): Promise<boolean> {
    const info = await statfs(this.#folder).catch(() => undefined);
    if (info === undefined) return false;
    const free = { bytes: info.bavail * info.bsize, files: info.ffree };
    const least = this.#least;
    if (least !== undefined && free.bytes >= least.bytes && free.files >= least.files) return false;
    const used = await this.#count();
    this.#least = {
      bytes: free.bytes - (this.#limits.bytes - used.bytes),
      files: free.files - (this.#limits.files - used.files),
    };
    return used.bytes > this.#limits.bytes || used.files > this.#limits.files;
  }

  /** Up to the limits and one folder more. */
  async #count(): Promise<Limits> {
    const used = { bytes: 0, files: 0 };
    const folders = [this.#folder];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of await entriesOf(folder)) {
        const path = join(folder, entry.name);
        used.files++;
        if (entry.isDirectory) folders.push(path);
        else used.bytes += await Deno.lstat(path).then(({ size }) => size, () => 0);
      }
      if (used.files > this.#limits.files || used.bytes > this.#limits.bytes) break;
    }
    return used;
  }
}

/** What is gone or closed meanwhile has none. */
async function entriesOf(folder: string): Promise<readonly Deno.DirEntry[]> {
  return await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
}
