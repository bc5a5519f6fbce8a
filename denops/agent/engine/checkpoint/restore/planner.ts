/**
 * Plans a restore from the newest change to the oldest, each against the project as left by the ones before. Files are
 * restored completely or not at all: one refused change of a file refuses all of its changes, and those of paths that
 * it moved from or to.
 */
import { dirname, relative, sep } from "node:path";
import {
  ABSENT,
  type Contents,
  type FileRecord,
  sameSnapshot,
  type Snapshot,
} from "../../log/checkpoints.ts";
import { messageOf } from "../../../shared/errors.ts";
import type { Editor } from "../../ports/editor.ts";
import type { TextFormat } from "../../../shared/text/text.ts";
import { conflictText, merge3 } from "../../../shared/text/merge.ts";
import { type Changes, netChanges, originsOf, pieces } from "../review/net.ts";
import { decide, textOf } from "./plan.ts";
import { pauses } from "../../../shared/pauses.ts";
import { Disk, PlannedTree } from "./planned_tree.ts";

interface PlannerOptions {
  readonly contents: Contents;
  readonly editor: Editor;
  /** Real paths. */
  readonly roots: readonly string[];
  /** Images that are already known. */
  readonly disk?: Disk;
}

export interface Restored {
  readonly path: string;
  /** The current path. */
  readonly from?: string;
  readonly outcome: "restored" | "merged" | "conflict" | "unchanged" | "skipped";
  /** The reason for doing nothing, or both sides of a conflict. */
  readonly text?: string;
}

/** The step for one path. */
export interface RestoreStep {
  readonly path: string;
  readonly now: Snapshot;
  readonly image: Snapshot;
  /** The existing file to move. */
  readonly from?: string;
  /** The temporary path of a new file, which the journal knows. */
  readonly temporary?: string;
  /** All names of the file (hard links) get this image. */
  readonly hasAllNames?: boolean;
}

/** A change to a buffer with unsaved text, instead of its file. */
export interface BufferStep {
  readonly unsaved: string;
  readonly merged: string;
  /** The current or future format of the buffer's file. */
  readonly format: TextFormat;
  readonly mode: number | undefined;
}

export interface RestorePlan {
  /** By path, without folders. */
  readonly files: readonly Restored[];
  /** By path. */
  readonly steps: ReadonlyMap<string, RestoreStep>;
  readonly buffers: ReadonlyMap<string, BufferStep>;
  /** Paths that stay as they are, and folders that stay because of them. */
  readonly left: ReadonlySet<string>;
}

interface Refusal {
  readonly outcome: "conflict" | "skipped";
  readonly text: string;
}

/** One change, or both halves of a move. */
interface Taking {
  readonly record: FileRecord;
  /** The file before the move. */
  readonly source?: FileRecord;
  /** Earlier paths of its content: it stays here unless it returns there. */
  readonly origins: readonly string[];
}

export async function planTaking(
  changes: Changes,
  options: PlannerOptions,
  signal: AbortSignal,
): Promise<RestorePlan> {
  const backwards = pieces(changes).toReversed().map(takingsOf);
  const disk = options.disk ?? new Disk(options.contents, options.roots);
  const unsaved = new Map<string, string | undefined>();
  const refused = new Map<string, Refusal>();
  for (;;) {
    const known = refused.size;
    const pass = new Pass(disk, unsaved, refused, options, signal);
    for (const takings of backwards) await pass.take(takings);
    if (refused.size === known) return await pass.plan();
  }
}

function takingsOf(piece: Changes): readonly Taking[] {
  const records = netChanges(piece);
  const moves = originsOf(piece);
  const byPath = new Map(records.map((record) => [record.path, record]));
  const sources = new Set(records.flatMap(({ renamedFrom }) => renamedFrom ?? []));
  const replaced = Map.groupBy(
    records.filter((record) => isReplaced(record) && !sources.has(record.path)),
    ({ before }) => blobOf(before),
  );
  return records.filter(({ path }) => !sources.has(path)).map((record) => {
    const { path, renamedFrom } = record;
    const source = renamedFrom === undefined ? undefined : byPath.get(renamedFrom);
    if (source !== undefined) return { record, source, origins: [] };
    // Commands do not report that a move replaced a file.
    const blob = isReplaced(record) ? blobOf(record.after) : undefined;
    const before = blob === undefined ? [] : replaced.get(blob) ?? [];
    const moved = moves.get(path);
    const origins = [...before.map(({ path }) => path), ...(moved === undefined ? [] : [moved])];
    return { record, origins: origins.filter((origin) => origin !== path) };
  });
}

function blobOf(image: Snapshot): string | undefined {
  return image.type === "file" ? image.blob : undefined;
}

function isReplaced({ before, after }: FileRecord): boolean {
  return blobOf(before) !== blobOf(after);
}

/** One attempt, which knows the refusals of earlier attempts. */
class Pass {
  readonly #disk: Disk;
  readonly #tree: PlannedTree;
  readonly #unsaved: Map<string, string | undefined>;
  readonly #refused: Map<string, Refusal>;
  readonly #options: PlannerOptions;
  readonly #signal: AbortSignal;
  readonly #files = new Map<string, Restored>();
  readonly #buffers = new Map<string, BufferStep>();
  /** Future path → current path on disk. */
  readonly #moved = new Map<string, string>();
  readonly #folders = new Set<string>();
  /** Folders that are not empty. */
  readonly #fullFolders = new Set<string>();

  constructor(
    disk: Disk,
    unsaved: Map<string, string | undefined>,
    refused: Map<string, Refusal>,
    options: PlannerOptions,
    signal: AbortSignal,
  ) {
    this.#disk = disk;
    this.#tree = new PlannedTree(disk);
    this.#unsaved = unsaved;
    this.#refused = refused;
    this.#options = options;
    this.#signal = signal;
  }

  /** Frees the deepest paths first, then fills the highest first. */
  async take(takings: readonly Taking[]): Promise<void> {
    const puts: { readonly path: string; readonly image: Snapshot; readonly taking: Taking }[] = [];
    const pause = pauses();
    const deepest = [...takings].sort((a, b) => b.record.path.length - a.record.path.length);
    for (const taking of deepest) {
      await pause();
      const put = await this.#free(taking);
      if (put !== undefined) puts.push({ ...put, taking });
    }
    for (const { path, image, taking } of puts.sort((a, b) => a.path.length - b.path.length)) {
      const why = await this.#blocked(path);
      if (why === undefined) this.#tree.set(path, image);
      else this.#refuse(taking, { outcome: "skipped", text: why });
    }
  }

  async plan(): Promise<RestorePlan> {
    const steps = new Map<string, RestoreStep>();
    for (const [path, image] of this.#tree.planned) {
      const now = await this.#disk.at(path);
      if (sameSnapshot(now, image)) continue;
      const from = this.#moved.get(path);
      steps.set(path, { path, now, image, ...(from === undefined ? {} : { from }) });
    }
    for (const [path, refusal] of this.#refused) {
      const { from } = this.#files.get(path) ?? {};
      this.#files.set(path, { path, ...(from === undefined ? {} : { from }), ...refusal });
    }
    // A refused move is reported once.
    const ends = new Set(
      [...this.#files.values()].flatMap(({ path, from }) =>
        from !== undefined && this.#refused.has(path) ? [from] : []
      ),
    );
    const files = [...this.#files.values()].filter(({ path }) => !this.#folders.has(path) && !ends.has(path));
    const fullFolders = [...this.#fullFolders].filter((folder) =>
      [...this.#refused.keys()].some((path) => path.startsWith(folder + sep))
    );
    return {
      files: files.sort((a, b) => a.path < b.path ? -1 : 1),
      steps,
      buffers: this.#buffers,
      left: new Set([...this.#refused.keys(), ...fullFolders]),
    };
  }

  /** Frees a path. @returns the image to put there, if any */
  async #free(taking: Taking): Promise<{ readonly path: string; readonly image: Snapshot } | undefined> {
    const { record, source } = taking;
    if (isFolder(record)) this.#folders.add(record.path);
    const paths = [record.path, ...(source === undefined ? [] : [source.path])];
    const known = paths.map((path) => this.#refused.get(path)).find((refusal) => refusal !== undefined);
    const why = paths.map((path) => this.#forbidden(path)).find((text) => text !== undefined);
    if (known !== undefined) return void this.#refuse(taking, known);
    if (why !== undefined) return void this.#refuse(taking, { outcome: "skipped", text: why });
    if (taking.origins.some((path) => this.#refused.has(path))) {
      return void this.#refuse(taking, {
        outcome: "skipped",
        text: "it holds what was in a file that stays",
      });
    }
    try {
      if (source !== undefined && await this.#isMove(record, source)) return await this.#freeMoved(taking);
      if (source !== undefined) {
        // As two independent changes.
        const put = await this.#freeOne({ record: source, origins: [] });
        return await this.#freeOne({ record, origins: [] }) ?? put;
      }
      return await this.#freeOne(taking);
    } catch (error) {
      this.#signal.throwIfAborted();
      return void this.#refuse(taking, { outcome: "skipped", text: messageOf(error) });
    }
  }

  async #isMove({ path }: FileRecord, source: FileRecord): Promise<boolean> {
    const now = await this.#tree.at(path);
    return now.type !== "absent" && now.type !== "folder" &&
      !sameSnapshot(await this.#tree.at(source.path), source.before);
  }

  /** A moved file returns with the user's changes. */
  async #freeMoved(taking: Taking) {
    const { record: { path: from, after: left }, source } = taking;
    if (source === undefined) return undefined;
    const { path, before: then } = source;
    const there = await this.#tree.at(path);
    if (there.type !== "absent") {
      return void this.#refuse(taking, { outcome: "conflict", text: `there is a ${there.type} by now` });
    }
    const now = await this.#tree.at(from);
    const decision = decide({ now, left, then }, this.#options.contents);
    if (decision.outcome === "conflict" || decision.outcome === "skipped") {
      return void this.#refuse(taking, decision);
    }
    const image = "image" in decision ? decision.image : now;
    const first = this.#moved.get(from) ?? from;
    this.#moved.delete(from);
    this.#moved.set(path, first);
    this.#tree.set(from, ABSENT);
    const outcome = this.#worse(from, sameSnapshot(image, then) ? "restored" : "merged");
    this.#files.delete(from);
    this.#files.set(path, { path, from: first, outcome });
    return { path, image };
  }

  async #freeOne(taking: Taking) {
    const { record: { path, after: left, before: then } } = taking;
    const now = await this.#tree.at(path);
    if (isFolder(taking.record)) return await this.#freeFolder(path, { now, left, then });
    const unsaved = left.type === "file" && now.type !== "link" ? await this.#unsavedAt(path) : undefined;
    if (unsaved !== undefined) return void this.#intoBuffer(taking, now, unsaved);
    // A missing folder is not a conflict.
    const isFree = now.type === "absent" && [left, then].some(({ type }) => type === "folder");
    const decision = isFree
      ? { outcome: "restored", image: then } as const
      : decide({ now, left, then }, this.#options.contents);
    if (decision.outcome === "conflict" || decision.outcome === "skipped") {
      const text = now.type === "absent" ? await this.#inTheWay(dirname(path)) : undefined;
      return void this.#refuse(taking, text === undefined ? decision : { outcome: "skipped", text });
    }
    // A file that came here by a reverted move still has its old name on disk.
    const currentPath = this.#moved.get(path) ?? path;
    this.#files.set(currentPath, { path: currentPath, outcome: this.#worse(path, decision.outcome) });
    if (currentPath !== path) this.#files.delete(path);
    if (!("image" in decision)) return undefined;
    const { image } = decision;
    if (now.type === "folder" && !await this.#tree.isEmpty(path)) {
      return void this.#refuse(taking, { outcome: "conflict", text: "the folder there holds other files" });
    }
    if (image.type === "absent" || image.type !== now.type) {
      this.#moved.delete(path);
      this.#tree.set(path, ABSENT);
    }
    return image.type === "absent" ? undefined : { path, image };
  }

  /** A folder is removed if it is empty again, and restored if its path is free. */
  async #freeFolder(path: string, { now, left, then }: Record<"now" | "left" | "then", Snapshot>) {
    if (sameSnapshot(now, then) || now.type !== left.type) return undefined;
    if (then.type !== "absent") {
      // A mode that the user set stays.
      return now.type === "absent" || sameSnapshot(now, left) ? { path, image: then } : undefined;
    }
    if (await this.#tree.isEmpty(path)) this.#tree.set(path, ABSENT);
    else this.#fullFolders.add(path);
    return undefined;
  }

  /** A buffer with unsaved text is the user's version; the disk follows when it is saved. */
  #intoBuffer(taking: Taking, now: Snapshot, unsaved: string): void {
    const { record: { path, after: left, before: then } } = taking;
    const conflict = (text: string) => this.#refuse(taking, { outcome: "conflict", text });
    const [base, text] = [left, then].map((image) =>
      image.type === "file" ? textOf(image.blob, this.#options.contents) : undefined
    );
    if (base === undefined || text === undefined) return conflict("it has unsaved changes in the editor");
    const current = this.#buffers.get(path)?.merged ?? unsaved;
    const merged = merge3(base.text, current, text.text);
    if (!merged.ok) return conflict(conflictText(merged.conflicts, "unsaved in the editor", "to come back"));
    const outcome = merged.text === current ? "unchanged" : "merged";
    this.#files.set(path, { path, outcome: this.#worse(path, outcome) });
    if (outcome === "unchanged") return;
    const mode = now.type === "file" ? now.mode : undefined;
    this.#buffers.set(path, { unsaved, merged: merged.text, format: base, mode });
  }

  async #unsavedAt(path: string): Promise<string | undefined> {
    if (!this.#unsaved.has(path)) {
      this.#unsaved.set(path, await this.#options.editor.unsavedText(path, this.#signal));
    }
    return this.#unsaved.get(path);
  }

  #refuse({ record, source }: Taking, refusal: Refusal): void {
    for (const { path } of [record, ...(source === undefined ? [] : [source])]) {
      if (!this.#refused.has(path)) this.#refused.set(path, refusal);
    }
    if (source !== undefined) {
      this.#files.set(source.path, { path: source.path, from: record.path, ...refusal });
    }
  }

  #worse(path: string, outcome: "restored" | "merged" | "unchanged"): Restored["outcome"] {
    const known = this.#files.get(path)?.outcome;
    if (known === "merged" || outcome === "merged") return "merged";
    return known === "restored" ? known : outcome;
  }

  #forbidden(path: string): string | undefined {
    const root = this.#options.roots.find((one) => path.startsWith(one + sep));
    if (root === undefined) return "it is outside of the project";
    const isGit = relative(root, path).split(sep).some((name) => name.toLowerCase() === ".git");
    return isGit ? "what is in .git is never touched" : undefined;
  }

  /** Missing parent folders are created. @returns the reason why the path is blocked */
  async #blocked(path: string): Promise<string | undefined> {
    const why = await this.#inTheWay(dirname(path));
    if (why !== undefined) return why;
    const { roots } = this.#options;
    for (let folder = dirname(path); !roots.includes(folder); folder = dirname(folder)) {
      if ((await this.#tree.at(folder)).type === "folder") break;
      this.#tree.set(folder, { type: "folder", mode: undefined });
    }
    return undefined;
  }

  /** Links that replaced a folder are never followed. */
  async #inTheWay(folder: string): Promise<string | undefined> {
    for (let at = folder; !this.#options.roots.includes(at); at = dirname(at)) {
      const { type } = await this.#tree.at(at);
      if (type === "folder") return undefined;
      if (type !== "absent") return `its folder is a ${type} by now`;
    }
    return undefined;
  }
}

function isFolder({ before, after }: FileRecord): boolean {
  const types = [before.type, after.type];
  return types.includes("folder") && types.every((type) => type === "folder" || type === "absent");
}
