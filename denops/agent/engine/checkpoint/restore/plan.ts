/** Decides how to restore a file. Changes nothing; pure, apart from stored contents. */
import { type Contents, sameSnapshot, type Snapshot } from "../../log/checkpoints.ts";
import { type DecodedText, decodeText, encodeText } from "../../../shared/text/text.ts";
import { conflictText, merge3 } from "../../../shared/text/merge.ts";

type FileImage = Extract<Snapshot, { type: "file" }>;

/** Three images of one path. */
interface Sides {
  readonly now: Snapshot;
  /** As the agent left it. */
  readonly left: Snapshot;
  /** The image to restore. */
  readonly then: Snapshot;
}

type Decision =
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "restored" | "merged"; readonly image: Snapshot }
  | { readonly outcome: "conflict" | "skipped"; readonly text: string };

/** Larger files are not merged by line. */
const LARGEST_TEXT = 20_000_000;

export function decide({ now, left, then }: Sides, contents: Contents): Decision {
  if (sameSnapshot(now, then)) return { outcome: "unchanged" };
  const isThere = now.type === "file" && then.type === "file" && now.blob === then.blob;
  if (then.type === "file" && !isThere && !contents.has(then.blob)) {
    return { outcome: "skipped", text: "its content was not kept: it was too large, or could not be read" };
  }
  if (then.type === "other") return { outcome: "skipped", text: "it was neither a file nor a link" };
  if (sameSnapshot(now, left)) return { outcome: "restored", image: then };
  if (now.type === "file" && left.type === "file") {
    if (then.type === "file") return decideFiles(now, left, then, contents);
    // Only the mode has changed.
    if (now.blob === left.blob) return { outcome: "restored", image: then };
  }
  return { outcome: "conflict", text: sinceThen(now, left) };
}

function sinceThen(now: Snapshot, left: Snapshot): string {
  if (now.type === "absent") return "it was deleted since";
  if (left.type === "absent") return `there is a ${now.type} by now`;
  return now.type === left.type ? "it was changed since" : `it is a ${now.type} by now`;
}

/** Content and mode are decided separately. */
function decideFiles(now: FileImage, left: FileImage, then: FileImage, contents: Contents): Decision {
  const mode = now.mode === left.mode ? then.mode : now.mode;
  const whole = (blob: string): Decision => {
    const image: Snapshot = { type: "file", mode, blob };
    return sameSnapshot(image, now) ? { outcome: "unchanged" } : {
      // A buffer's mode may be unknown.
      outcome: blob === then.blob && (then.mode ?? mode) === mode ? "restored" : "merged",
      image,
    };
  };
  if (now.blob === left.blob) return whole(then.blob);
  if (now.blob === then.blob || left.blob === then.blob) return whole(now.blob);
  const [base, ours, theirs] = [left, now, then].map(({ blob }) => textOf(blob, contents));
  if (base === undefined || ours === undefined || theirs === undefined) {
    return { outcome: "conflict", text: "it was changed since, and is not text that could be merged" };
  }
  const merged = merge3(base.text, ours.text, theirs.text);
  if (!merged.ok) return { outcome: "conflict", text: conflictText(merged.conflicts, "now", "to come back") };
  try {
    return whole(contents.put(encodeText(merged.text, ours)));
  } catch (error) {
    if (error instanceof RangeError) return { outcome: "conflict", text: error.message };
    throw error;
  }
}

/** Undefined for binary and very large files, and for contents that are not stored. */
export function textOf(blob: string, contents: Contents): DecodedText | undefined {
  if (!contents.has(blob) || contents.size(blob) > LARGEST_TEXT) return undefined;
  return decodeText(contents.get(blob));
}
