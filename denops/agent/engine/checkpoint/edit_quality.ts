/** Records the fate of each call's hunks once a file is fully reviewed. */
import type { Contents, Snapshot } from "../log/checkpoints.ts";
import type { EditLog } from "../log/edits.ts";
import type { ReviewStore, Version } from "../log/reviews.ts";
import { outcomesOf } from "./review/hunk_outcomes.ts";
import { textOf } from "./restore/plan.ts";

/** Writes of one file that are compared; each needs a diff. */
const MOST_WRITES = 30;
/** Characters of a text. */
const LARGEST = 1_000_000;

export class EditQuality {
  readonly #store: ReviewStore;
  readonly #contents: Contents;
  readonly #log: EditLog;

  constructor(store: ReviewStore, contents: Contents, log: EditLog) {
    this.#store = store;
    this.#contents = contents;
    this.#log = log;
  }

  /** @param now the file as the user left it */
  settled(path: string, now: Snapshot): void {
    const open: Version[] = [];
    for (const version of this.#store.versions(path)) {
      const { session, toolCall, kind } = version;
      if (kind !== "tool" && kind !== "command") continue;
      const isOpen = kind === "command" || this.#log.isOpen(session, toolCall ?? "", path);
      if (open.length === MOST_WRITES || !isOpen) break;
      open.unshift(version);
    }
    const writes = open.flatMap(({ before, after }) => {
      const [was, is] = [this.#text(before), this.#text(after)];
      return was === undefined || is === undefined ? [] : [{ before: was, after: is }];
    });
    const text = this.#text(now);
    if (writes.length < open.length || text === undefined) return;
    const outcomes = outcomesOf(writes, text);
    for (const [at, { session, kind, toolCall }] of open.entries()) {
      const found = outcomes?.[at];
      // A command's changes are the agent's, but not an edit.
      if (kind === "tool" && found !== undefined) this.#log.settled(session, toolCall ?? "", path, found);
    }
  }

  #text(image: Snapshot): string | undefined {
    if (image.type === "absent") return "";
    if (image.type !== "file" || image.blob === undefined) return undefined;
    return this.#contents.size(image.blob) > LARGEST ? undefined : textOf(image.blob, this.#contents)?.text;
  }
}
