/** The hunks to review after a change. Pure, apart from contents stored by hash. */
import { type Contents, type RecordedChange, sameSnapshot, type Snapshot } from "../../log/checkpoints.ts";
import { isFileLike, type StoredReview } from "../../log/reviews.ts";
import { encodeText } from "../../../shared/text/text.ts";
import { mergePreferringOurs } from "../../../shared/text/merge.ts";
import { textOf } from "../restore/plan.ts";

/**
 * The baseline after the user turned `from` into `to`. On overlapping lines the baseline stays, and the difference
 * remains to be reviewed.
 */
export function carryEdits(baseline: Snapshot, from: Snapshot, to: Snapshot, contents: Contents): Snapshot {
  return carried(baseline, from, to, contents, "baseline");
}

function carried(
  baseline: Snapshot,
  from: Snapshot,
  to: Snapshot,
  contents: Contents,
  stays: "baseline" | "edit",
): Snapshot {
  if (sameSnapshot(from, to)) return baseline;
  if (sameSnapshot(baseline, from)) return to;
  if (from.type !== "file" || to.type !== "file") return to;
  if (from.blob === to.blob && from.blob !== undefined) {
    return baseline.type === "file" ? { ...baseline, mode: to.mode } : baseline;
  }
  // In a file that the agent created, lines alone cannot tell the user's part.
  if (baseline.type === "absent") return baseline;
  if (baseline.type !== "file") return to;
  const [was, ours, is] = [from, baseline, to].map(({ blob }) =>
    blob === undefined ? undefined : textOf(blob, contents)
  );
  if (was === undefined || ours === undefined || is === undefined) return to;
  const { text } = stays === "baseline"
    ? mergePreferringOurs(was.text, ours.text, is.text)
    : mergePreferringOurs(was.text, is.text, ours.text);
  try {
    return { type: "file", mode: to.mode, blob: contents.put(encodeText(text, is)) };
  } catch (error) {
    // The file's encoding cannot hold the merged text.
    if (error instanceof RangeError) return to;
    throw error;
  }
}

/** Updates of the review after a checkpoint. */
interface ReviewStep {
  /** Paths without anything left to review. */
  readonly removed: readonly string[];
  readonly put: readonly StoredReview[];
}

/** @param reviewOf the earlier review of a path */
export function reviewsAfter(
  changes: readonly RecordedChange[],
  reviewOf: (path: string) => StoredReview | undefined,
  contents: Contents,
): ReviewStep {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const sources = new Set(changes.flatMap(({ renamedFrom }) => renamedFrom ?? []));
  const removed: string[] = [...sources];
  const put: StoredReview[] = [];
  for (const change of changes) {
    if (sources.has(change.path)) continue;
    const source = change.renamedFrom === undefined ? undefined : byPath.get(change.renamedFrom);
    const was = source?.before ?? change.before;
    const next = reviewAfter(change, was, reviewOf((source ?? change).path), contents);
    if (next === undefined) removed.push(change.path);
    else put.push(next);
  }
  return { removed, put };
}

/** @param was the file before, at its earlier path */
function reviewAfter(
  { path, session, turn, kind, renamedFrom, after }: RecordedChange,
  was: Snapshot,
  review: StoredReview | undefined,
  contents: Contents,
): StoredReview | undefined {
  if (!isFileLike(was) || !isFileLike(after)) return undefined;
  // A new file that is ignored or huge has no lines to review.
  if (was.type === "absent" && after.type === "file" && !contents.has(after.blob)) return undefined;
  // The user's own reverts count as reviewed.
  const byUser = kind === "undo" || kind === "restore";
  if (byUser && review === undefined) return undefined;
  const agreed = review === undefined ? was : carryEdits(review.before, review.after, was, contents);
  const before = byUser ? carried(agreed, was, after, contents, "edit") : agreed;
  const origin = review?.renamedFrom ?? renamedFrom;
  const moved = before.type !== "absent" && origin !== undefined && origin !== path;
  if (!moved && sameSnapshot(before, after)) return undefined;
  return { path, session, turn, before, after, ...(moved ? { renamedFrom: origin } : {}) };
}
