/**
 * Scans the project before and after a command, so that its changes can be undone. Files with unchanged size, times and
 * inode are not read again, so only a project's first scan is slow.
 */
import { createHash } from "node:crypto";
import { dirname, join, sep } from "node:path";
import {
  ABSENT,
  type CheckpointStore,
  type Contents,
  type FileRecord,
  sameSnapshot,
  type ScannedFile,
  type Snapshot,
} from "../log/checkpoints.ts";
import { messageOf } from "../../shared/errors.ts";
import { Ignored, isNeverSeen } from "./ignored.ts";
import { opened } from "./restore/opened.ts";
import { pauses } from "../../shared/pauses.ts";
import { type ContentSink, modeOf, snapshotOf } from "./snapshot.ts";

/** Larger projects are not scanned, so commands there cannot be undone. */
export const SCAN_LIMITS = { files: 20_000, bytes: 300_000_000 } as const;

/** The scanner detects changes of larger files, but does not store their contents. */
export const LARGEST_SCANNED = 10_000_000;

/** Folders of a larger project that are searched for watched files. */
const MOST_FOLDERS = 50_000;

/** Ignored files that are watched; with more, they are not settings. */
const MOST_WATCHED = 2_000;

/** A file this young may change again with the same times, as in git's rule for racily clean entries. */
const UNSETTLED_MS = 2_000;

type Index = ReadonlyMap<string, Snapshot>;

export interface ProjectScan {
  readonly index: Index;
  /** Inode numbers. */
  readonly numbers: ReadonlyMap<string, number>;
  /** The ignore rules of this scan, for the comparison with the next. */
  readonly ignored: ReadonlyMap<string, Ignored>;
  /** The project is too large: the index only holds watched files. */
  readonly partial: boolean;
}

export interface ScannerOptions {
  /** Real paths. */
  readonly roots: readonly string[];
  readonly store: CheckpointStore;
  readonly limits?: { readonly files: number; readonly bytes: number } | undefined;
  /** Files that are scanned even if git ignores them. */
  isWatched?(path: string): boolean;
}

interface Found {
  readonly path: string;
  readonly info: Deno.FileInfo;
}

export class ProjectScanner {
  readonly #options: ScannerOptions;
  #known: Map<string, ScannedFile> | undefined;

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  /** The last scan by any process. */
  last(): ProjectScan {
    const known = [...this.#load().values()];
    return {
      index: new Map(known.map(({ path, image }) => [path, image])),
      numbers: new Map(known.map(({ path, ino }) => [path, ino])),
      ignored: new Map(),
      partial: false,
    };
  }

  /**
   * @param before its ignored files stay ignored, so a command that changes the rules creates nothing @returns
   * undefined if the project is too large
   */
  async scan(before?: ProjectScan): Promise<ProjectScan | undefined> {
    const { store } = this.#options;
    const known = this.#load();
    try {
      return await this.#scan(before, known, storing(store.contents), (changed, gone) => {
        store.setScanned(changed, gone);
      });
    } catch (error) {
      // Files that could not be stored must be read again.
      this.#known = undefined;
      throw error;
    }
  }

  /** Like `scan`, but without storing contents. */
  look(before: ProjectScan): Promise<ProjectScan | undefined> {
    return this.#scan(before, new Map(this.#load()), HASHES, () => {});
  }

  async #scan(
    before: ProjectScan | undefined,
    known: Map<string, ScannedFile>,
    contents: ContentSink,
    done: (changed: readonly ScannedFile[], gone: readonly string[]) => void,
  ): Promise<ProjectScan | undefined> {
    const { roots } = this.#options;
    const ignored = new Map(roots.map((root) => [root, new Ignored(root)]));
    const started = Date.now();
    const whole = await this.#walk(ignored, before?.ignored, false);
    const found = whole ?? await this.#walk(ignored, before?.ignored, true);
    if (found === undefined) return undefined;
    const partial = whole === undefined;
    // Changed rules may hide a file that still exists.
    for (const path of before?.index.keys() ?? []) {
      if (found.has(path) || (partial && !this.#isWatched(path)) || !hasRealFolder(path)) continue;
      const info = await this.#statOf(path);
      if (info !== undefined) found.set(path, { path, info });
    }
    const changed: ScannedFile[] = [];
    const index = new Map<string, Snapshot>();
    const numbers = new Map<string, number>();
    const pause = pauses();
    for (const one of found.values()) {
      await pause();
      const scanned = await this.#look(one, known.get(one.path), started, contents);
      if (scanned === undefined) continue;
      index.set(one.path, scanned.image);
      if (scanned.ino !== 0) numbers.set(one.path, scanned.ino);
      if (scanned === known.get(one.path)) continue;
      changed.push(scanned);
      known.set(one.path, scanned);
    }
    const gone = partial ? [] : [...known.keys()].filter((path) => !index.has(path));
    for (const path of gone) known.delete(path);
    done(changed, gone.filter((path) => this.#isOurs(path)));
    return { index, numbers, ignored, partial };
  }

  /** The changes between two scans; if one was partial, the changes of files that both contain. */
  changes(before: ProjectScan, after: ProjectScan): readonly FileRecord[] {
    if (!before.partial && !after.partial) return scanChanges(before, after);
    const seen = (scan: ProjectScan): ProjectScan => ({
      ...scan,
      index: new Map([...scan.index].filter(([path]) => this.#isWatched(path))),
    });
    return scanChanges(seen(before), seen(after));
  }

  #isWatched(path: string): boolean {
    return this.#options.isWatched?.(path) === true;
  }

  #load(): Map<string, ScannedFile> {
    return this.#known ??= new Map(
      this.#options.store.scanned().filter(({ path }) => this.#isOurs(path)).map((file) => [file.path, file]),
    );
  }

  /** Sessions with other folders share the table. */
  #isOurs(path: string): boolean {
    return this.#options.roots.some((root) => path.startsWith(root + sep));
  }

  async #walk(
    ignored: ReadonlyMap<string, Ignored>,
    before: ReadonlyMap<string, Ignored> | undefined,
    partial: boolean,
  ): Promise<Map<string, Found> | undefined> {
    const { limits = SCAN_LIMITS } = this.#options;
    let walked = 0;
    const found = new Map<string, Found>();
    const pause = pauses();
    let bytes = 0;
    let watched = 0;
    for (const [root, rules] of ignored) {
      const folders = [""];
      for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
        await pause();
        if (++walked > MOST_FOLDERS) return undefined;
        for (const { name, isDirectory } of await this.#entriesOf(join(root, folder))) {
          const path = join(root, folder, name);
          if ([rules, before?.get(root)].some((one) => one?.has(folder, name, isDirectory))) {
            if (isNeverSeen(name) || !this.#isWatched(path) || ++watched > MOST_WATCHED) continue;
          }
          if (partial && isDirectory) folders.push(folder === "" ? name : `${folder}/${name}`);
          if (partial && !this.#isWatched(path)) continue;
          const info = await this.#statOf(path);
          if (info === undefined) continue;
          found.set(path, { path, info });
          if (info.isFile && info.size <= LARGEST_SCANNED) bytes += info.size;
          if (found.size > limits.files || bytes > limits.bytes) return undefined;
          if (info.isDirectory && !partial) folders.push(folder === "" ? name : `${folder}/${name}`);
        }
      }
    }
    return found;
  }

  async #entriesOf(folder: string): Promise<readonly Deno.DirEntry[]> {
    try {
      return [...Deno.readDirSync(folder)];
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) return [];
      const { roots } = this.#options;
      return await opened(folder, true, roots, () => Array.fromAsync(Deno.readDir(folder))).catch(() => []);
    }
  }

  async #statOf(path: string): Promise<Deno.FileInfo | undefined> {
    try {
      return Deno.lstatSync(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) return undefined;
      return await opened(path, false, this.#options.roots, () => Deno.lstat(path)).catch(() => undefined);
    }
  }

  /** @returns the known image if nothing has changed; undefined if the file is unreadable or not worth storing */
  async #look(
    { path, info }: Found,
    known: ScannedFile | undefined,
    started: number,
    sink: ContentSink,
  ): Promise<ScannedFile | undefined> {
    const { roots, store: { contents } } = this.#options;
    const [mtime, ctime] = [info.mtime?.getTime() ?? 0, info.ctime?.getTime() ?? 0];
    const stat = { size: info.size, mtime, ctime, ino: info.ino ?? 0 };
    const mode = modeOf(info);
    if (known?.image.type === "file" && info.isFile) {
      const same = known.settled && known.image.mode === mode && known.size === stat.size &&
        known.mtime === mtime && known.ctime === ctime && known.ino === stat.ino;
      if (same && (stat.size > LARGEST_SCANNED || contents.has(known.image.blob))) return known;
    }
    try {
      const image = await opened(
        path,
        true,
        roots,
        () => snapshotOf(path, info, sink, LARGEST_SCANNED),
      );
      if (image.type === "other") return undefined;
      const settled = started - Math.max(mtime, ctime) > UNSETTLED_MS;
      const scanned: ScannedFile = { path, image, ...stat, settled };
      const unchanged = known !== undefined && sameSnapshot(known.image, image) &&
        known.settled === settled &&
        known.mtime === mtime && known.ctime === ctime && known.ino === stat.ino;
      return unchanged ? known : scanned;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      // The file became unreadable; its content is known if only its mode changed.
      const same = known?.image.type === "file" && known.size === stat.size && known.mtime === mtime &&
        known.ino === stat.ino;
      return same ? { ...known, image: { ...known.image, mode }, ctime, settled: false } : undefined;
    }
  }
}

/** False below a folder that became a link. */
function hasRealFolder(path: string): boolean {
  try {
    return Deno.realPathSync(dirname(path)) === dirname(path);
  } catch {
    return false;
  }
}

/** An error of the store, not of a file. */
class StoreError extends Error {}

const HASHES: ContentSink = {
  put: (bytes) => createHash("sha256").update(bytes).digest("hex"),
  async putParts(open) {
    const hash = createHash("sha256");
    for await (const part of open()) hash.update(part);
    return hash.digest("hex");
  },
};

function storing(contents: Contents): ContentSink {
  const failed = (error: unknown): never => {
    throw new StoreError(messageOf(error));
  };
  return {
    put(bytes) {
      try {
        return contents.put(bytes);
      } catch (error) {
        return failed(error);
      }
    },
    putParts: (open) => contents.putParts(open).catch(failed),
  };
}

/** The changes between two scans. A file with the same inode and content under another name was moved. */
function scanChanges(before: ProjectScan, after: ProjectScan): readonly FileRecord[] {
  const records: FileRecord[] = [];
  for (const path of new Set([...before.index.keys(), ...after.index.keys()])) {
    const [was, is] = [before.index.get(path) ?? ABSENT, after.index.get(path) ?? ABSENT];
    if (!sameSnapshot(was, is)) records.push({ path, before: was, after: is });
  }
  // A new file may get the inode number of a deleted one.
  const key = (scan: ProjectScan, path: string, image: Snapshot) =>
    image.type === "file" && scan.numbers.has(path) ? `${scan.numbers.get(path)} ${image.blob}` : undefined;
  const gone = new Map(
    records.filter(({ after }) => after.type === "absent").map((record) => [
      key(before, record.path, record.before),
      record.path,
    ]),
  );
  return records.map((record) => {
    const found = record.before.type === "absent" ? key(after, record.path, record.after) : undefined;
    const from = found === undefined ? undefined : gone.get(found);
    if (found === undefined || from === undefined) return record;
    // Each file moves to one path; other paths with its number are hard links.
    gone.delete(found);
    return { ...record, renamedFrom: from };
  });
}
