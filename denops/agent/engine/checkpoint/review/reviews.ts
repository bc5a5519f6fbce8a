/** The unreviewed changes: stored as the agent writes, shown on screen, settled by the user. */
import type { ReviewFile } from "../../../protocol/requests.ts";
import {
  ABSENT,
  type Contents,
  type FileRecord,
  type RecordedChange,
  sameSnapshot,
  type Snapshot,
} from "../../log/checkpoints.ts";
import { ToolError } from "../../../shared/errors.ts";
import { lineDiff } from "../../log/line_diff.ts";
import type { EditQuality } from "../edit_quality.ts";
import type { ReviewStore, StoredReview } from "../../log/reviews.ts";
import { encodeText, PLAIN } from "../../../shared/text/text.ts";
import { textOf } from "../restore/plan.ts";
import { carryEdits, reviewsAfter } from "./review_state.ts";
import { takeSnapshot } from "../snapshot.ts";

interface ReviewUpdate {
  readonly path: string;
  readonly baseline?: string | undefined;
  readonly settled: boolean;
}

/** The changes to revert so that nothing of the file is left to review. */
export function unreviewed({ path, renamedFrom, before, after }: StoredReview): readonly FileRecord[] {
  if (renamedFrom === undefined) return [{ path, before, after }];
  return [
    { path: renamedFrom, before, after: ABSENT },
    { path, renamedFrom, before: ABSENT, after },
  ];
}

/** Bytes; larger texts are reviewed as a whole. */
const LARGEST_SHOWN = 1_000_000;

export class Reviews {
  readonly #store: ReviewStore;
  readonly #contents: Contents;
  readonly #roots: readonly string[];
  readonly #quality: Pick<EditQuality, "settled"> | undefined;
  /** Requests are answered in order. */
  #queue: Promise<unknown> = Promise.resolve();

  /** @param roots real paths @param quality records files that the user has reviewed */
  constructor(
    store: ReviewStore,
    contents: Contents,
    roots: readonly string[],
    quality?: Pick<EditQuality, "settled">,
  ) {
    this.#quality = quality;
    this.#store = store;
    this.#contents = contents;
    this.#roots = roots;
  }

  /** Call it in the transaction that records the changes. */
  recorded(changes: readonly RecordedChange[]): void {
    const { removed, put } = reviewsAfter(changes, (path) => this.#store.get(path), this.#contents);
    for (const path of removed) this.#store.remove(path);
    for (const { path, kind, after } of changes) {
      const isTaken = kind === "undo" || kind === "restore";
      if (isTaken && removed.includes(path)) this.#quality?.settled(path, after);
    }
    for (const review of put) this.#store.put(review);
  }

  /** @param path undefined: all files */
  list(path: string | undefined, texts: boolean): Promise<ReviewFile[]> {
    return this.#inOrder(async () => {
      const one = path === undefined ? undefined : this.#store.get(path);
      const reviews = path === undefined ? this.#store.list() : one === undefined ? [] : [one];
      const files: ReviewFile[] = [];
      for (const review of reviews) {
        const file = await this.#reviewFile(review, texts);
        if (file !== undefined) files.push(file);
      }
      return files;
    });
  }

  /** @throws {ToolError} */
  update({ path, baseline, settled }: ReviewUpdate): Promise<void> {
    return this.#inOrder(async () => {
      if (settled) return await this.#settle(path);
      const known = this.#store.get(path);
      const review = known ?? this.#lastOf(path);
      if (review === undefined) return;
      const after = await takeSnapshot(path, this.#contents, this.#roots);
      const before = this.#baseline(baseline, known?.before ?? after, after);
      if (sameSnapshot(before, after) && review.renamedFrom === undefined) return await this.#settle(path);
      this.#store.put({ ...review, before, after });
    });
  }

  async #settle(path: string): Promise<void> {
    const known = this.#store.get(path);
    this.#store.remove(path);
    if (known === undefined || this.#quality === undefined) return;
    this.#quality.settled(path, await takeSnapshot(path, this.#contents, this.#roots));
  }

  /** Undefined if nothing of the file is left to review. */
  get(path: string): StoredReview | undefined {
    return this.#store.get(path);
  }

  /** The last change of a settled file, for reviewing it again. */
  #lastOf(path: string): StoredReview | undefined {
    for (const { session, turn, before, after } of this.#store.versions(path)) {
      return { path, session, turn, before, after };
    }
  }

  #baseline(text: string | undefined, before: Snapshot, now: Snapshot): Snapshot {
    if (text === undefined) return ABSENT;
    const format = [before, now].map((image) => this.#text(image)).find((known) => known !== undefined) ??
      PLAIN;
    const [mode] = [before, now].flatMap((image) => image.type === "file" ? [image.mode] : []);
    try {
      // The byte order mark is not part of the text here.
      const bytes = encodeText(text.replace(/^\ufeff/, ""), format);
      return { type: "file", mode, blob: this.#contents.put(bytes) };
    } catch (error) {
      if (error instanceof RangeError) {
        throw new ToolError(`Cannot note what was reviewed: ${error.message}.`);
      }
      throw error;
    }
  }

  /** Includes the user's later changes; undefined if nothing of the agent's is left. */
  async #reviewFile(review: StoredReview, texts: boolean): Promise<ReviewFile | undefined> {
    const { path, session: sessionId, turn, renamedFrom } = review;
    const now = await takeSnapshot(path, this.#contents, this.#roots);
    const before = carryEdits(review.before, review.after, now, this.#contents);
    if (sameSnapshot(before, now) && renamedFrom === undefined) return undefined;
    const kind = before.type === "absent"
      ? "created"
      : now.type === "absent"
      ? "deleted"
      : renamedFrom === undefined
      ? "modified"
      : "renamed";
    const file = {
      path,
      sessionId,
      turn,
      kind,
      ...(kind === "renamed" && renamedFrom !== undefined ? { from: renamedFrom } : {}),
    } as const;
    const [was, is] = [before, now].map((image) => image.type === "absent" ? "" : this.#text(image)?.text);
    if (was === undefined || is === undefined) return { ...file, opaque: true, added: 0, removed: 0 };
    const { added, removed } = lineDiff("", was, is);
    return {
      ...file,
      opaque: false,
      added,
      removed,
      ...(texts && before.type !== "absent" ? { baseline: was } : {}),
      ...(texts && now.type !== "absent" ? { after: is } : {}),
    };
  }

  #text(image: Snapshot) {
    if (image.type !== "file" || image.blob === undefined) return undefined;
    return this.#contents.size(image.blob) > LARGEST_SHOWN ? undefined : textOf(image.blob, this.#contents);
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}
