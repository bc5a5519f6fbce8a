/** Messages that a filter refused are logged, but never sent. Pure. */
import type { MessageEntry } from "../log/entries.ts";

/** Whether the user's message at this index was refused: the next answer is the refusal. */
export function isRefused(messages: readonly MessageEntry[], at: number): boolean {
  let next = at + 1;
  while (messages[next]?.type === "control_note") next += 1;
  const answer = messages[next];
  return messages[at]?.type === "user_message" && answer?.type === "assistant_message" &&
    answer.refused === true;
}
