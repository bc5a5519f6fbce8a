/** Changed files for the screen's list. */
import { dirname, sep } from "node:path";
import type { TurnFile } from "../../protocol/requests.ts";
import type { Contents, FileRecord, Snapshot } from "../log/checkpoints.ts";
import { lineDiff } from "../log/line_diff.ts";
import { textOf } from "./restore/plan.ts";

/** More counts are computed again. */
const MOST_COUNTS = 1_000;

type Counts = Pick<TurnFile, "added" | "removed" | "opaque">;

/** More files are listed by folder. */
const MOST_FILES = 1_000;

interface ChangedFile extends Pick<TurnFile, "path" | "from" | "kind"> {
  readonly before: Snapshot;
  readonly after: Snapshot;
}

export class TurnFiles {
  readonly #contents: Contents;
  /** Contents never change, so neither do their diffs. */
  readonly #counts = new Map<string, Counts>();

  constructor(contents: Contents) {
    this.#contents = contents;
  }

  /**
   * @param records net changes; folders are not listed, a moved file once. Beyond a number, folders stand for the rest
   */
  list(records: readonly FileRecord[]): TurnFile[] {
    const files = this.#kinds(records);
    const listed = files.slice(0, MOST_FILES).map(({ before, after, ...file }) => ({
      ...file,
      ...this.#count(before, after),
    }));
    return [...listed, ...folders(files.slice(MOST_FILES))];
  }

  /** The number of files that `list` covers, without reading their contents. */
  count(records: readonly FileRecord[]): number {
    return this.#kinds(records).length;
  }

  #kinds(records: readonly FileRecord[]): readonly ChangedFile[] {
    const sources = new Map(records.map((record) => [record.path, record]));
    const moved = new Set(records.flatMap(({ renamedFrom }) => renamedFrom ?? []));
    return records.flatMap((record): ChangedFile[] => {
      const { path, renamedFrom, after } = record;
      const before = renamedFrom === undefined
        ? record.before
        : sources.get(renamedFrom)?.before ?? record.before;
      const isFile = [before, after].some(({ type }) => type === "file" || type === "link");
      if (moved.has(path) || !isFile) return [];
      const kind = renamedFrom !== undefined
        ? "renamed"
        : before.type === "absent"
        ? "created"
        : after.type === "absent"
        ? "deleted"
        : "modified";
      const from = renamedFrom === undefined ? {} : { from: renamedFrom };
      return [{ path, ...from, kind, before, after }];
    });
  }

  #count(before: Snapshot, after: Snapshot): Counts {
    const key = [before, after].map((side) => side.type === "file" ? side.blob : side.type).join(" ");
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const [was, is] = [this.#text(before), this.#text(after)];
    const counts: Counts = was === undefined || is === undefined
      ? { added: 0, removed: 0, opaque: true }
      : { ...countsOnly(was, is), opaque: false };
    if (this.#counts.size >= MOST_COUNTS) this.#counts.clear();
    this.#counts.set(key, counts);
    return counts;
  }

  /** "" for a missing file; undefined for one without lines. */
  #text(image: Snapshot): string | undefined {
    if (image.type === "absent") return "";
    return image.type === "file" ? textOf(image.blob, this.#contents)?.text : undefined;
  }
}

/** One row for each kind and folder, in the deepest folder that contains them all. */
function folders(files: readonly ChangedFile[]): readonly TurnFile[] {
  const [first, ...rest] = files.map(({ path }) => dirname(path).split(sep));
  if (first === undefined) return [];
  const depth = rest.reduce((most, parts) => {
    const other = first.findIndex((part, index) => index < most && parts[index] !== part);
    return other < 0 ? Math.min(most, parts.length) : other;
  }, first.length);
  const groups = Map.groupBy(
    files,
    ({ path, kind }) => `${kind} ${dirname(path).split(sep).slice(0, depth + 1).join(sep)}`,
  );
  return [...groups].flatMap(([key, { length: count, 0: one }]) => {
    if (one === undefined) return [];
    const path = key.slice(one.kind.length + 1);
    return [{ path, kind: one.kind, added: 0, removed: 0, opaque: false, count }];
  });
}

function countsOnly(before: string, after: string): { added: number; removed: number } {
  const { added, removed } = lineDiff("", before, after);
  return { added, removed };
}
