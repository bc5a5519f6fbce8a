/** What a filter has refused is in the log, and in nothing that is sent. Pure. */
import type { MessageEntry } from "../log/entries.ts";

/** The message of the user's at this place was refused: the answer right after it is the refusal. */
export function isRefused(messages: readonly MessageEntry[], at: number): boolean {
  let next = at + 1;
  while (messages[next]?.type === "control_note") next += 1;
  const answer = messages[next];
  return messages[at]?.type === "user_message" && answer?.type === "assistant_message" &&
    answer.refused === true;
}
