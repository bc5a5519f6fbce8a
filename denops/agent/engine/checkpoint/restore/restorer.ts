/** Restores files and keeps the user's later changes. */
import { dirname } from "node:path";
import {
  ABSENT,
  type CheckpointStore,
  type FileRecord,
  type NewCheckpoint,
  sameSnapshot,
  type Snapshot,
  type UndoneChanges,
} from "../../log/checkpoints.ts";
import { messageOf } from "../../../shared/errors.ts";
import type { FileChange } from "../../log/events.ts";
import type { WriteJournal } from "../../ports/store.ts";
import type { Editor } from "../../ports/editor.ts";
import { temporaryFor } from "../../files/write_atomic.ts";
import { encodeText } from "../../../shared/text/text.ts";
import { fileChanges } from "../file_changes.ts";
import type { Changes } from "../review/net.ts";
import { opened } from "./opened.ts";
import { type BufferStep, planTaking, type Restored, type RestorePlan, type RestoreStep } from "./planner.ts";
import { ChangedError, putBack, removeIt } from "./put_back.ts";
import { pauses } from "../../../shared/pauses.ts";
import type { Disk } from "./planned_tree.ts";
import { LARGEST_KEPT, takeSnapshot } from "../snapshot.ts";

export interface RestorerOptions {
  readonly store: Pick<CheckpointStore, "contents" | "begin" | "finish">;
  readonly editor: Editor;
  /** Real paths. */
  readonly roots: readonly string[];
  readonly journal: WriteJournal;
  /** False: new files may be lost in a power failure. */
  readonly syncsNew?: boolean;
  /** Creates a symbolic link at a free path. @throws {Error} */
  makeLink(path: string, target: string): Promise<void>;
}

export interface CarriedOut {
  readonly files: readonly Restored[];
  readonly records: readonly FileRecord[];
  readonly changes: readonly FileChange[];
}

/** Temporary files that the journal records at once. */
const NOTED = 500;

interface Failed extends Restored {
  /** Somebody else changed the path first. */
  readonly isUntouched?: boolean;
}

type Act = (step: RestoreStep) => Promise<void>;

export class Restorer {
  readonly #options: RestorerOptions;

  constructor(options: RestorerOptions) {
    this.#options = options;
  }

  /**
   * @param changes each `before` is to be restored, each `after` is as the agent left it @param disk images that are
   * already known
   */
  plan(changes: Changes, signal: AbortSignal, disk?: Disk): Promise<RestorePlan> {
    const { store: { contents }, editor, roots } = this.#options;
    return planTaking(changes, { contents, editor, roots, ...(disk === undefined ? {} : { disk }) }, signal);
  }

  /**
   * Carries out a plan. Paths that changed since are left alone.
   * @param taken the checkpoints of these changes with their paths; restored ones count as undone
   */
  async carryOut(
    plan: RestorePlan,
    checkpoint: NewCheckpoint,
    signal: AbortSignal,
    taken?: UndoneChanges,
  ): Promise<CarriedOut> {
    const { store } = this.#options;
    const steps = [...plan.steps.values()].sort((a, b) => a.path.length - b.path.length);
    const id = store.begin(
      checkpoint,
      steps.map(({ path, now, image, from }) => ({ path, before: now, after: image, ...movedFrom(from) })),
    );
    const failures = new Map<string, Failed>();
    const records: FileRecord[] = [];
    for (const [path, step] of plan.buffers) {
      const refused = await this.#toBuffer(path, step, records, signal);
      if (refused !== undefined) failures.set(path, refused);
    }
    const inBuffers = new Set(records.map(({ path }) => path));
    await this.#carryOutSteps(steps, failures);
    const pause = pauses();
    for (const step of steps) {
      await pause();
      const { path, now, from } = step;
      const after = await this.#after(step, failures.get(path)).catch(() => now);
      if (!sameSnapshot(now, after)) records.push({ path, before: now, after, ...movedFrom(from) });
    }
    const paths = [...taken?.paths ?? []].filter((path) => !plan.left.has(path) && !failures.has(path));
    store.finish(id, records, taken && { checkpoints: taken.checkpoints, paths: new Set(paths) });
    const files = plan.files.map((file) => {
      const failed = failures.get(file.path) ??
        (file.from === undefined ? undefined : failures.get(file.from));
      return failed === undefined ? file : { ...file, outcome: failed.outcome, ...textIn(failed) };
    });
    // Buffers that took the text need no update.
    return {
      files,
      records,
      changes: fileChanges(records.filter(({ path }) => !inBuffers.has(path)), store),
    };
  }

  /** Creates from the top down, then removes from the bottom up, except for the other half of a failed move. */
  async #carryOutSteps(steps: readonly RestoreStep[], failures: Map<string, Failed>): Promise<void> {
    const places = new Map(steps.flatMap(({ path, from }) => from === undefined ? [] : [[from, path]]));
    const pause = pauses();
    const act = async (step: RestoreStep, how: Act) => {
      await pause();
      const failed = await this.#act(step, how);
      if (failed !== undefined) failures.set(step.path, { path: step.path, outcome: "skipped", ...failed });
    };
    const puts = withNames(steps.filter((step) => !isRemoval(step)));
    for (let at = 0; at < puts.length; at += NOTED) {
      const group = puts.slice(at, at + NOTED).map(withTemporary);
      const temporaries = group.flatMap(({ temporary }) => temporary ?? []);
      this.#options.journal.begin(...temporaries);
      for (const step of group) await act(step, (step) => this.#put(step));
      this.#options.journal.end(...temporaries);
    }
    for (const step of steps.filter(isRemoval).reverse()) {
      const failed = failures.get(places.get(step.path) ?? "");
      if (failed !== undefined) failures.set(step.path, { ...failed, path: step.path, isUntouched: true });
      else await act(step, (step) => this.#remove(step));
    }
  }

  async #put(step: RestoreStep): Promise<void> {
    const { path, now, image, from } = step;
    if (now.type !== "absent" && image.type === "folder" && now.type !== "folder") await removeIt(path);
    const there = from === undefined ? ABSENT : await this.#look(from);
    if (from !== undefined && now.type === "absent" && isSameContent(there, image)) {
      await Deno.rename(from, path);
      if (image.type === "file" && image.mode !== undefined) await Deno.chmod(path, image.mode);
    } else await putBack(path, step, this.#options);
  }

  async #remove(step: RestoreStep): Promise<void> {
    await removeIt(step.path);
    if (step.image.type !== "absent") await putBack(step.path, step, this.#options);
  }

  async #toBuffer(
    path: string,
    step: BufferStep,
    records: FileRecord[],
    signal: AbortSignal,
  ): Promise<Restored | undefined> {
    const { store, editor } = this.#options;
    try {
      const written = await editor.writeUnsaved(path, step.unsaved, step.merged, signal);
      if (written.status === "conflict") return { path, outcome: "conflict", text: written.text };
      if (written.status === "not_open") {
        return { path, outcome: "conflict", text: "it was saved or closed at this moment; try again" };
      }
      const image = (text: string): Snapshot => {
        const blob = store.contents.put(encodeText(text, step.format));
        return { type: "file", mode: step.mode, blob };
      };
      records.push({ path, before: image(written.before), after: image(written.text) });
      return undefined;
    } catch (error) {
      return { path, outcome: "skipped", text: messageOf(error) };
    }
  }

  /** @returns the reason for a failure */
  async #act(step: RestoreStep, act: Act): Promise<Pick<Failed, "text" | "isUntouched"> | undefined> {
    const { path, now, image } = step;
    try {
      await this.#checkFolder(path);
      // A new file never replaces an existing one.
      const current = isNewFile(step) ? now : await this.#look(path);
      // The step for another name of the file (hard link) may have done it.
      if (sameSnapshot(current, image)) return undefined;
      const isAsPlanned = sameSnapshot(current, now) || await this.#isSharedMode(path, current, now);
      if (!isAsPlanned) throw new ChangedError();
      const { roots } = this.#options;
      await opened(path, false, roots, () => {
        // The folders of its current path must be open too.
        return step.from === undefined ? act(step) : opened(step.from, false, roots, () => act(step));
      });
      return undefined;
    } catch (error) {
      // A folder with other content stays.
      if (now.type === "folder" && image.type === "absent") return undefined;
      return { text: messageOf(error), isUntouched: error instanceof ChangedError };
    }
  }

  /** The result of this step, without later changes by others. */
  async #after(step: RestoreStep, failed: Failed | undefined): Promise<Snapshot> {
    const { path, now, image } = step;
    if (failed?.isUntouched) return now;
    if (failed === undefined && this.#isKnown(step)) return image;
    const found = await this.#look(path);
    if (failed !== undefined || image.type === "folder" || now.type === "folder") return found;
    if (image.type !== "file") return image;
    if (this.#options.store.contents.size(image.blob) > LARGEST_KEPT) return found;
    return { ...image, mode: image.mode ?? (found.type === "file" ? found.mode : undefined) };
  }

  /** Hard links share one mode, so a change to one shows in all. */
  async #isSharedMode(path: string, current: Snapshot, now: Snapshot): Promise<boolean> {
    if (!isSameContent(current, now)) return false;
    const info = await opened(path, false, this.#options.roots, () => Deno.lstat(path));
    return (info.nlink ?? 1) > 1;
  }

  /** A file that this step created is known, even if others change it now. */
  #isKnown(step: RestoreStep): boolean {
    const { image } = step;
    return isNewFile(step) && image.type === "file" && image.mode !== undefined &&
      this.#options.store.contents.size(image.blob) <= LARGEST_KEPT;
  }

  #look(path: string): Promise<Snapshot> {
    const { roots, store } = this.#options;
    return takeSnapshot(path, store.contents, roots);
  }

  /** Links that replaced a folder are never followed. @throws {Error} */
  async #checkFolder(path: string): Promise<void> {
    const { roots } = this.#options;
    for (let folder = dirname(path); !roots.includes(folder); folder = dirname(folder)) {
      const real = await opened(folder, false, roots, () => realPath(folder)).catch((error) => {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      });
      if (real === folder) return;
      if (real !== undefined || folder === dirname(folder)) throw new Error("its folder is a link by now");
    }
  }
}

function isNewFile({ now, image, from }: RestoreStep): boolean {
  return now.type === "absent" && image.type === "file" && from === undefined;
}

function withTemporary(step: RestoreStep): RestoreStep {
  return isNewFile(step) ? { ...step, temporary: temporaryFor(step.path) } : step;
}

/** A file keeps its names (hard links) if all of them get the same image. */
function withNames(steps: readonly RestoreStep[]): readonly RestoreStep[] {
  const linked = steps.flatMap((step) => {
    if (step.now.type !== "file" || step.image.type !== "file") return [];
    try {
      const { dev, ino, nlink } = Deno.lstatSync(step.path);
      return (nlink ?? 1) > 1 ? [{ step, file: `${dev} ${ino}`, nlink }] : [];
    } catch {
      return [];
    }
  });
  const complete = new Set<RestoreStep>();
  for (const names of Map.groupBy(linked, ({ file }) => file).values()) {
    const [first] = names;
    const isSame = names.every(({ step }) =>
      first !== undefined && sameSnapshot(step.image, first.step.image)
    );
    if (isSame && names.length === first?.nlink) names.forEach(({ step }) => complete.add(step));
  }
  return steps.map((step) => complete.has(step) ? { ...step, hasAllNames: true } : step);
}

/** Later steps may use what this one removes. */
function isRemoval({ now, image }: RestoreStep): boolean {
  return image.type === "absent" || (now.type === "folder" && image.type !== "folder");
}

function isSameContent(a: Snapshot, b: Snapshot): boolean {
  return a.type === "file" && b.type === "file" ? a.blob === b.blob : sameSnapshot(a, b);
}

function movedFrom(from: string | undefined): Pick<FileRecord, "renamedFrom"> {
  return from === undefined ? {} : { renamedFrom: from };
}

/** Like `Deno.realPath`, but without a round trip to another thread. */
async function realPath(path: string): Promise<string> {
  return await Promise.resolve(Deno.realPathSync(path));
}

function textIn({ text }: Restored): { readonly text?: string } {
  return text === undefined ? {} : { text };
}
