/** Brings files back to what they were, with what the user has changed since. */
import { dirname, relative, sep } from "node:path";
import {
  ABSENT,
  type CheckpointStore,
  type FileRecord,
  type NewCheckpoint,
  sameSnapshot,
  type Snapshot,
} from "../core/checkpoints.ts";
import { messageOf } from "../core/errors.ts";
import type { FileChange } from "../core/events.ts";
import type { Editor, WriteJournal } from "../core/ports.ts";
import { encodeText, type TextFormat } from "../core/text.ts";
import { conflictText, merge3 } from "./merge.ts";
import { decide, type Decision, textOf } from "./plan.ts";
import { putBack, removeIt } from "./put_back.ts";
import { takeSnapshot } from "./snapshot.ts";

export interface RestorerOptions {
  readonly store: CheckpointStore;
  readonly editor: Editor;
  /** Real paths. */
  readonly roots: readonly string[];
  readonly journal: WriteJournal;
  /** A symbolic link at a path where nothing is. @throws {Error} */
  makeLink(path: string, target: string): Promise<void>;
  /** The path with every link resolved. @throws {Error} if it leads out of the project */
  resolve(path: string): Promise<{ readonly path: string }>;
}

export interface Restored {
  readonly path: string;
  /** Where it was until now. */
  readonly from?: string;
  readonly outcome: "restored" | "merged" | "conflict" | "unchanged" | "skipped";
  /** Why nothing was done, or both sides of a conflict. */
  readonly text?: string;
}

/** What is to be done to one path. */
interface Step {
  readonly path: string;
  readonly now: Snapshot;
  readonly image: Snapshot;
}

export interface Planned {
  readonly restored: Restored;
  readonly steps: readonly Step[];
  /** The path of a folder that is not told of. */
  readonly quiet?: boolean;
  /** Into a buffer with unsaved text, instead of the steps. */
  readonly buffer?: {
    readonly base: string;
    readonly text: string;
    readonly unsaved: string;
    /** As far as can be seen from here. */
    readonly merged: string;
    /** What the buffer's file is, or will be. */
    readonly format: TextFormat;
    readonly mode: number | undefined;
  };
  readonly decision: Decision;
}

export class Restorer {
  readonly #options: RestorerOptions;

  constructor(options: RestorerOptions) {
    this.#options = options;
  }

  /** @param wanted each `before` is what is to come back, each `after` how the agent has left it */
  async plan(wanted: readonly FileRecord[], signal: AbortSignal): Promise<readonly Planned[]> {
    const planned: Planned[] = [];
    const byPath = new Map(wanted.map((record) => [record.path, record]));
    const done = new Set<string>();
    for (const record of wanted) {
      const source = record.renamedFrom === undefined ? undefined : byPath.get(record.renamedFrom);
      const move = source === undefined ? undefined : await this.#planMove(source, record);
      if (source === undefined || move === undefined) continue;
      planned.push(move);
      done.add(source.path).add(record.path);
    }
    for (const record of wanted) {
      if (!done.has(record.path)) planned.push(await this.#planOne(record, signal));
    }
    return planned;
  }

  /** Carries out what was planned. A path that has changed since is left alone. */
  async carryOut(
    planned: readonly Planned[],
    checkpoint: NewCheckpoint,
    signal: AbortSignal,
  ): Promise<
    { readonly id: number; readonly files: readonly Restored[]; readonly changes: readonly FileChange[] }
  > {
    const { store } = this.#options;
    const before = new Map(
      planned.flatMap(({ steps }) => steps.map(({ path, now }) => [path, now] as const)),
    );
    const id = store.begin(checkpoint, before);
    const failures = new Map<string, string>();
    const buffers = new Map<Planned, Restored>();
    const records: FileRecord[] = [];
    for (const one of planned) {
      if (one.buffer !== undefined) buffers.set(one, await this.#toBuffer(one, records, signal));
    }
    const steps = planned.flatMap((one) => one.steps);
    const deepest = [...steps].sort((a, b) => b.path.length - a.path.length);
    for (const step of deepest.filter(isRemoval)) await this.#act(step, removeIt, failures);
    for (const step of [...deepest].reverse()) {
      if (step.image.type !== "absent") await this.#act(step, putBack, failures);
    }
    const moved = new Map(planned.map(({ restored }) => [restored.path, restored.from]));
    for (const { path, now } of steps) {
      const after = await takeSnapshot(path, store.contents).catch(() => now);
      if (sameSnapshot(now, after)) continue;
      const from = moved.get(path);
      records.push({ path, before: now, after, ...(from === undefined ? {} : { renamedFrom: from }) });
    }
    store.finish(id, records);
    const files = planned.filter(({ quiet }) => quiet !== true).map((one) => {
      const failure = one.steps.map(({ path }) => failures.get(path)).find((text) => text !== undefined);
      if (failure !== undefined) return { ...one.restored, outcome: "skipped" as const, text: failure };
      return buffers.get(one) ?? one.restored;
    });
    return { id, files, changes: this.#changes(records, buffers.size > 0 ? planned : []) };
  }

  async #planOne(record: FileRecord, signal: AbortSignal): Promise<Planned> {
    const { path, after: left, before: then } = record;
    const refused = await this.#refusal(path);
    if (refused !== undefined) return skipped(path, refused);
    const { store, editor } = this.#options;
    let now: Snapshot;
    let unsaved: string | undefined;
    try {
      now = await takeSnapshot(path, store.contents);
      // No editor holds the text of a link itself.
      if (left.type === "file" && now.type !== "link") unsaved = await editor.unsavedText(path, signal);
    } catch (error) {
      signal.throwIfAborted();
      return skipped(path, messageOf(error));
    }
    if (then.type === "folder" || (then.type === "absent" && left.type === "folder")) {
      return planFolder(path, { now, left, then });
    }
    if (unsaved !== undefined) return this.#planBuffer(record, now, unsaved);
    return asPlanned(path, now, decide({ now, left, then }, store.contents));
  }

  /** A buffer with unsaved text is what the user has; the disk follows when it is saved. */
  #planBuffer({ path, after: left, before: then }: FileRecord, now: Snapshot, unsaved: string): Planned {
    const { contents } = this.#options.store;
    const [base, text] = [left, then].map((image) =>
      image.type === "file" ? textOf(image.blob, contents) : undefined
    );
    const conflict = (text: string): Planned => {
      const decision = { outcome: "conflict", text } as const;
      return { restored: { path, ...decision }, steps: [], decision };
    };
    if (base === undefined || text === undefined) return conflict("it has unsaved changes in the editor");
    const merged = merge3(base.text, unsaved, text.text);
    if (!merged.ok) return conflict(conflictText(merged.conflicts, "unsaved in the editor", "to come back"));
    if (merged.text === unsaved) {
      return { restored: { path, outcome: "unchanged" }, steps: [], decision: { outcome: "unchanged" } };
    }
    return {
      restored: { path, outcome: "merged" },
      steps: [],
      buffer: {
        ...{ base: base.text, text: text.text, unsaved, merged: merged.text, format: base },
        mode: now.type === "file" ? now.mode : undefined,
      },
      decision: { outcome: "merged", image: then },
    };
  }

  async #toBuffer(planned: Planned, records: FileRecord[], signal: AbortSignal): Promise<Restored> {
    const { store, editor } = this.#options;
    const { restored, buffer } = planned;
    if (buffer === undefined) return restored;
    const { path } = restored;
    try {
      const written = await editor.writeUnsaved(path, buffer.base, buffer.text, signal);
      if (written.status === "conflict") return { path, outcome: "conflict", text: written.text };
      if (written.status === "not_open") {
        return { path, outcome: "conflict", text: "it was saved or closed at this moment; try again" };
      }
      const image = (text: string): Snapshot => {
        const blob = store.contents.put(encodeText(text, buffer.format));
        return { type: "file", mode: buffer.mode, blob };
      };
      records.push({ path, before: image(written.before), after: image(written.text) });
      return restored;
    } catch (error) {
      return { path, outcome: "skipped", text: messageOf(error) };
    }
  }

  /** A file that was moved goes back with what the user has changed in it. Undefined: not as a move. */
  async #planMove(source: FileRecord, target: FileRecord): Promise<Planned | undefined> {
    const { store } = this.#options;
    const { path } = source;
    for (const place of [path, target.path]) {
      if (await this.#refusal(place) !== undefined) return undefined;
    }
    const now = await takeSnapshot(target.path, store.contents);
    if (now.type === "absent" || now.type === "folder") return undefined;
    const there = await takeSnapshot(path, store.contents);
    if (sameSnapshot(there, source.before)) return undefined;
    if (there.type !== "absent") {
      const decision = { outcome: "conflict", text: `there is a ${there.type} by now` } as const;
      return { restored: { path, from: target.path, ...decision }, steps: [], decision };
    }
    const decision = decide({ now, left: target.after, then: source.before }, store.contents);
    const from = target.path;
    if (decision.outcome === "conflict" || decision.outcome === "skipped") {
      return { restored: { path, from, ...decision }, steps: [], decision };
    }
    const image = "image" in decision ? decision.image : now;
    return {
      restored: { path, from, outcome: sameSnapshot(image, source.before) ? "restored" : "merged" },
      steps: [{ path: from, now, image: ABSENT }, { path, now: ABSENT, image }],
      decision: { outcome: "restored", image },
    };
  }

  /** Why this path may not be touched; links that have taken a folder's place since lead nowhere. */
  async #refusal(path: string): Promise<string | undefined> {
    const root = this.#options.roots.find((one) => path.startsWith(one + sep));
    if (root === undefined) return "it is outside of the project";
    if (relative(root, path).split(sep).some((name) => name.toLowerCase() === ".git")) {
      return "what is in .git is never touched";
    }
    try {
      const folder = dirname(path);
      const real = folder === root ? { path: root } : await this.#options.resolve(folder);
      return real.path === folder ? undefined : `its folder is a link by now`;
    } catch (error) {
      return messageOf(error);
    }
  }

  async #act(
    step: Step,
    act: (path: string, step: Step, options: RestorerOptions) => Promise<void>,
    failures: Map<string, string>,
  ): Promise<void> {
    const { path, now, image } = step;
    try {
      const refused = await this.#refusal(path);
      if (refused !== undefined) throw new Error(refused);
      const current = await takeSnapshot(path, this.#options.store.contents);
      const removed = isRemoval(step) && current.type === "absent";
      if (!removed && !sameSnapshot(current, now)) throw new Error("it changed at this moment; try again");
      await act(path, step, this.#options);
    } catch (error) {
      // A folder that holds something else stays.
      if (now.type === "folder" && image.type === "absent") return;
      failures.set(path, messageOf(error));
    }
  }

  /** For the buffers; those that took the text in themselves need not be told. */
  #changes(records: readonly FileRecord[], planned: readonly Planned[]): readonly FileChange[] {
    const inBuffers = new Set(
      planned.filter(({ buffer }) => buffer !== undefined).map(({ restored }) => restored.path),
    );
    return fileChanges(records.filter(({ path }) => !inBuffers.has(path)), this.#options.store);
  }
}

function isRemoval({ now, image }: Step): boolean {
  if (now.type === "absent") return false;
  return image.type === "absent" || (image.type === "folder") !== (now.type === "folder");
}

/** A folder goes if it is empty again, and comes back if nothing has taken its place. */
function planFolder(path: string, { now, left, then }: Record<"now" | "left" | "then", Snapshot>): Planned {
  const { outcome, steps } = sameSnapshot(now, then) || (now.type !== left.type && then.type === "absent")
    ? { outcome: "unchanged", steps: [] } as const
    : now.type === left.type
    ? { outcome: "restored", steps: [{ path, now, image: then }] } as const
    : { outcome: "unchanged", steps: [] } as const;
  const decision: Decision = outcome === "unchanged" ? { outcome } : { outcome, image: then };
  return { restored: { path, outcome }, steps, decision, quiet: true };
}

function asPlanned(path: string, now: Snapshot, decision: Decision): Planned {
  switch (decision.outcome) {
    case "unchanged":
      return { restored: { path, outcome: "unchanged" }, steps: [], decision };
    case "restored":
    case "merged": {
      const { outcome, image } = decision;
      return { restored: { path, outcome }, steps: [{ path, now, image }], decision };
    }
    case "conflict":
    case "skipped":
      return { restored: { path, ...decision }, steps: [], decision };
  }
}

function skipped(path: string, text: string): Planned {
  const decision = { outcome: "skipped", text } as const;
  return { restored: { path, ...decision }, steps: [], decision };
}

/** Records as the changes that buffers follow; a moved file is one change. */
export function fileChanges(records: readonly FileRecord[], store: CheckpointStore): readonly FileChange[] {
  const sources = new Set(records.flatMap(({ renamedFrom }) => renamedFrom ?? []));
  const text = (image: Snapshot) =>
    image.type === "file" ? textOf(image.blob, store.contents)?.text : undefined;
  return records.flatMap((record): FileChange[] => {
    const { path, renamedFrom, before, after } = record;
    if (sources.has(path) || (before.type === "folder" && after.type !== "file")) return [];
    if (after.type === "folder") {
      return before.type === "absent" ? [] : [{ path, kind: "deleted", onDisk: true }];
    }
    const source = renamedFrom === undefined
      ? before
      : records.find((one) => one.path === renamedFrom)?.before;
    const [was, is] = [source === undefined ? undefined : text(source), text(after)];
    const texts = {
      ...(was === undefined ? {} : { before: was }),
      ...(is === undefined ? {} : { after: is }),
    };
    if (renamedFrom !== undefined) {
      return [{ path, kind: "renamed", from: renamedFrom, ...texts, onDisk: true }];
    }
    const kind = after.type === "absent" ? "deleted" : before.type === "absent" ? "created" : "modified";
    return [{ path, kind, ...texts, onDisk: true }];
  });
}
