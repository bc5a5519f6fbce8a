/** When a file has been reviewed to its end: what has become of the hunks of each call. */
import type { Contents, Snapshot } from "../core/checkpoints.ts";
import type { EditLog } from "../core/edits.ts";
import type { ReviewStore, Version } from "../core/reviews.ts";
import { outcomesOf } from "./hunk_outcomes.ts";
import { textOf } from "./plan.ts";

/** Writes of one file that are looked at: a diff each. */
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

  /** @param now the file as the user has left it */
  settled(path: string, now: Snapshot): void {
    const open: { readonly session: string; readonly call: string; readonly version: Version }[] = [];
    for (const version of this.#store.versions(path)) {
      const { session, toolCall: call, kind } = version;
      if (kind !== "tool" || call === undefined) continue;
      if (open.length === MOST_WRITES || !this.#log.isOpen(session, call, path)) break;
      open.unshift({ session, call, version });
    }
    const writes = open.flatMap(({ version: { before, after } }) => {
      const [was, is] = [this.#text(before), this.#text(after)];
      return was === undefined || is === undefined ? [] : [{ before: was, after: is }];
    });
    const text = this.#text(now);
    if (writes.length < open.length || text === undefined) return;
    const outcomes = outcomesOf(writes, text);
    for (const [at, { session, call }] of open.entries()) {
      const found = outcomes?.[at];
      if (found !== undefined) this.#log.settled(session, call, path, found);
    }
  }

  #text(image: Snapshot): string | undefined {
    if (image.type === "absent") return "";
    if (image.type !== "file" || image.blob === undefined) return undefined;
    return this.#contents.size(image.blob) > LARGEST ? undefined : textOf(image.blob, this.#contents)?.text;
  }
}
