/**
 * The namespace in which overlays are mounted, and the folder of their layers. A command's own sandbox is created inside
 * of it, as it would be outside.
 *
 * Sources: bwrap(1), nsenter(1), setns(2), proc_pid_mountinfo(5).
 */
import { join } from "node:path";
import { isInside } from "../../../policy/path.ts";
import { openProgram } from "../../system/programs.ts";
import { findTools, firstLine, Holder, isRoot, type Tools } from "./holder.ts";
import { RunFolder } from "./run_folder.ts";

interface NamespaceOptions {
  /** Real paths. */
  readonly roots: readonly string[];
  /** The supervisor's folder, a real path that is hidden from commands. */
  readonly state: string;
}

export class OverlayNamespace implements AsyncDisposable {
  /**
   * The command line that starts a program in the namespace. The program starts in `/`, with all capabilities of the
   * namespace; without the overlays it does not start.
   */
  readonly enter: readonly string[];
  /** Creation time by the file system's clock: milliseconds since 1970. */
  readonly started: number;
  readonly #tools: Tools;
  readonly #folder: RunFolder;
  readonly #holder: Holder;

  private constructor(tools: Tools, folder: RunFolder, holder: Holder) {
    this.#tools = tools;
    this.#folder = folder;
    this.#holder = holder;
    this.started = folder.made;
    const spaces = isRoot() ? ["-m"] : ["-U", "-m", "--preserve-credentials"];
    const before = [tools.nsenter, "-t", String(holder.pid), ...spaces, "--"];
    this.enter = [...before, tools.sh, "-c", ENTER, folder.path];
  }

  /**
   * The folder contains `mem` and `disk`; the script mounts the first as memory.
   * @param script creates the mounts, with all capabilities of the namespace; "$1" is the folder
   * @throws {Error} one line, after removing everything
   */
  static async open(
    { roots, state }: NamespaceOptions,
    script: string,
    words: readonly string[],
  ): Promise<OverlayNamespace> {
    await using stack = new AsyncDisposableStack();
    const tools = await findTools(roots);
    const holding = roots.find((root) => isInside(state, root));
    if (holding !== undefined) throw new Error(`the state folder is in ${holding}`);
    const inside = await mountedIn(roots);
    if (inside !== undefined) throw new Error(`another file system is mounted at ${inside}`);
    const folder = stack.use(await RunFolder.create(state));
    await Deno.mkdir(join(folder.path, "mem"));
    await Deno.mkdir(join(folder.path, "disk"));
    const holder = stack.use(await Holder.start(tools, script, [folder.path, ...words]));
    stack.move();
    return new OverlayNamespace(tools, folder, holder);
  }

  get hasEnded(): boolean {
    return this.#holder.hasEnded;
  }

  /** The folder's path inside of the namespace. */
  get folder(): string {
    return this.#folder.path;
  }

  /** A path of the folder, as this process reaches it. */
  path(...parts: readonly string[]): string {
    return join(`/proc/${this.#holder.pid}/root`, this.#folder.path, ...parts);
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#holder[Symbol.asyncDispose]();
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** The folder exists only in the namespace, so that nothing starts on the real roots. */
const ENTER = `[ -d "$0/mem/0/lower" ] || exit 97; exec "$@"`;

/** The top folder of an overlay is the upper one, which we created: copies the root's attributes to it. */
export async function likeRoot(root: string, upper: string): Promise<void> {
  const info = await Deno.stat(root);
  if (isRoot()) await Deno.chown(upper, info.uid, info.gid);
  if (info.mode !== null) await Deno.chmod(upper, info.mode & 0o7777);
  if (info.mtime !== null) await Deno.utime(upper, info.atime ?? info.mtime, info.mtime);
}

/** An overlay hides other mounts below its root. */
async function mountedIn(roots: readonly string[]): Promise<string | undefined> {
  const text = await Deno.readTextFile("/proc/self/mountinfo");
  const places = text.split("\n").map((line) => unescaped(line.split(" ")[4] ?? ""));
  return places.find((place) => roots.some((root) => place.startsWith(root === "/" ? root : `${root}/`)));
}

function unescaped(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
