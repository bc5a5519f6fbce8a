/**
 * Folds: what the model sees less of than the log has. Masked results are a line each, and a summary stands for all
 * messages before a place. Calls and their results are never parted. Pure.
 */
import type { Compaction, FoldEntry, MessageEntry, PinnedPart } from "../../log/entries.ts";
import type { Chosen } from "../chosen.ts";

export interface Folds {
  /** Id of a call → what stands for its result. */
  readonly masked: ReadonlyMap<string, string>;
  readonly compaction: Compaction | undefined;
  /** What would be taken back next. */
  readonly newest: "masking" | "compaction" | undefined;
  /** The user has taken the last one back: less is folded by itself from then on. */
  readonly undone: boolean;
}

/** @param entries all of the session, oldest first */
export function foldsInForce(entries: readonly FoldEntry[]): Folds {
  const held: Exclude<FoldEntry, { type: "fold_undone" }>[] = [];
  for (const entry of entries) {
    if (entry.type === "fold_undone") held.pop();
    else held.push(entry);
  }
  const masked = held.flatMap((entry) => entry.type === "masking" ? entry.results : []);
  return {
    masked: new Map(masked.map(({ id, text }) => [id, text])),
    compaction: held.findLast((entry) => entry.type === "compaction"),
    newest: held.at(-1)?.type,
    undone: entries.at(-1)?.type === "fold_undone",
  };
}

/** What a view is made of. @param messages those that the compaction, if there is one, has left */
export function folded(
  messages: readonly MessageEntry[],
  folds: Pick<Folds, "masked"> & Partial<Pick<Folds, "compaction">>,
): readonly MessageEntry[] {
  const rest = messages.map((entry) => maskedEntry(entry, folds));
  if (folds.compaction === undefined) return rest;
  const text = summaryText(folds.compaction);
  const [first, ...later] = rest;
  // Roles alternate, as some providers demand.
  if (first?.type !== "user_message") return [{ type: "control_note", reason: "folded", text }, ...rest];
  return [{ ...first, parts: [{ type: "text", text }, ...first.parts] }, ...later];
}

function maskedEntry(entry: MessageEntry, { masked }: Pick<Folds, "masked">): MessageEntry {
  if (entry.type !== "tool_result") return entry;
  const text = masked.get(entry.id);
  if (text === undefined) return entry;
  const { images: _, ...rest } = entry;
  return { ...rest, text };
}

const MARKS = { pending: " ", in_progress: "~", completed: "x" } as const;

function summaryText({ summary, words, plan, pinned = [] }: Compaction): string {
  const userWords = words.map((text) => `<user>\n${text}\n</user>`);
  const steps = plan.map(({ step, status }) => `- [${MARKS[status]}] ${step}`);
  return [
    "[The session up to here was folded. This summary stands for it; files can be read again.]",
    `<summary>\n${summary}\n</summary>`,
    ...userWords.length === 0 ? [] : [`The user's own words there, oldest first:\n${userWords.join("\n")}`],
    ...steps.length === 0 ? [] : [`Your plan as it was then:\n${steps.join("\n")}`],
    ...pinned.map(pinnedText),
  ].join("\n\n");
}

/** What stands in a view for a part that the user has pinned. */
export function pinnedText({ title, text }: PinnedPart): string {
  return `[${title}, as it was then: pinned by the user]\n${text}`;
}

/** The same without what the user has dropped since. */
export function withoutDroppedPins(compaction: Compaction, { dropped }: Chosen): Compaction {
  const { pinned = [], ...rest } = compaction;
  const kept = pinned.filter(({ id }) => !dropped.has(id));
  return kept.length === pinned.length ? compaction : { ...rest, pinned: kept };
}
