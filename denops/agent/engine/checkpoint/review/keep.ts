/**
 * Applies a command's rehearsed changes file by file, with the same care as an undo: unsaved buffers are merged, and
 * changes that others made since the command began stay.
 */
import { dirname, join, relative, resolve, sep } from "node:path";
import { isChangedSince } from "../../../protocol/commands.ts";
import type { KeptChange } from "../../../protocol/screen_requests.ts";
import {
  ABSENT,
  type CheckpointStore,
  type Contents,
  type FileRecord,
  type NewCheckpoint,
  sameSnapshot,
  type Snapshot,
} from "../../log/checkpoints.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import { CHANGED_MEANWHILE, type Effects, type Keeper, type Kept } from "../../ports/commands.ts";
import { Ignored } from "../ignored.ts";
import { opened } from "../restore/opened.ts";
import { pauses } from "../../../shared/pauses.ts";
import { Disk } from "../restore/planned_tree.ts";
import { type CarriedOut, Restorer, type RestorerOptions } from "../restore/restorer.ts";
import { LARGEST_SCANNED, SCAN_LIMITS } from "../scanner.ts";
import { lstat } from "../snapshot.ts";
import { Spool } from "../spool.ts";
import type { TurnFiles } from "../turn_files.ts";

interface KeeperOptions extends Omit<RestorerOptions, "store" | "syncsNew"> {
  readonly session: string;
  readonly contents: Contents;
  /** Records the work while it continues. */
  readonly recorder: Pick<CheckpointStore, "begin" | "finish">;
  readonly counts: Pick<TurnFiles, "list">;
  /** Folder for contents in transit; undefined: the system's temporary folder. */
  readonly state: string | undefined;
  /** The current turn. */
  turn(): number;
}

type Left = Kept["left"][number];

/** With more files lines are not counted, and new files are not announced, because no buffer shows them. */
const MOST_COUNTED = 1_000;

/** Contents that are stored at once. */
const STORED = 50;

export class CommandKeeper implements Keeper {
  readonly #options: KeeperOptions;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  async keep(effects: Effects, toolCall: string, signal: AbortSignal): Promise<Kept> {
    const { session, turn, recorder, state, contents, journal } = this.#options;
    const { changes, left, leftMore } = await agreed(effects, signal);
    using spool = await Spool.of(changes, effects, { folder: state, journal, contents }, signal);
    let hasBegun = false;
    const restorer = new Restorer({
      ...this.#options,
      store: {
        contents: spool,
        begin(checkpoint, files) {
          const id = recorder.begin(checkpoint, files);
          hasBegun = true;
          return id;
        },
        finish: (id, files) => recorder.finish(id, files),
      },
      syncsNew: false,
    });
    // All files are examined before the first write, because a write also changes a file's other names.
    const disk = new Disk(spool, this.#options.roots);
    const look = new Look(disk, spool, effects.started, this.#options.roots);
    const records = await look.records(changes);
    const plan = await restorer.plan([records], signal, disk);
    await this.#store(records, spool);
    signal.throwIfAborted();
    const checkpoint: NewCheckpoint = { session, turn: turn(), kind: "tool", toolCall };
    // A partial result helps nobody, so stopping the turn does not interrupt it.
    const done = await restorer.carryOut(plan, checkpoint, new AbortController().signal).catch((error) => {
      if (!hasBegun) throw error;
      const warning = "Some of what the command changed may have been kept";
      throw new ToolError(`${warning}: ${messageOf(error)}. Look before you go on.`);
    });
    return {
      ...this.#counts(done),
      left: [...left, ...look.left, ...refused(done)],
      leftMore,
    };
  }

  /** Stores contents for a redo. Ignored and huge files only keep their hash. */
  async #store(records: readonly FileRecord[], spool: Spool): Promise<void> {
    const { roots, contents } = this.#options;
    const ignored = roots.map((root) => ({ root, rules: new Ignored(root) }));
    const pause = pauses();
    const waiting: Uint8Array[] = [];
    let room = SCAN_LIMITS.bytes;
    for (const { path, before: target, after: now } of records) {
      await pause();
      if (target.type !== "file" || now.type !== "absent") continue;
      const size = spool.size(target.blob);
      const home = ignored.find(({ root }) => path.startsWith(root + sep));
      if (size > Math.min(room, LARGEST_SCANNED) || home?.rules.hides(relative(home.root, path))) continue;
      room -= size;
      waiting.push(spool.get(target.blob));
      if (waiting.length === STORED) contents.putAll(waiting.splice(0));
    }
    contents.putAll(waiting);
  }

  #counts({ records, changes }: CarriedOut): Pick<Kept, "files" | "changes"> {
    const isFile = ({ before, after }: FileRecord) =>
      [before, after].some(({ type }) => type === "file" || type === "link");
    const files = records.filter(isFile).sort((a, b) => a.path < b.path ? -1 : 1);
    if (files.length <= MOST_COUNTED) return { files: this.#options.counts.list(files), changes };
    const sources = new Set(files.flatMap(({ renamedFrom }) => renamedFrom ?? []));
    return {
      files: files.filter(({ path }) => !sources.has(path)),
      changes: changes.filter(({ kind }) => kind !== "created"),
    };
  }
}

async function agreed(effects: Effects, signal: AbortSignal) {
  const changes: KeptChange[] = [];
  const left: Left[] = [];
  let leftMore = 0;
  for (let from: number | undefined = 0; from !== undefined;) {
    const page = await effects.agreed(from, signal);
    changes.push(...page.changes);
    if (from === 0) {
      left.push(...page.left);
      leftMore = page.leftMore;
    }
    if (page.next !== undefined && page.next <= from) throw new Error("the list does not come to an end");
    from = page.next;
  }
  return { changes, left, leftMore };
}

function refused({ files }: CarriedOut): readonly Left[] {
  return files.flatMap(({ path, outcome, text = CHANGED_MEANWHILE }) => {
    if (outcome !== "conflict" && outcome !== "skipped") return [];
    return [{ path, why: text.includes("\n") ? "other unsaved changes of the same lines" : text }];
  });
}

/** Compares the current files with those that the command found. */
class Look {
  readonly left: Left[] = [];
  readonly #disk: Disk;
  readonly #contents: Contents;
  /** Milliseconds since 1970, by the file system's clock. */
  readonly #started: number;
  readonly #roots: readonly string[];
  readonly #pause = pauses();

  constructor(disk: Disk, contents: Contents, started: number, roots: readonly string[]) {
    this.#disk = disk;
    this.#contents = contents;
    this.#started = started;
    this.#roots = roots;
  }

  /** Records as for a restore: each `before` is the target, each `after` the current state. */
  async records(changes: readonly KeptChange[]): Promise<readonly FileRecord[]> {
    const records = new Map<string, FileRecord>();
    for (const change of changes) {
      const found = await this.#recordsOf(change);
      if (typeof found === "string") this.left.push({ path: change.path, why: found });
      else for (const record of found) records.set(record.path, record);
    }
    const refused = new Set(this.left.map(({ path }) => path));
    for (const { path, from } of changes) {
      const source = from === undefined ? undefined : records.get(from);
      if (source === undefined) continue;
      if (!refused.has(path)) records.set(source.path, { ...source, renamedFrom: path });
      else {
        records.delete(source.path);
        this.left.push({ path: source.path, why: "it cannot go where it was to go" });
      }
    }
    return [...records.values()];
  }

  /** A string is the reason for a refusal. */
  async #recordsOf({ path, before, after }: KeptChange): Promise<FileRecord[] | string> {
    if (this.#roots.includes(path)) return "the project's own folder keeps its mode";
    const isInside = this.#roots.some((root) => path.startsWith(root + sep)) && resolve(path) === path;
    if (!isInside) return "it is outside of the project";
    const target = imageOf(after);
    if (target.type === "file" && !this.#contents.has(target.blob)) return "its content did not arrive";
    const now = await this.#unchanged(path);
    const there = await this.#disk.at(path);
    if (sameSnapshot(there, target)) return [];
    // An identical folder that somebody else created is not a conflict.
    if (before === undefined && target.type === "folder" && there.type === "folder") return [];
    if (now === undefined || now.type !== (before ?? "absent")) return CHANGED_MEANWHILE;
    const below = now.type === "folder" && target.type !== "folder" ? await this.#below(path) : [];
    return below === undefined ? CHANGED_MEANWHILE : [{ path, before: target, after: now }, ...below];
  }

  /** The content of a folder that is to be deleted; undefined if any of it was changed. */
  async #below(folder: string): Promise<FileRecord[] | undefined> {
    const records: FileRecord[] = [];
    const folders = [folder];
    for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
      for (const name of await this.#disk.namesIn(at)) {
        const path = join(at, name);
        const now = await this.#unchanged(path);
        if (now === undefined) return undefined;
        if (now.type === "folder") folders.push(path);
        records.push({ path, before: ABSENT, after: now });
      }
    }
    return records;
  }

  /** The current image; undefined if it changed since the command began, or is changing. */
  async #unchanged(path: string): Promise<Snapshot | undefined> {
    await this.#pause();
    if ((await this.#disk.at(dirname(path))).type !== "folder") return ABSENT;
    const first = await this.#lstat(path);
    if (first !== undefined && isChangedSince(first, this.#started)) return undefined;
    const now = await this.#disk.at(path);
    // A closed file was opened for reading.
    if (first === undefined || ((first.mode ?? 0) & 0o400) === 0) return now;
    const second = await this.#lstat(path);
    return second !== undefined && sameTimes(first, second) ? now : undefined;
  }

  #lstat(path: string): Promise<Deno.FileInfo | undefined> {
    return opened(path, false, this.#roots, () => lstat(path));
  }
}

function sameTimes(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.ctime?.getTime() === b.ctime?.getTime() && a.mtime?.getTime() === b.mtime?.getTime() &&
    a.ino === b.ino && a.size === b.size;
}

function imageOf(after: KeptChange["after"]): Snapshot {
  if (after === undefined) return ABSENT;
  return after.type === "file" ? { type: "file", mode: after.mode, blob: after.hash } : after;
}
