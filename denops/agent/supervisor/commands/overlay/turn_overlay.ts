/**
 * Overlays of the roots for a program that lives longer than one turn: its writes of a turn go to a layer of their own.
 * Between two turns the last layer is read-only. A new one is mounted over it in the namespace and appears in the
 * program's sandbox, whose roots are slaves of these mounts. Earlier layers stay below, because a process may still have
 * its folder there.
 *
 * Sources: Documentation/filesystems/overlayfs.rst and sharedsubtree.rst of Linux, mount(8), mount_namespaces(7).
 */
import { join } from "node:path";
import { isInside } from "../../../policy/path.ts";
import { listChanges, type OverlayChanges } from "./changes.ts";
import { namesIn, openFolder } from "./layer.ts";
import { likeRoot, OverlayNamespace } from "./namespace.ts";
import { LIMITS, type OverlayOptions } from "./overlay.ts";
import { removeTree, timeIn } from "./run_folder.ts";
import type { HiddenPaths, TurnRoots } from "./turn_roots.ts";
import { OverlayUsage } from "./usage.ts";

type TurnOverlayOptions = Pick<OverlayOptions, "roots" | "state" | "store" | "limits">;

/** Waits for files that are open for writing. */
const LONGEST_FREEZE_MS = 1_000;
const BUSY_PAUSE_MS = 20;
/** The kernel allows 100,000 in a namespace, and each layer stays. */
const MOST_MOUNTS = 40_000;

export class TurnOverlay implements TurnRoots {
  /** Starts a program in the namespace, see {@link OverlayNamespace}. */
  readonly enter: readonly string[];
  /** None: the roots themselves are overlays in the namespace. */
  readonly mounts = [];
  readonly isFrozenBetweenTurns = true;
  readonly #options: TurnOverlayOptions;
  readonly #namespace: OverlayNamespace;
  /** Number of the current layer; -1 before the first. */
  #layer = -1;
  #started = 0;
  /** Of the current layer, and of earlier ones that can still be written. */
  #usages: readonly OverlayUsage[] = [];
  #isFrozen = true;
  /** Of all layers. */
  #mounts = 0;

  private constructor(options: TurnOverlayOptions, namespace: OverlayNamespace) {
    this.#options = options;
    this.#namespace = namespace;
    this.enter = namespace.enter;
  }

  /** The roots are read-only until the first turn. @throws {Error} one line, after removing everything */
  static async start(options: TurnOverlayOptions, hidden: HiddenPaths): Promise<TurnOverlay> {
    await using stack = new AsyncDisposableStack();
    const { roots, limits: { bytes, files } = LIMITS } = options;
    const size = `size=${bytes},nr_inodes=${files}`;
    const overlay = new TurnOverlay(
      options,
      stack.use(await OverlayNamespace.open(options, BASE, [size, ...roots])),
    );
    await overlay.renew(hidden);
    if (!await overlay.freeze()) throw new Error("the project cannot be made read-only");
    const failed = await overlay.#namespace.run(SHARE, roots);
    if (failed !== undefined) throw new Error(failed);
    stack.move();
    return overlay;
  }

  get isWornOut(): boolean {
    return this.#mounts > MOST_MOUNTS;
  }

  get started(): number {
    return this.#started;
  }

  now(): Promise<number> {
    return timeIn(join(this.#namespace.folder, "disk"));
  }

  /** Mounts a new layer. */
  async renew(hidden: HiddenPaths): Promise<void> {
    const { roots, store, limits = LIMITS } = this.#options;
    const last = this.#layer;
    this.#started = await this.now();
    this.#layer++;
    for (const [index, root] of roots.entries()) {
      for (const name of ["upper", "work"]) {
        await Deno.mkdir(this.#inUppers(this.#layer, index, name), { recursive: true });
      }
      for (const name of ["merged", "view"]) {
        await Deno.mkdir(this.#inMemory(index, name), { recursive: true });
      }
      await likeRoot(root, this.upper(index));
    }
    const more = store === "disk" ? ",volatile" : "";
    const masks = this.#masks(hidden);
    const words = [this.#namespace.folder, String(this.#layer), this.#uppers, more, String(masks.length / 2)];
    this.#mounts += roots.length + masks.length / 2;
    const failed = await this.#namespace.run(LAYER, [...words, ...masks, ...roots]);
    if (failed !== undefined) throw new Error(failed);
    const usages = store === "memory"
      ? []
      : roots.map((_, index) => new OverlayUsage(this.upper(index), limits));
    this.#usages = [...this.#isFrozen ? [] : this.#usages, ...usages];
    this.#isFrozen = false;
    if (last >= 0) await this.#empty(last);
  }

  /** A process whose folder is on this layer sees the project there from now on, read-only. */
  async #empty(layer: number): Promise<void> {
    for (const index of this.#options.roots.keys()) {
      const upper = this.#inUppers(layer, index, "upper");
      openFolder(upper);
      for (const name of namesIn(upper)) await removeTree(join(upper, name));
    }
    await removeTree(this.#copiesOf(layer));
  }

  /**
   * Makes the layer read-only, for open files and old folders too.
   * @returns false if a file is open for writing: then the layer may still change
   */
  async freeze(): Promise<boolean> {
    const until = performance.now() + LONGEST_FREEZE_MS;
    for (;;) {
      const failed = await this.#namespace.run(FREEZE, this.#options.roots);
      if (failed === undefined) return this.#isFrozen = true;
      if (failed !== BUSY) throw new Error(`the project cannot be made read-only: ${failed}`);
      if (performance.now() > until) return false;
      await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
    }
  }

  async list(signal: AbortSignal): Promise<readonly OverlayChanges[]> {
    const { roots, limits = LIMITS } = this.#options;
    const words = [this.#namespace.folder, String(this.#layer), this.#uppers];
    const failed = await this.#namespace.run(VIEW, words);
    if (failed !== undefined) throw new Error(`the changes cannot be seen: ${failed}`);
    const all: OverlayChanges[] = [];
    for (const index of roots.keys()) {
      const layers = {
        upper: this.upper(index),
        lower: this.lower(index),
        seen: (path: string) => namesIn(join(this.#inMemory(index, "view"), path)),
      };
      all.push(await listChanges(layers, limits, signal));
    }
    if (this.#namespace.hasEnded) throw new Error("the sandbox is gone");
    return all;
  }

  /** In memory its writes fail instead. */
  async isPastLimits(): Promise<boolean> {
    return (await Promise.all(this.#usages.map((usage) => usage.isPastLimits()))).includes(true);
  }

  upper(index: number): string {
    return this.#inUppers(this.#layer, index, "upper");
  }

  lower(index: number): string {
    return this.#namespace.path("mem", String(index), "lower");
  }

  /** The user may have changed it since. */
  had(): undefined {}

  get copies(): string {
    return this.#copiesOf(this.#layer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#namespace[Symbol.asyncDispose]();
  }

  get #uppers(): "mem" | "disk" {
    return this.#options.store === "memory" ? "mem" : "disk";
  }

  #inUppers(layer: number, index: number, name: string): string {
    return this.#namespace.path(this.#uppers, "turns", String(layer), String(index), name);
  }

  #copiesOf(layer: number): string {
    return this.#namespace.path(this.#uppers, "turns", String(layer), "copies");
  }

  #inMemory(index: number, name: string): string {
    return this.#namespace.path("mem", "mounts", String(this.#layer), String(index), name);
  }

  /** Pairs of a kind and a path in the folder, which the script covers. */
  #masks({ folders, files }: HiddenPaths): readonly string[] {
    const { roots } = this.#options;
    const words = (kind: string, paths: readonly string[]) =>
      paths.flatMap((path) => {
        // The innermost root: it is mounted over the others.
        const root = roots.filter((one) => isInside(path, one)).reduce<string | undefined>(
          (longest, one) => longest === undefined || one.length > longest.length ? one : longest,
          undefined,
        );
        if (root === undefined || path === root) return [];
        const place = `mem/mounts/${this.#layer}/${roots.indexOf(root)}/merged`;
        return [kind, place + path.slice(root.length)];
      });
    return [...words("folder", folders), ...words("file", files)];
  }
}

const BUSY = "busy";

/** Mount options contain only our own paths, so that special characters in a root's path do not matter. */
const BASE = `run=$1 size=$2; shift 2
mount -t tmpfs -o "$size,mode=0700" tmpfs "$run/mem"
cd "$run"
mkdir -p mem/blank/folder
: >mem/blank/file
index=0
for root; do
  mkdir -p "mem/$index/lower"
  mount --bind "$root" "mem/$index/lower"
  index=$((index + 1))
done`;

/**
 * The overlays are complete with their masks before they take the places of the roots. A hidden path may be gone by
 * now; one that stays without its mask fails the turn. Not `mount --move`, which fails for other users than root after it
 * has moved the mount.
 */
const LAYER = `run=$1 layer=$2 uppers=$3 more=$4 masks=$5; shift 5
cd "$run"
index=0
while [ -d "mem/$index/lower" ]; do
  umount "mem/mounts/$((layer - 1))/$index/view" 2>/dev/null || :
  dirs="lowerdir=mem/$index/lower,upperdir=$uppers/turns/$layer/$index/upper,workdir=$uppers/turns/$layer/$index/work"
  mount -t overlay -o "nosuid,nodev,$dirs,userxattr,index=off$more" overlay "mem/mounts/$layer/$index/merged"
  index=$((index + 1))
done
while [ "$masks" -gt 0 ]; do
  if mount --bind "mem/blank/$1" "$2" 2>/dev/null; then mount -o remount,bind,ro,nosuid,nodev "$2"
  elif [ -e "$2" ]; then echo "a file cannot be hidden" >&2; exit 1
  fi
  shift 2; masks=$((masks - 1))
done
index=0
for root; do
  mount --rbind "mem/mounts/$layer/$index/merged" "$root"
  umount -l "mem/mounts/$layer/$index/merged" 2>/dev/null || :
  index=$((index + 1))
done`;

/** Mounts over the roots appear in the namespaces that are created from this one. */
const SHARE = `for root; do mount --make-shared "$root"; done`;

const FREEZE = `for root; do
  mount -o remount,ro overlay "$root" 2>/dev/null || { echo ${BUSY} >&2; exit 1; }
done`;

/** The layers are mounted again, so that nothing is cached. */
const VIEW = `run=$1 layer=$2 uppers=$3
cd "$run"
index=0
while [ -d "mem/$index/lower" ]; do
  view="mem/mounts/$layer/$index/view"
  umount "$view" 2>/dev/null || :
  mount -t overlay -o "ro,lowerdir=$uppers/turns/$layer/$index/upper:mem/$index/lower,userxattr,index=off" overlay "$view"
  index=$((index + 1))
done`;
