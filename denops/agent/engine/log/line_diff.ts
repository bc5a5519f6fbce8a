/** How many lines a change adds and removes, and where it begins. Pure. */
import { diffLines } from "../../deps/diff.ts";
import type { Diff } from "./events.ts";
import { defined } from "../../shared/records.ts";
import { splitLines } from "../../shared/text/text.ts";

/** A diff that takes longer is counted as a whole replacement. */
const LONGEST_MS = 500;

export function lineDiff(path: string, before: string | undefined, after: string): Diff {
  const changes = diffLines(before ?? "", after, { timeout: LONGEST_MS });
  const count = (kind: "added" | "removed") =>
    changes?.filter((change) => change[kind]).reduce((sum, change) => sum + change.count, 0);
  return {
    path,
    ...(before === undefined ? {} : { before }),
    after,
    added: count("added") ?? splitLines(after).length,
    removed: count("removed") ?? splitLines(before ?? "").length,
    ...defined({ line: firstLine(changes ?? []) }),
  };
}

/** The first changed line of the new text, from 1. For removed lines, it is the line that follows them. */
function firstLine(
  changes: readonly { readonly added: boolean; readonly removed: boolean; readonly count: number }[],
): number | undefined {
  let line = 1;
  for (const { added, removed, count } of changes) {
    if (added || removed) return line;
    line += count;
  }
  return undefined;
}

/** "+3 −1"; "no change" if there is none. */
export function countsOf(diff: Diff): string {
  if (diff.added + diff.removed === 0) return diff.before === diff.after ? "no change" : "+0 −0";
  return [diff.added > 0 ? `+${diff.added}` : "", diff.removed > 0 ? `−${diff.removed}` : ""]
    .filter((part) => part !== "").join(" ");
}
