/**
 * An overlay of each root for one command: its writes go to a folder of the supervisor, and the roots stay
 * unchanged.
 *
 * Sources: Documentation/filesystems/overlayfs.rst of Linux, mount(8).
 */
import { join } from "node:path";
import { type Limits, listChanges, type OverlayChanges } from "./changes.ts";
import { namesIn } from "./layer.ts";
import { likeRoot, OverlayNamespace } from "./namespace.ts";
import { OverlayUsage } from "./usage.ts";

/** Limits for the writes of one command. */
export const LIMITS: Limits = { bytes: 2 * 1024 ** 3, files: 200_000 };

export interface OverlayOptions {
  /** Real paths. */
  readonly roots: readonly string[];
  /** Real paths of folders that are writable in memory, and whose changes are not listed. */
  readonly caches?: readonly string[];
  /** The supervisor's folder, a real path that is hidden from commands. */
  readonly state: string;
  /** Where writes are stored; in memory they vanish with the overlay. */
  readonly store: "memory" | "disk";
  /** Per root on disk, in total in memory; 2 GiB and 200,000 files by default. */
  readonly limits?: Limits;
}

export class Overlay implements AsyncDisposable {
  /** Starts a program in the namespace, see {@link OverlayNamespace}. */
  readonly enter: readonly string[];
  /** Creation time by the file system's clock: milliseconds since 1970. */
  readonly started: number;
  readonly #options: OverlayOptions;
  readonly #namespace: OverlayNamespace;
  readonly #usages: readonly OverlayUsage[];

  private constructor(options: OverlayOptions, namespace: OverlayNamespace) {
    this.#options = options;
    this.#namespace = namespace;
    this.enter = namespace.enter;
    this.started = namespace.started;
    // The kernel limits memory.
    this.#usages = options.store === "memory"
      ? []
      : options.roots.map((_, index) => new OverlayUsage(this.upper(index), this.#limits));
  }

  /** @throws {Error} one line, after removing everything */
  static async start(options: OverlayOptions): Promise<Overlay> {
    await using stack = new AsyncDisposableStack();
    const namespace = stack.use(await OverlayNamespace.open(options, MOUNT, mountWords(options)));
    const overlay = new Overlay(options, namespace);
    for (const [index, root] of options.roots.entries()) await likeRoot(root, overlay.upper(index));
    stack.move();
    return overlay;
  }

  /**
   * The command's changes for each root. Call this once, when its processes have ended: it makes the overlays
   * read-only, which the kernel refuses while anything can still be written.
   * @throws {Error} one line
   */
  async list(signal: AbortSignal): Promise<readonly OverlayChanges[]> {
    const { roots } = this.#options;
    const look = () => this.run(LOOK, [this.#namespace.folder, this.#uppers, ...roots]);
    let failed = await look();
    for (; failed === BUSY; failed = await look()) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
    }
    if (failed !== undefined) throw new Error(`the changes cannot be seen: ${failed}`);
    const all: OverlayChanges[] = [];
    for (const index of roots.keys()) {
      const layers = {
        upper: this.upper(index),
        lower: this.lower(index),
        seen: (path: string) => namesIn(join(this.#namespace.path("mem", String(index), "view"), path)),
      };
      all.push(await listChanges(layers, this.#limits, signal));
    }
    if (this.#namespace.hasEnded) throw new Error("the sandbox is gone");
    return all;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#namespace[Symbol.asyncDispose]();
  }

  /** Whether the running command has exceeded its limits on disk. In memory its writes fail instead. */
  async isPastLimits(): Promise<boolean> {
    return (await Promise.all(this.#usages.map((usage) => usage.isPastLimits()))).includes(true);
  }

  /** The folder with the writes to a root. */
  upper(index: number): string {
    return this.#namespace.path(this.#uppers, String(index), "upper");
  }

  /** The original root. */
  lower(index: number): string {
    return this.#namespace.path("mem", String(index), "lower");
  }

  /** Whether nothing was written or deleted. */
  get isUntouched(): boolean {
    return this.#options.roots.every((_, index) =>
      Deno.readDirSync(this.upper(index))[Symbol.iterator]().next().done
    );
  }

  /** @see OverlayNamespace.run */
  run(script: string, args: readonly string[]): Promise<string | undefined> {
    return this.#namespace.run(script, args);
  }

  get #limits(): Limits {
    return this.#options.limits ?? LIMITS;
  }

  get #uppers(): "mem" | "disk" {
    return uppers(this.#options);
  }
}

function uppers({ store }: OverlayOptions): "mem" | "disk" {
  return store === "memory" ? "mem" : "disk";
}

const BUSY = "busy";
const BUSY_PAUSE_MS = 10;

/**
 * Mount options contain only our own paths, so that special characters in a root's path do not matter. A
 * cache that does not support overlays is mounted read-only.
 */
const MOUNT = `run=$1 size=$2 uppers=$3 more=$4 roots=$5; shift 5
mount -t tmpfs -o "$size,mode=0700" tmpfs "$run/mem"
cd "$run"
index=0 folders=
for root; do
  for place in $uppers/$index mem/$index; do folders="$folders $place/upper $place/work"; done
  folders="$folders mem/$index/lower mem/$index/view"
  index=$((index + 1))
done
mkdir -p $folders
index=0
for root; do
  mount --bind "$root" mem/$index/lower
  index=$((index + 1))
done
layer() {
  lower=mem/$index/lower
  mount -t overlay -o "lowerdir=$lower,upperdir=$1/$index/upper,workdir=$1/$index/work,userxattr,index=off$2" overlay "$root"
}
index=0
for root; do
  if [ $index -lt $roots ]; then layer $uppers "$more"
  else layer mem "" 2>/dev/null || { mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"; }
  fi
  index=$((index + 1))
done`;

function mountWords(options: OverlayOptions): readonly string[] {
  const { roots, caches = [], store, limits: { bytes, files } = LIMITS } = options;
  const size = `size=${bytes},nr_inodes=${files}`;
  const more = store === "disk" ? ",volatile" : "";
  return [size, uppers(options), more, String(roots.length), ...roots, ...caches];
}

/**
 * Makes the overlays read-only, which the kernel refuses while anything can still write. The layers are
 * mounted again, so that nothing is cached.
 */
const LOOK = `run=$1 uppers=$2; shift 2
for root; do
  mount -o remount,ro overlay "$root" 2>/dev/null || { echo ${BUSY} >&2; exit 1; }
done
cd "$run"; index=0
for root; do
  mount -t overlay -o "ro,lowerdir=$uppers/$index/upper:mem/$index/lower,userxattr,index=off" overlay "mem/$index/view"
  index=$((index + 1))
done`;
