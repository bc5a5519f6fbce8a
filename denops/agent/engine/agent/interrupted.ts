/** What is missing of a turn that was cut off by the end of its process. Pure. */
import type { AgentEvent } from "../core/events.ts";
import { INTERRUPTED, type Message, type ToolMessage } from "../core/messages.ts";
import type { StoredEvent } from "../core/ports.ts";

/** Characters of an interrupted answer that stay in the history: one that ran away must not fill the window. */
const LONGEST_PARTIAL = 20_000;

const CALL_INTERRUPTED =
  "Interrupted before it had ended: it may have done nothing, a part or all. Look before you go on.";

export interface Missing {
  readonly messages: readonly Message[];
  /** After the messages. */
  readonly events: readonly AgentEvent[];
}

/** What stays of an answer that was stopped, so that every question keeps an answer. */
export function partialAnswer(text: string): Message {
  const partial = text.trim() === "" ? INTERRUPTED : `${middleCut(text)}\n${INTERRUPTED}`;
  return { role: "assistant", text: partial, calls: [], reasoning: [] };
}

function middleCut(text: string): string {
  const left = text.length - LONGEST_PARTIAL;
  if (left <= 0) return text;
  const half = LONGEST_PARTIAL / 2;
  return `${text.slice(0, half)}\n[${left} characters left out]\n${text.slice(-half)}`;
}

/**
 * Nothing for a session whose last turn has ended, so that it may be asked again and again.
 * @param history all messages
 * @param turn the events of the last turn
 * @param begun the last turn has a message of its own
 */
export function missing(history: readonly Message[], turn: readonly StoredEvent[], begun: boolean): Missing {
  return { messages: missingMessages(history, turn, begun), events: missingEvents(turn) };
}

function missingMessages(
  history: readonly Message[],
  turn: readonly StoredEvent[],
  begun: boolean,
): readonly Message[] {
  const first = turn[0]?.event;
  if (!begun && first?.type === "turn_started") {
    return [{ role: "user", text: first.text }, partialAnswer("")];
  }
  const results = missingResults(history, turn);
  if (results.length > 0) return [...results, partialAnswer("")];
  const last = history.at(-1);
  if (last === undefined || last.role === "assistant") return [];
  return [partialAnswer(unfinishedText(history, turn))];
}

/** One for each call of the last answer that has none, in the order of the calls. */
function missingResults(history: readonly Message[], turn: readonly StoredEvent[]): readonly ToolMessage[] {
  const at = history.findLastIndex(({ role }) => role === "assistant");
  const answer = history[at];
  if (answer?.role !== "assistant") return [];
  const answered = new Set(
    history.slice(at).flatMap((message) => message.role === "tool" ? [message.id] : []),
  );
  return answer.calls.filter(({ id }) => !answered.has(id)).map(({ id, name }) => {
    // The call has ended, others that were made with it have not.
    const done = turn.findLast(({ event }) => event.type === "tool_done" && event.id === id)?.event;
    return done?.type === "tool_done"
      ? { role: "tool", id, name, text: done.output, isError: done.status === "failed" }
      : { role: "tool", id, name, text: CALL_INTERRUPTED, isError: true };
  });
}

/** The text that had come of an answer that is in no message. */
function unfinishedText(history: readonly Message[], turn: readonly StoredEvent[]): string {
  const pieces = turn.flatMap(({ event }) => event.type === "token" ? [event] : []);
  const id = pieces.at(-1)?.message;
  const text = pieces.filter(({ message }) => message === id).map((piece) => piece.text).join("");
  return history.some((message) => message.role === "assistant" && message.text === text) ? "" : text;
}

function missingEvents(turn: readonly StoredEvent[]): readonly AgentEvent[] {
  const ended = turn.some(({ event }) => event.type === "turn_done" || event.type === "turn_failed");
  if (ended || turn.length === 0) return [];
  const done = new Set(turn.flatMap(({ event }) => event.type === "tool_done" ? [event.id] : []));
  const open = turn.flatMap(({ event }) =>
    event.type === "tool_start" && !done.has(event.call.id) ? [event.call.id] : []
  );
  return [
    ...openThought(turn),
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

function openThought(turn: readonly StoredEvent[]): readonly AgentEvent[] {
  const last = turn.findLast(({ event }) => event.type === "thought" || event.type === "thought_done");
  if (last?.event.type !== "thought") return [];
  const { message } = last.event;
  const since = turn.find(({ event }) => event.type === "thought" && event.message === message)?.time;
  return [{ type: "thought_done", message, milliseconds: last.time - (since ?? last.time) }];
}
