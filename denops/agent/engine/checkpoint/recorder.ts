/**
 * Keeps what calls change. The images before are on disk before a call runs, so that what a crash has cut off can be
 * taken back too; the images after follow when it has ended.
 */
import { basename, dirname, join } from "node:path";
import { type CheckpointStore, type FileRecord, sameSnapshot, type Snapshot } from "../core/checkpoints.ts";
import { messageOf, ToolError } from "../core/errors.ts";
import type { FileChange } from "../core/events.ts";
import type { CallToKeep, Checkpoints, PendingCheckpoint } from "../core/ports.ts";
import { decodeText, encodeText, PLAIN } from "../core/text.ts";
import { takeSnapshot } from "./snapshot.ts";

export interface RecorderOptions {
  readonly session: string;
  /** Real paths. */
  readonly roots: readonly string[];
  readonly store: CheckpointStore;
  /** The turn that runs. */
  turn(): number;
}

export class Recorder implements Checkpoints {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  async before({ id: toolCall, paths }: CallToKeep): Promise<PendingCheckpoint> {
    const { store, session, turn } = this.#options;
    const images = await this.#imagesOf(paths);
    const id = store.begin({ session, turn: turn(), kind: "tool", toolCall }, images);
    return {
      done: async (changes) => {
        store.finish(id, await this.#records(images, changes));
        return [];
      },
    };
  }

  /** Of the paths, of links on the way to them, and of the folders that are yet to be made. */
  async #imagesOf(paths: readonly string[]): Promise<ReadonlyMap<string, Snapshot>> {
    const { store, roots } = this.#options;
    const images = new Map<string, Snapshot>();
    for (const named of paths) {
      const path = await withRealFolder(named);
      try {
        for (let at = path; !images.has(at) && !roots.includes(at); at = dirname(at)) {
          const image = await takeSnapshot(at, store.contents);
          images.set(at, image);
          if (image.type !== "absent" || dirname(at) === at) break;
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
    const { contents } = this.#options.store;
    const written = new Map<string, FileChange>();
    for (const change of changes) written.set(await withRealFolder(change.path), change);
    const records: FileRecord[] = [];
    for (const [path, image] of images) {
      const change = written.get(path);
      const { before, after } = change === undefined || change.kind === "deleted"
        ? { before: image, after: await takeSnapshot(path, contents) }
        : await this.#imagesOfWrite(path, image, change);
      if (sameSnapshot(before, after)) continue;
      const from = change?.kind === "renamed" ? change.from : undefined;
      records.push({ path, before, after, ...(from === undefined ? {} : { renamedFrom: from }) });
    }
    return records;
  }

  /** A write may have gone into a buffer with unsaved text: that was there before, and not what the disk had. */
  async #imagesOfWrite(
    path: string,
    disk: Snapshot,
    change: FileChange,
  ): Promise<{ before: Snapshot; after: Snapshot }> {
    const { contents } = this.#options.store;
    const known = disk.type === "file" && disk.blob !== undefined
      ? decodeText(contents.get(disk.blob))
      : undefined;
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
        : await takeSnapshot(path, contents),
    };
  }
}

/** A path names what is in its folder; the folder itself is taken for what it really is. */
async function withRealFolder(path: string): Promise<string> {
  const folder = await Deno.realPath(dirname(path)).catch(() => dirname(path));
  return join(folder, basename(path));
}
