/**
 * Folds: parts of the log that the model sees in short form. Masked results become one line each, and a summary
 * replaces all messages before it. Calls stay with their results. Pure.
 */
import type { Compaction, FoldEntry, MessageEntry, PinnedPart } from "../../log/entries.ts";
import { type Chosen, skillId } from "../chosen.ts";

export interface Folds {
  /** Id of a call → the line that replaces its result. */
  readonly masked: ReadonlyMap<string, string>;
  readonly compaction: Compaction | undefined;
  /** The fold that an undo would remove. */
  readonly newest: "masking" | "compaction" | undefined;
  /** The user undid the last fold, so less is folded automatically. */
  readonly undone: boolean;
}

/** @param entries of the session, oldest first */
export function foldsInForce(entries: readonly FoldEntry[]): Folds {
  const active: Exclude<FoldEntry, { type: "fold_undone" }>[] = [];
  for (const entry of entries) {
    if (entry.type === "fold_undone") active.pop();
    else active.push(entry);
  }
  const masked = active.flatMap((entry) => entry.type === "masking" ? entry.results : []);
  return {
    masked: new Map(masked.map(({ id, text }) => [id, text])),
    compaction: active.findLast((entry) => entry.type === "compaction"),
    newest: active.at(-1)?.type,
    undone: entries.at(-1)?.type === "fold_undone",
  };
}

/** The messages of a view. @param messages those after the last compaction */
export function folded(
  messages: readonly MessageEntry[],
  folds: Pick<Folds, "masked"> & Partial<Pick<Folds, "compaction">>,
): readonly MessageEntry[] {
  const rest = messages.map((entry) => maskedEntry(entry, folds));
  if (folds.compaction === undefined) return rest;
  const text = summaryText(folds.compaction);
  const [first, ...later] = rest;
  // Some providers demand alternating roles.
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

/** A pinned part in a view. */
export function pinnedText({ id, title, text }: PinnedPart): string {
  if (id.startsWith(skillId(""))) return text;
  return `[${title}, as it was then: pinned by the user]\n${text}`;
}

/** The pinned parts that the next summary keeps: those that are still pinned, and skills. */
export function keptPins(before: Compaction | undefined, { pinned }: Chosen): readonly PinnedPart[] {
  return before?.pinned?.filter(({ id }) => pinned.has(id) || id.startsWith(skillId(""))) ?? [];
}

/** Removes pins that the user has dropped since. */
export function withoutDroppedPins(compaction: Compaction, { dropped }: Chosen): Compaction {
  const { pinned = [], ...rest } = compaction;
  const kept = pinned.filter(({ id }) => !dropped.has(id));
  return kept.length === pinned.length ? compaction : { ...rest, pinned: kept };
}
