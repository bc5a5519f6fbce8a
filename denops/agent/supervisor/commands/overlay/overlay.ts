/**
 * An overlay of each root for one command: its writes go to a folder of the supervisor, and the roots stay
 * unchanged. The overlays are mounted in a namespace that bubblewrap holds; the command's own sandbox is
 * created inside of it, as it would be outside.
 *
 * Sources: Documentation/filesystems/overlayfs.rst of Linux, bwrap(1), nsenter(1), mount(8), setns(2).
 */
import { join } from "node:path";
import { type Limits, listChanges, type OverlayChanges } from "./changes.ts";
import { isInside } from "../../../policy/path.ts";
import { findTools, firstLine, Holder, isRoot, type Tools } from "./holder.ts";
import { openProgram } from "../../system/programs.ts";
import { RunFolder } from "./run_folder.ts";
import { OverlayUsage } from "./usage.ts";

/** Limits for the writes of one command. */
const LIMITS: Limits = { bytes: 2 * 1024 ** 3, files: 200_000 };

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
  /**
   * The command line that starts a program with the overlays in place of the roots. The program starts in
   * `/`, with all capabilities of the namespace; without the overlays it does not start.
   */
  readonly enter: readonly string[];
  /** Creation time by the file system's clock: milliseconds since 1970. */
  readonly started: number;
  readonly #options: OverlayOptions;
  readonly #tools: Tools;
  readonly #folder: RunFolder;
  readonly #holder: Holder;
  readonly #usages: readonly OverlayUsage[];

  private constructor(options: OverlayOptions, tools: Tools, folder: RunFolder, holder: Holder) {
    this.#options = options;
    this.#tools = tools;
    this.#folder = folder;
    this.#holder = holder;
    const spaces = isRoot() ? ["-m"] : ["-U", "-m", "--preserve-credentials"];
    // The kernel limits memory.
    this.#usages = options.store === "memory"
      ? []
      : options.roots.map((_, index) => new OverlayUsage(this.upper(index), this.#limits));
    this.started = folder.made;
    const before = [tools.nsenter, "-t", String(holder.pid), ...spaces, "--"];
    this.enter = [...before, tools.sh, "-c", ENTER, folder.path];
  }

  /** @throws {Error} one line, after removing everything */
  static async start(options: OverlayOptions): Promise<Overlay> {
    await using stack = new AsyncDisposableStack();
    const tools = await findTools(options.roots);
    const holding = options.roots.find((root) => isInside(options.state, root));
    if (holding !== undefined) throw new Error(`the state folder is in ${holding}`);
    const inside = await mountedIn(options.roots);
    if (inside !== undefined) throw new Error(`another file system is mounted at ${inside}`);
    const folder = stack.use(await RunFolder.create(options.state));
    await Deno.mkdir(join(folder.path, "mem"));
    await Deno.mkdir(join(folder.path, "disk"));
    const holder = stack.use(await Holder.start(tools, MOUNT, mountWords(options, folder.path)));
    const overlay = new Overlay(options, tools, folder, holder);
    await overlay.#likeRoots();
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
    const look = () => this.run(LOOK, [this.#folder.path, this.#uppers, ...roots]);
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
        view: this.#inside("mem", String(index), "view"),
      };
      all.push(await listChanges(layers, this.#limits, signal));
    }
    if (this.#holder.hasEnded) throw new Error("the sandbox is gone");
    return all;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#holder[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Whether the running command has exceeded its limits on disk. In memory its writes fail instead. */
  async isPastLimits(): Promise<boolean> {
    return (await Promise.all(this.#usages.map((usage) => usage.isPastLimits()))).includes(true);
  }

  /** The folder with the writes to a root. */
  upper(index: number): string {
    return this.#inside(this.#uppers, String(index), "upper");
  }

  /** The original root. */
  lower(index: number): string {
    return this.#inside("mem", String(index), "lower");
  }

  /** Whether nothing was written or deleted. */
  get isUntouched(): boolean {
    return this.#options.roots.every((_, index) =>
      Deno.readDirSync(this.upper(index))[Symbol.iterator]().next().done
    );
  }

  /**
   * Runs a script with the overlays in place of the roots.
   * @returns undefined, or the error
   */
  async run(script: string, args: readonly string[]): Promise<string | undefined> {
    const [program = "", ...rest] = this.enter;
    const { success, stderr } = await openProgram("overlay", program, {
      args: [...rest, this.#tools.sh, "-euc", script, "sh", ...args],
      env: this.#tools.env,
      leadsGroup: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    return success ? undefined : firstLine(stderr, "it failed");
  }

  get #limits(): Limits {
    return this.#options.limits ?? LIMITS;
  }

  get #uppers(): "mem" | "disk" {
    return uppers(this.#options);
  }

  /** A path of the run's folder inside of the namespace. */
  #inside(...parts: readonly string[]): string {
    return join(`/proc/${this.#holder.pid}/root`, this.#folder.path, ...parts);
  }

  /** The top folder of the overlay is the upper one, which we created: copy the root's attributes to it. */
  async #likeRoots(): Promise<void> {
    for (const [index, root] of this.#options.roots.entries()) {
      const upper = this.upper(index);
      const info = await Deno.stat(root);
      if (isRoot()) await Deno.chown(upper, info.uid, info.gid);
      if (info.mode !== null) await Deno.chmod(upper, info.mode & 0o7777);
      if (info.mtime !== null) await Deno.utime(upper, info.atime ?? info.mtime, info.mtime);
    }
  }
}

function uppers({ store }: OverlayOptions): "mem" | "disk" {
  return store === "memory" ? "mem" : "disk";
}

const BUSY = "busy";
const BUSY_PAUSE_MS = 10;

/** The folder exists only in the namespace, so that nothing starts on the real roots. */
const ENTER = `[ -d "$0/mem/0/lower" ] || exit 97; exec "$@"`;

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

function mountWords(options: OverlayOptions, run: string): readonly string[] {
  const { roots, caches = [], store, limits: { bytes, files } = LIMITS } = options;
  const size = `size=${bytes},nr_inodes=${files}`;
  const more = store === "disk" ? ",volatile" : "";
  return [run, size, uppers(options), more, String(roots.length), ...roots, ...caches];
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

/** An overlay hides other mounts below its root. Source: proc_pid_mountinfo(5). */
async function mountedIn(roots: readonly string[]): Promise<string | undefined> {
  const text = await Deno.readTextFile("/proc/self/mountinfo");
  const places = text.split("\n").map((line) => unescaped(line.split(" ")[4] ?? ""));
  return places.find((place) => roots.some((root) => place.startsWith(root === "/" ? root : `${root}/`)));
}

function unescaped(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
