/**
 * Copies of the roots where overlays do not work: in a project with files of another user or group, with another file system
 * mounted in it, or with an old kernel. The program's sandbox mounts them in place of the roots. When a turn begins, entries
 * that differ from the project are copied again. The program's changes are copied out of its reach, and listed like the
 * upper layer of an overlay.
 */
import { join } from "node:path";
import { isInside } from "../../../policy/path.ts";
import type { Mount } from "../../system/sandbox/mounts.ts";
import { changeCounter, type Limits, listChanges, type OverlayChanges } from "./changes.ts";
import { entered } from "./layer.ts";
import { LIMITS } from "./overlay.ts";
import { removeTree, RunFolder, timeIn } from "./run_folder.ts";
import { type Covered, TreeCopy } from "./tree_copy.ts";
import type { HiddenPaths, TurnRoots } from "./turn_roots.ts";
import { OverlayUsage } from "./usage.ts";

interface TurnCopyOptions {
  /** Real paths. */
  readonly roots: readonly string[];
  /** The supervisor's folder, real path. */
  readonly state: string;
  /** Of a turn's changes. */
  readonly limits?: Limits;
  /** Of all roots. */
  readonly most?: Limits;
}

/** More takes too long to copy. */
const MOST: Limits = { bytes: 4 * 1024 ** 3, files: 100_000 };

export class TurnCopy implements TurnRoots {
  readonly enter = [];
  readonly mounts: readonly Mount[];
  readonly isFrozenBetweenTurns = false;
  readonly isWornOut = false;
  readonly #options: TurnCopyOptions;
  readonly #folder: RunFolder;
  readonly #trees: readonly TreeCopy[];
  #usage: OverlayUsage | undefined;
  #started = 0;

  private constructor(options: TurnCopyOptions, folder: RunFolder) {
    this.#options = options;
    this.#folder = folder;
    this.#trees = options.roots.map((root, index) => new TreeCopy(root, this.#copyOf(index)));
    this.mounts = options.roots.map((path, index) => ({ kind: "write", path, source: this.#copyOf(index) }));
  }

  /** @throws {Error} half a sentence, after removing everything */
  static async start(
    options: TurnCopyOptions,
    hidden: HiddenPaths,
    signal?: AbortSignal,
  ): Promise<TurnCopy> {
    const holding = options.roots.find((root) => isInside(options.state, root));
    if (holding !== undefined) throw new Error(`the state folder is in ${holding}`);
    await using stack = new AsyncDisposableStack();
    const copy = new TurnCopy(options, stack.use(await RunFolder.create(options.state)));
    await copy.renew(hidden, signal);
    stack.move();
    return copy;
  }

  get started(): number {
    return this.#started;
  }

  now(): Promise<number> {
    return timeIn(this.#folder.path);
  }

  async renew({ folders, files }: HiddenPaths, signal?: AbortSignal): Promise<void> {
    const { limits = LIMITS, most = MOST } = this.#options;
    const covered: Covered = new Map([
      ...folders.map((path) => [path, "folder"] as const),
      ...files.map((path) => [path, "file"] as const),
    ]);
    this.#started = await this.now();
    for (const folder of ["upper", "copies"]) await removeTree(join(this.#folder.path, folder));
    const total = { bytes: 0, files: 0 };
    const count = (bytes: number) => {
      signal?.throwIfAborted();
      total.bytes += bytes;
      total.files++;
      if (total.bytes <= most.bytes && total.files <= most.files) return;
      const gigabytes = most.bytes / 1024 ** 3;
      throw new Error(`the project has more than ${most.files} files or ${gigabytes} GiB, too much to copy`);
    };
    for (const tree of this.#trees) await tree.renew(covered, this.#started, count);
    const all = { bytes: total.bytes + limits.bytes, files: total.files + limits.files };
    this.#usage = new OverlayUsage(join(this.#folder.path, "roots"), all);
  }

  /** The program can still write, but a list has its own copies. */
  freeze(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async list(signal: AbortSignal): Promise<readonly OverlayChanges[]> {
    const { limits = LIMITS } = this.#options;
    await removeTree(join(this.#folder.path, "upper"));
    const all: OverlayChanges[] = [];
    for (const [index, tree] of this.#trees.entries()) {
      const [upper, lower] = [this.upper(index), this.lower(index)];
      const count = changeCounter(limits);
      await tree.copyChanges(upper, (bytes) => count({ files: 1, bytes }), signal);
      // The copy does not have the user's new files and unreadable ones, but they are not deleted.
      const seen = (folder: string) =>
        (entered(join(lower, folder)) ?? []).filter((name) => !tree.hasDeleted(join(folder, name)));
      all.push(await listChanges({ upper, lower, seen }, limits, signal));
    }
    return all;
  }

  async isPastLimits(): Promise<boolean> {
    return await this.#usage?.isPastLimits() === true;
  }

  upper(index: number): string {
    return join(this.#folder.path, "upper", String(index));
  }

  lower(index: number): string {
    return this.#options.roots[index] ?? "";
  }

  had(index: number, inRoot: string): boolean {
    return this.#trees[index]?.has(inRoot) === true;
  }

  get copies(): string {
    return join(this.#folder.path, "copies");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  #copyOf(index: number): string {
    return join(this.#folder.path, "roots", String(index));
  }
}
