/** What is to be done about a file that differs in a worktree. Pure. */
import type { Merge } from "../../../protocol/worktrees.ts";
import { merge3 } from "../../../shared/text/merge.ts";
import { lineEnding, withEnding } from "../../../shared/text/text.ts";

type Texts = Pick<Merge["files"][number], "base" | "theirs" | "merged">;

/** What is to be done about it; "same": nothing. */
type Step =
  | { readonly type: "write"; readonly content: string }
  | { readonly type: "delete" }
  | { readonly type: "same" }
  /** Half a sentence. */
  | { readonly type: "left"; readonly why: string };

/**
 * What has not been merged before begins where the worktree did. Where that would meet what was changed here, it is tried
 * from what was merged last: both sides may have had those lines by then.
 * @param ours the text in the project; undefined if there is no such file
 */
export function stepOf({ base, theirs, merged }: Texts, ours: string | undefined): Step {
  const first = from(base, theirs, ours);
  if (first.type !== "left" || merged === undefined) return first;
  const next = from(merged, theirs, ours);
  return next.type === "left" ? first : next;
}

function from(base: string | undefined, theirs: string | undefined, ours: string | undefined): Step {
  // Where git changes line endings, those of the project stay.
  const ending = ours === undefined ? undefined : lineEnding(ours);
  const plain = (text: string) => ending === undefined ? text : withEnding(text, ending);
  const [before, after] = [base, theirs].map((text) => text === undefined ? undefined : plain(text));
  if (ours === after) return { type: "same" };
  if (after === undefined) {
    return ours === before
      ? { type: "delete" }
      : { type: "left", why: "it is deleted there and changed here" };
  }
  if (ours === undefined) {
    return before === undefined
      ? { type: "write", content: after }
      : { type: "left", why: "it is changed there and deleted here" };
  }
  if (before === undefined) return { type: "left", why: "both have made a file of this name" };
  const done = merge3(before, ours, after);
  if (done.ok) return done.text === ours ? { type: "same" } : { type: "write", content: done.text };
  const lines = done.conflicts.map(({ line }) => line).join(", ");
  return { type: "left", why: `the same lines were changed here too (line ${lines})` };
}
