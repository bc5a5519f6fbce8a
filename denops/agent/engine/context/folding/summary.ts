/** The request for a summary, and the fallback without a model. Pure. */
import type { ControlNote, MessageEntry } from "../../log/entries.ts";
import type { CallFacts, Foldable } from "./fold_plan.ts";
import { middleCut } from "../../../shared/text/text.ts";

const HEADINGS = [
  "Current state",
  "Work completed",
  "Files involved",
  "Approaches that failed",
  "Promises made",
  "Remaining work",
  "Key context",
] as const;

/** Limits of the fallback: files, calls, answers, and characters of each answer. */
const MOST_FILES = 40;
const MOST_CALLS = 20;
const MOST_ANSWERS = 3;
const LONGEST_ANSWER = 800;
/** Characters of the previous summary. */
const LONGEST_BEFORE = 3_000;

/** @param focus the user's emphasis */
export function summaryQuestion(focus: string | undefined): ControlNote {
  const text = [
    "Stop here for a moment: the session is about to be folded. Write a summary from which you can go on without " +
    "the messages above; of them the last few stay, with the user's own words and your plan. Write at most 700 words " +
    "under these headings, and leave out those with nothing to say:",
    HEADINGS.map((heading) => `# ${heading}`).join("\n"),
    "Name files, functions, commands and errors exactly. Under Promises made stands whatever you or the user have " +
    "agreed to that still holds. If a summary stands above, carry over what is still true of it.",
    ...focus === undefined ? [] : [`What matters most to the user: ${focus}`],
    "Answer with the summary alone. Call no tools.",
  ].join("\n\n");
  return { type: "control_note", reason: "summarize", text };
}

/** Built from the log alone. @param before the previous summary */
export function ownSummary(
  { messages, about }: Pick<Foldable, "messages" | "about">,
  before: string | undefined,
): string {
  const calls = messages.flatMap((entry) => entry.type === "assistant_message" ? entry.calls : []).map(about);
  const answers = messages.flatMap((entry) =>
    entry.type === "assistant_message" && entry.text.trim() !== "" ? [entry.text.trim()] : []
  );
  const failed = failures(messages);
  const parts = [
    ["Current state", answers.slice(-MOST_ANSWERS).map((text) => middleCut(text, LONGEST_ANSWER))],
    ["Work completed", calls.slice(-MOST_CALLS).map(({ title }) => `- ${title}`)],
    ["Files involved", filesOf(calls)],
    ["Approaches that failed", failed.slice(-MOST_ANSWERS).map((text) => `- ${text}`)],
    ["Key context", before === undefined ? [] : [middleCut(before, LONGEST_BEFORE)]],
  ] as const satisfies readonly (readonly [typeof HEADINGS[number], readonly string[]])[];
  return parts.filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => `# ${heading}\n${lines.join("\n")}`).join("\n\n");
}

function filesOf(calls: readonly CallFacts[]): readonly string[] {
  const written = new Map<string, boolean>();
  for (const { path, writes } of calls) {
    if (path !== undefined) written.set(path, writes || written.get(path) === true);
  }
  return [...written].slice(-MOST_FILES).map(([path, isWritten]) =>
    `- ${path}${isWritten ? " (written)" : ""}`
  );
}

function failures(messages: readonly MessageEntry[]): readonly string[] {
  return messages.flatMap((entry) =>
    entry.type === "tool_result" && entry.isError ? [middleCut(entry.text.replace(/\s+/g, " "), 200)] : []
  );
}
