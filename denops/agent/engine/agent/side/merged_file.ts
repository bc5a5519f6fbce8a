/** Decides how to merge a file that differs in a worktree. Pure. */
import type { Merge } from "../../../protocol/worktrees.ts";
import { merge3 } from "../../../shared/text/merge.ts";
import { lineEnding, withEnding } from "../../../shared/text/text.ts";

type Texts = Pick<Merge["files"][number], "base" | "theirs" | "merged">;

/** The action for a file; "same": none. */
type Step =
  | { readonly type: "write"; readonly content: string }
  | { readonly type: "delete" }
  | { readonly type: "same" }
  /** The reason, as half a sentence. */
  | { readonly type: "left"; readonly why: string };

/**
 * A first merge starts from the worktree's base. If that conflicts with local changes, it starts from the last merge,
 * because both sides may have those lines by now.
 * @param ours the project's text; undefined if the file does not exist
 */
export function stepOf({ base, theirs, merged }: Texts, ours: string | undefined): Step {
  const first = from(base, theirs, ours);
  if (first.type !== "left" || merged === undefined) return first;
  const next = from(merged, theirs, ours);
  return next.type === "left" ? first : next;
}

function from(base: string | undefined, theirs: string | undefined, ours: string | undefined): Step {
  // The project's line endings stay if git converts them.
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
