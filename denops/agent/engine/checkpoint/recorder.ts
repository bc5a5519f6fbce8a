/**
 * Records the changes of calls. Earlier contents are stored before a call runs, so that interrupted changes can be
 * undone too; new contents are stored when it ends.
 */
import { basename, dirname, join } from "node:path";
import {
  ABSENT,
  type CheckpointStore,
  type FileRecord,
  type NewCheckpoint,
  sameSnapshot,
  type Snapshot,
} from "../log/checkpoints.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { FileChange } from "../log/events.ts";
import type { CheckpointedCall, Checkpoints, PendingCheckpoint } from "../ports/checkpoints.ts";
import type { Editor } from "../ports/editor.ts";
import { namesIn } from "../files/names.ts";
import { encodeText, PLAIN } from "../../shared/text/text.ts";
import { fileChanges } from "./file_changes.ts";
import { textOf } from "./restore/plan.ts";
import { type ProjectScan, ProjectScanner, SCAN_LIMITS, type ScannerOptions } from "./scanner.ts";
import { takeSnapshot } from "./snapshot.ts";

export interface RecorderOptions extends Pick<ScannerOptions, "isWatched"> {
  readonly session: string;
  /** Real paths. */
  readonly roots: readonly string[];
  readonly store: CheckpointStore;
  readonly editor: Editor;
  readonly limits?: ScannerOptions["limits"];
  /** Milliseconds between heartbeats of running calls. */
  readonly aliveMs?: number;
  /** The current turn. */
  turn(): number;
  /** Whether this call's background command still runs. Absent: it has ended. */
  isRunning?(toolCall: string): boolean;
  /** One line for the user. */
  notice(text: string): void;
}

/** A background command, whose changes are found when the turn ends. */
interface Background {
  readonly id: number;
  readonly toolCall: string;
}

interface Seen {
  readonly scan: ProjectScan;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** A user takes longer than this to change something after a crash. */
const ALIVE_MS = 500;

const NOTHING: PendingCheckpoint = { done: () => Promise.resolve([]) };

/** The changes of a background command. */
export interface LateChanges {
  readonly toolCall: string;
  readonly changes: readonly FileChange[];
}

export class Recorder implements Checkpoints {
  readonly #options: RecorderOptions;
  readonly #scanner: ProjectScanner;
  #background: Background[] = [];
  #late: LateChanges[] = [];
  /** The last scan of the project while background commands run. */
  #seen: Seen | undefined;
  /** The scan at the end of the last turn, and the calls whose background commands outlived it. */
  #outlived: Seen & { readonly toolCalls: readonly string[] } | undefined;
  #toldOfLimits = false;
  /** Checkpoints of running calls. */
  readonly #running = new Set<number>();
  readonly aliveMs: number;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#scanner = new ProjectScanner(options);
    this.aliveMs = options.aliveMs ?? ALIVE_MS;
  }

  async before(call: CheckpointedCall): Promise<PendingCheckpoint> {
    return call.command === undefined ? await this.#beforeTool(call) : await this.#beforeCommand(call);
  }

  async #beforeCommand({ id: toolCall, command }: CheckpointedCall): Promise<PendingCheckpoint> {
    const { session, turn } = this.#options;
    const since = Date.now();
    const before = await this.#scanner.scan();
    if (before === undefined) {
      this.#tellLimits();
      return NOTHING;
    }
    if (before.partial) this.#tellLimits();
    await this.#noteLate({ scan: before, since });
    const id = this.begin({ session, turn: turn(), kind: "command", toolCall }, []);
    if (command === "background") {
      this.#background.push({ id, toolCall });
      this.#seen = { scan: before, since };
      return NOTHING;
    }
    return { done: () => this.#commandDone(id, before, since) };
  }

  async #commandDone(id: number, before: ProjectScan, since: number): Promise<readonly FileChange[]> {
    try {
      return await patiently(() => this.#keepChanges(id, before, since));
    } catch (error) {
      // The changes happened, so whoever shows these files must know.
      this.#running.delete(id);
      this.#options.notice(`What the command has changed cannot be undone: ${messageOf(error)}.`);
      const after = await this.#scanner.look(before);
      return after === undefined ? [] : this.#changes(before, after);
    }
  }

  async #keepChanges(id: number, before: ProjectScan, since: number): Promise<readonly FileChange[]> {
    const { store } = this.#options;
    const now = Date.now();
    const after = await this.#scanner.scan(before);
    if (after === undefined || after.partial) this.#tellLimits();
    const records = after === undefined ? [] : this.#scanner.changes(before, after);
    this.finish(id, await this.#withoutUsersPart(records, since));
    if (after !== undefined && this.#seen !== undefined) this.#seen = { scan: after, since: now };
    return fileChanges(records, store);
  }

  /** Removes what the user wrote while the command ran: it belongs to the earlier state. */
  async #withoutUsersPart(records: readonly FileRecord[], since: number): Promise<readonly FileRecord[]> {
    const { editor, store: { contents } } = this.#options;
    if (records.length === 0) return records;
    // An editor that does not answer wrote nothing.
    const written = await editor.writtenSince?.(records.map(({ path }) => path), since).catch(() =>
      undefined
    );
    return records.flatMap((record) => {
      const text = written?.get(record.path);
      if (text === undefined) return [record];
      const image = [record.before, record.after].find((one) => one.type === "file");
      const format = image === undefined ? undefined : textOf(image.blob, contents);
      const blob = contents.put(encodeText(text, format ?? PLAIN));
      const before: Snapshot = { type: "file", mode: image?.mode, blob };
      return sameSnapshot(before, record.after) ? [] : [{ ...record, before }];
    });
  }

  #changes(before: ProjectScan, after: ProjectScan): readonly FileChange[] {
    return fileChanges(this.#scanner.changes(before, after), this.#options.store);
  }

  /** Its changes are the agent's while its heartbeats continue. */
  begin(checkpoint: NewCheckpoint, files: readonly FileRecord[]): number {
    const id = this.#options.store.begin(checkpoint, files);
    this.#running.add(id);
    if (this.#running.size === 1) this.#keepAlive();
    return id;
  }

  /** Writes of calls do not belong to background commands. */
  finish(id: number, records: readonly FileRecord[]): void {
    try {
      this.#options.store.finish(id, records);
    } finally {
      this.#running.delete(id);
    }
    if (this.#seen === undefined || records.length === 0) return;
    const scan = withImages(this.#seen.scan, records.map(({ path, after }) => [path, after]));
    this.#seen = { ...this.#seen, scan };
  }

  #keepAlive(): void {
    const timer = setTimeout(() => {
      if (this.#running.size === 0) return;
      try {
        this.#options.store.setAlive([...this.#running]);
        this.#keepAlive();
      } catch {
        // A heartbeat that cannot be stored does no harm; the end of the call tells.
      }
    }, this.aliveMs);
    Deno.unrefTimer(timer);
  }

  /** Changes since the last scan belong to the oldest background command, which stands for all. */
  async #noteLate(now: Seen): Promise<void> {
    const { store, session, turn } = this.#options;
    const [first] = this.#background;
    if (first === undefined || this.#seen === undefined) return;
    const { toolCall } = first;
    const { scan, since } = this.#seen;
    const records = this.#scanner.changes(scan, now.scan);
    this.#seen = now;
    if (records.length === 0) return;
    const own = await this.#withoutUsersPart(records, since);
    store.finish(store.begin({ session, turn: turn(), kind: "command", toolCall }, []), own);
    this.#late.push({ toolCall, changes: fileChanges(records, store) });
  }

  /** Call it at a turn's end. @returns changes of background commands */
  async late(): Promise<readonly LateChanges[]> {
    if (this.#background.length === 0) return [];
    const since = Date.now();
    const scan = await this.#scanner.scan(this.#seen?.scan);
    if (scan === undefined) this.#tellLimits();
    else await this.#noteLate({ scan, since });
    for (const { id } of this.#background) this.finish(id, []);
    const toolCalls = this.#stillRunning(this.#background.map(({ toolCall }) => toolCall));
    this.#outlived = scan === undefined || toolCalls.length === 0 ? undefined : { scan, since, toolCalls };
    const found = this.#late;
    this.#background = [];
    this.#late = [];
    this.#seen = undefined;
    return found;
  }

  /**
   * Call it when a turn begins: it watches background commands that outlived the last turn.
   * @returns sensitive files that changed since, without the user's writes in the editor; they stay, because another
   * program of the user's may have changed them
   */
  async watchAgain(): Promise<readonly string[]> {
    const outlived = this.#outlived;
    this.#outlived = undefined;
    if (outlived === undefined) return [];
    const since = Date.now();
    const scan = await this.#scanner.scan(outlived.scan);
    if (scan === undefined) return [];
    const { session, turn, isWatched } = this.#options;
    this.#background = this.#stillRunning(outlived.toolCalls).map((toolCall) => ({
      id: this.begin({ session, turn: turn(), kind: "command", toolCall }, []),
      toolCall,
    }));
    if (this.#background.length > 0) this.#seen = { scan, since };
    const changed = this.#scanner.changes(outlived.scan, scan).filter(({ path }) => isWatched?.(path));
    return (await this.#withoutUsersPart(changed, outlived.since)).map(({ path }) => path);
  }

  #stillRunning(toolCalls: readonly string[]): readonly string[] {
    return toolCalls.filter((call) => this.#options.isRunning?.(call) === true);
  }

  #tellLimits(): void {
    if (this.#toldOfLimits) return;
    this.#toldOfLimits = true;
    const { files, bytes } = this.#options.limits ?? SCAN_LIMITS;
    this.#options.notice(
      `The project has more than ${files} files or ${
        bytes / 1_000_000
      } MB: what commands change in it cannot be undone.`,
    );
  }

  /** After a crash: changes since a command began. @param changed earlier images, if they differ from the last scan */
  async sinceBegin(changed: readonly FileRecord[]): Promise<readonly FileRecord[]> {
    const before = withImages(this.#scanner.last(), changed.map(({ path, before }) => [path, before]));
    const after = await this.#scanner.scan(before);
    return after === undefined ? [] : this.#scanner.changes(before, after);
  }

  async #beforeTool({ id: toolCall, paths }: CheckpointedCall): Promise<PendingCheckpoint> {
    const { session, turn } = this.#options;
    const images = await this.#imagesOf(paths);
    const files = [...images].map(([path, before]) => ({ path, before, after: ABSENT }));
    const id = this.begin({ session, turn: turn(), kind: "tool", toolCall }, files);
    return {
      done: async (changes) => {
        const records = await this.#records(images, changes);
        await patiently(() => Promise.resolve(this.finish(id, records)));
        return [];
      },
    };
  }

  /** Images of the paths, of their other names (hard links), of links on the way, and of folders that do not exist yet. */
  async #imagesOf(paths: readonly string[]): Promise<ReadonlyMap<string, Snapshot>> {
    const { store, roots } = this.#options;
    const images = new Map<string, Snapshot>();
    for (const linkPath of paths) {
      const path = withRealFolder(linkPath);
      try {
        for (let at = path; !images.has(at) && !roots.includes(at); at = dirname(at)) {
          const image = await takeSnapshot(at, store.contents, roots);
          images.set(at, image);
          if (image.type !== "absent" || dirname(at) === at) break;
        }
        if (images.get(path)?.type !== "file") continue;
        for (const name of (await namesIn(path, roots)).names) {
          if (!images.has(name)) images.set(name, await takeSnapshot(name, store.contents, roots));
        }
      } catch (error) {
        throw new ToolError(
          `Cannot keep ${path} as it is, so that it could not be taken back: ${
            messageOf(error)
          }. Nothing was done.`,
        );
      }
    }
    return images;
  }

  async #records(
    images: ReadonlyMap<string, Snapshot>,
    changes: readonly FileChange[],
  ): Promise<readonly FileRecord[]> {
    const { roots, store: { contents } } = this.#options;
    const written = new Map<string, FileChange>();
    for (const change of changes) written.set(withRealFolder(change.path), change);
    const records: FileRecord[] = [];
    for (const [path, image] of images) {
      const change = written.get(path);
      const { before, after } = change === undefined || change.kind === "deleted"
        ? { before: image, after: await takeSnapshot(path, contents, roots) }
        : await this.#imagesOfWrite(path, image, change);
      if (sameSnapshot(before, after)) continue;
      const from = change?.kind === "renamed" ? change.from : undefined;
      records.push({ path, before, after, ...(from === undefined ? {} : { renamedFrom: from }) });
    }
    return records;
  }

  /** A write may go into a buffer with unsaved text, which then is the earlier state instead of the disk's. */
  async #imagesOfWrite(
    path: string,
    disk: Snapshot,
    change: FileChange,
  ): Promise<{ before: Snapshot; after: Snapshot }> {
    const { roots, store: { contents } } = this.#options;
    const known = disk.type === "file" ? textOf(disk.blob, contents) : undefined;
    const mode = disk.type === "file" ? disk.mode : undefined;
    const inBuffer = (text: string): Snapshot => ({
      type: "file",
      mode,
      blob: contents.put(encodeText(text, known ?? PLAIN)),
    });
    const unsaved = change.kind !== "renamed" && change.before !== undefined && change.before !== known?.text;
    return {
      before: unsaved && change.before !== undefined ? inBuffer(change.before) : disk,
      after: !change.onDisk && change.after !== undefined
        ? inBuffer(change.after)
        : await takeSnapshot(path, contents, roots),
    };
  }
}

function withImages(
  scan: ProjectScan,
  images: readonly (readonly [path: string, image: Snapshot])[],
): ProjectScan {
  const index = new Map(scan.index);
  for (const [path, image] of images) {
    if (image.type === "absent") index.delete(path);
    else index.set(path, image);
  }
  return { ...scan, index };
}

/** Milliseconds; another process may lock the database for a moment. */
const PAUSES = [100, 500, 2_000];

async function patiently<Result>(act: () => Promise<Result>): Promise<Result> {
  for (const pause of PAUSES) {
    try {
      return await act();
    } catch (error) {
      if (!/locked|busy/i.test(messageOf(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return await act();
}

/** Resolves links of the folder, but not of the name in it. */
function withRealFolder(path: string): string {
  try {
    return join(Deno.realPathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
