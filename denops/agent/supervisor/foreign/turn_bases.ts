/**
 * Old contents of the files that an agent changes in its turn: the bases of merges with what the user saves meanwhile. A
 * base is what the agent began from, or older. A newer one would undo the user's changes: an overlay may still show, and
 * copy, a file as it was when the turn began, so only contents from then are bases.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { isChangedSince } from "../../protocol/commands.ts";
import { infoAt, kindOf, readable } from "../commands/overlay/layer.ts";
import type { TurnRoots } from "../commands/overlay/turn_roots.ts";

/** The state of a path before the agent changed it. */
export type Base =
  | { readonly type: "absent" }
  /** `copy`: path of the content. */
  | { readonly type: "file"; readonly copy: string }
  /** It existed, but its content is unknown. */
  | { readonly type: "unknown" };

/** Between two looks; longer if a look takes long. */
const PAUSE_MS = 1_000;
const PAUSE_SHARE = 20;
/** Larger files are not merged. */
export const LARGEST_MERGED = 2 * 1024 ** 2;
/** Bytes of all copies, and entries of a look. */
const MOST_BYTES = 256 * 1024 ** 2;
const MOST_ENTRIES = 50_000;
/** Yields to other work after this time. */
const SLICE_MS = 8;

export class TurnBases {
  readonly #turnRoots: TurnRoots;
  readonly #roots: readonly string[];
  readonly #spool: string;
  readonly #bases = new Map<string, Base>();
  #bytes = 0;
  #copies = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> = Promise.resolve();

  /**
   * @param roots the first of these
   * @param spool a folder with copies that the editor makes before it writes, as lua/agent/reload/spool.lua does
   */
  constructor(turnRoots: TurnRoots, roots: readonly string[], spool: string) {
    this.#turnRoots = turnRoots;
    this.#roots = roots;
    this.#spool = spool;
  }

  /** Looks repeatedly, until it is stopped. */
  watch(pause = PAUSE_MS): void {
    this.#timer = setTimeout(async () => {
      const start = performance.now();
      await this.look().catch(() => {});
      if (this.#timer !== undefined) {
        this.watch(Math.max(PAUSE_MS, (performance.now() - start) * PAUSE_SHARE));
      }
    }, pause);
    Deno.unrefTimer(Number(this.#timer));
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking.catch(() => {});
  }

  /** Finds the bases of the files that were changed since the last look. */
  look(): Promise<void> {
    this.#looking = this.#looking.catch(() => {}).then(() => this.#look());
    return this.#looking;
  }

  /** Undefined: the last look did not see it. */
  of(root: number, inRoot: string): Base | undefined {
    const base = this.#bases.get(join(this.#roots[root] ?? "", inRoot));
    if (base?.type === "file") return base;
    const copy = join(this.#spool, spoolName(join(this.#roots[root] ?? "", inRoot)));
    if (infoAt(copy)?.isFile) return { type: "file", copy };
    const had = this.#turnRoots.had(root, inRoot);
    return had === undefined ? base : { type: had ? "unknown" : "absent" };
  }

  async #look(): Promise<void> {
    let entries = 0;
    let since = performance.now();
    for (const root of this.#roots.keys()) {
      const folders = [""];
      for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
        const names = readable(() =>
          Array.from(Deno.readDirSync(join(this.#turnRoots.upper(root), folder ?? "")))
        );
        for (const { name, isDirectory } of names ?? []) {
          if (++entries > MOST_ENTRIES) return;
          const path = join(folder, name);
          if (isDirectory) folders.push(path);
          else await this.#note(root, path);
          if (performance.now() - since > SLICE_MS) {
            await new Promise((resolve) => setTimeout(resolve));
            since = performance.now();
          }
        }
      }
    }
  }

  async #note(root: number, inRoot: string): Promise<void> {
    const key = join(this.#roots[root] ?? "", inRoot);
    if (this.#bases.has(key)) return;
    const path = join(this.#turnRoots.lower(root), inRoot);
    const info = infoAt(path);
    const kind = kindOf(info);
    if (info === undefined) this.#bases.set(key, { type: "absent" });
    else if (kind !== "file" || info.size > LARGEST_MERGED || this.#bytes + info.size > MOST_BYTES) {
      this.#bases.set(key, { type: "unknown" });
    } else this.#bases.set(key, await this.#copy(path, info));
  }

  async #copy(path: string, info: Deno.FileInfo): Promise<Base> {
    const unknown = { type: "unknown" } as const;
    const { started } = this.#turnRoots;
    if (isChangedSince(info, started)) return unknown;
    const folder = join(this.#turnRoots.copies, "bases");
    await Deno.mkdir(folder, { recursive: true });
    const copy = join(folder, String(this.#copies++));
    try {
      await Deno.copyFile(path, copy);
      await Deno.chmod(copy, 0o600);
    } catch {
      return unknown;
    }
    const after = infoAt(path);
    const isSame = after !== undefined && after.ino === info.ino && after.size === info.size &&
      after.mtime?.getTime() === info.mtime?.getTime() && !isChangedSince(after, started);
    if (!isSame) return unknown;
    this.#bytes += info.size;
    return { type: "file", copy };
  }
}

/** The name of a path's copy in the spool, as lua/agent/reload/spool.lua makes it. */
function spoolName(path: string): string {
  return createHash("sha256").update(path).digest("hex");
}
