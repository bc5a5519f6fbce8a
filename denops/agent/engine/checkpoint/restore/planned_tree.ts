/** The project as it will be: the disk with planned changes on top. Changes nothing. */
import { basename, dirname } from "node:path";
import { ABSENT, type Contents, type Snapshot } from "../../log/checkpoints.ts";
import { opened } from "./opened.ts";
import { takeSnapshot } from "../snapshot.ts";

/** The disk; each path is read once. */
export class Disk {
  readonly #contents: Contents;
  readonly #roots: readonly string[];
  readonly #images = new Map<string, Snapshot>();
  readonly #names = new Map<string, readonly string[]>();

  constructor(contents: Contents, roots: readonly string[]) {
    this.#contents = contents;
    this.#roots = roots;
  }

  /**
   * A path below something other than a folder is absent; links are not followed. @throws {Error} if it cannot be read
   */
  async at(path: string): Promise<Snapshot> {
    const known = this.#images.get(path);
    if (known !== undefined) return known;
    const image = await this.#look(path);
    this.#images.set(path, image);
    return image;
  }

  async #look(path: string): Promise<Snapshot> {
    if (this.#roots.includes(path)) return { type: "folder", mode: undefined };
    if (dirname(path) === path || (await this.at(dirname(path))).type !== "folder") return ABSENT;
    return await takeSnapshot(path, this.#contents, this.#roots);
  }

  /** Names in a folder. @throws {Error} if it cannot be read */
  async namesIn(path: string): Promise<readonly string[]> {
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    const isFolder = (await this.at(path)).type === "folder";
    const entries = isFolder
      ? await opened(path, true, this.#roots, () => Array.fromAsync(Deno.readDir(path)))
      : [];
    const names = entries.map(({ name }) => name);
    this.#names.set(path, names);
    return names;
  }
}

export class PlannedTree {
  readonly #disk: Disk;
  readonly #planned = new Map<string, Snapshot>();
  /** Planned names by folder. */
  readonly #names = new Map<string, Set<string>>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  async at(path: string): Promise<Snapshot> {
    return this.#planned.get(path) ?? await this.#disk.at(path);
  }

  set(path: string, image: Snapshot): void {
    this.#planned.set(path, image);
    const folder = dirname(path);
    const names = this.#names.get(folder) ?? new Set();
    this.#names.set(folder, names.add(basename(path)));
  }

  async isEmpty(folder: string): Promise<boolean> {
    const names = new Set([...await this.#disk.namesIn(folder), ...this.#names.get(folder) ?? []]);
    for (const name of names) {
      if ((await this.at(`${folder}/${name}`)).type !== "absent") return false;
    }
    return true;
  }

  /** All planned paths and their images. */
  get planned(): Iterable<readonly [path: string, image: Snapshot]> {
    return this.#planned;
  }
}
