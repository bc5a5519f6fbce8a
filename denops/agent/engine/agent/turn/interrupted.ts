/** Completes a turn that ended with its process. Pure. */
import { CALL_INTERRUPTED } from "../../context/view.ts";
import type { AssistantEntry, LogEntry, MessageEntry, ResultEntry } from "../../log/entries.ts";
import type { AgentEvent } from "../../log/events.ts";
import type { Stored } from "../../ports/store.ts";
import { middleCut } from "../../../shared/text/text.ts";

/** The end of a call that its runner left open. */
export const LEFT_OPEN = {
  status: "failed",
  summary: "stopped",
  output: "The turn ended before the call did.",
  stopped: true,
} as const;

/** Characters of an interrupted answer in the history; a runaway answer must not fill the window. */
const LONGEST_PARTIAL = 20_000;

/** The partial answer of a stopped request, so that each question has an answer. */
export function partialAnswer(text: string): AssistantEntry {
  const partial = text.trim() === "" ? "" : middleCut(text, LONGEST_PARTIAL);
  return { type: "assistant_message", text: partial, calls: [], reasoning: [], interrupted: true };
}

/**
 * Empty if the last turn has ended, so it may be called repeatedly.
 * @param history all messages @param turn the events of the last turn
 */
export function missing(history: readonly MessageEntry[], turn: readonly Stored[]): readonly LogEntry[] {
  return [...missingMessages(history, turn), ...missingEvents(turn)];
}

function missingMessages(
  history: readonly MessageEntry[],
  turn: readonly Stored[],
): readonly MessageEntry[] {
  const results = missingResults(history, turn);
  if (results.length > 0) return [...results, partialAnswer("")];
  const last = history.at(-1);
  if (last === undefined || last.type === "assistant_message") return [];
  return [partialAnswer(unfinishedText(history, turn))];
}

/** A result for each unanswered call of the last answer, in order. */
function missingResults(history: readonly MessageEntry[], turn: readonly Stored[]): readonly ResultEntry[] {
  const at = history.findLastIndex(({ type }) => type === "assistant_message");
  const answer = history[at];
  if (answer?.type !== "assistant_message") return [];
  const answered = new Set(
    history.slice(at).flatMap((message) => message.type === "tool_result" ? [message.id] : []),
  );
  return answer.calls.filter(({ id }) => !answered.has(id)).map(({ id, name }) => {
    // This call ended; others of its batch did not.
    const done = turn.findLast(({ entry }) => entry.type === "tool_done" && entry.id === id)?.entry;
    return done?.type === "tool_done"
      ? { type: "tool_result", id, name, text: done.output, isError: done.status === "failed" }
      : { type: "tool_result", id, name, text: CALL_INTERRUPTED, isError: true };
  });
}

/** Streamed text that is in no message. */
function unfinishedText(history: readonly MessageEntry[], turn: readonly Stored[]): string {
  // A sub-agent's text is not an answer to the user.
  const start = turn.findLastIndex(({ entry }) => entry.type === "retold" && entry.was === "text");
  const pieces = turn.slice(start + 1).flatMap(({ entry }) =>
    entry.type === "token" && entry.parent === undefined ? [entry] : []
  );
  const id = pieces.at(-1)?.message;
  const text = pieces.filter(({ message }) => message === id).map((piece) => piece.text).join("");
  const isStored = history.some((message) =>
    message.type === "assistant_message" && message.interrupted !== true && message.text === text
  );
  return isStored ? "" : text;
}

function missingEvents(turn: readonly Stored[]): readonly AgentEvent[] {
  const ended = turn.some(({ entry }) => entry.type === "turn_done" || entry.type === "turn_failed");
  if (ended || turn.length === 0) return [];
  const done = new Set(turn.flatMap(({ entry }) => entry.type === "tool_done" ? [entry.id] : []));
  const open = turn.flatMap(({ entry }) =>
    entry.type === "tool_start" && !done.has(entry.call.id) ? [entry.call.id] : []
  );
  return [
    ...openThoughts(turn),
    ...open.map((id) => ({
      type: "tool_done" as const,
      id,
      status: "failed" as const,
      summary: "interrupted",
      output: CALL_INTERRUPTED,
      stopped: true,
    })),
    { type: "turn_done", reason: "interrupted" },
  ];
}

function openThoughts(turn: readonly Stored[]): readonly AgentEvent[] {
  const done = new Set(turn.flatMap(({ entry }) => entry.type === "thought_done" ? [entry.message] : []));
  const open = new Map<string, { readonly first: Stored; readonly last: Stored }>();
  for (const stored of turn) {
    const { entry } = stored;
    if (entry.type === "retold" && entry.was === "thought") open.delete(entry.message);
    if (entry.type !== "thought" || done.has(entry.message)) continue;
    open.set(entry.message, { first: open.get(entry.message)?.first ?? stored, last: stored });
  }
  // Sub-agents may also have been thinking.
  return [...open].map(([message, { first, last }]) => ({
    ...{ type: "thought_done", message, milliseconds: last.time - first.time } as const,
    ...(last.entry.parent === undefined ? {} : { parent: last.entry.parent }),
  }));
}
