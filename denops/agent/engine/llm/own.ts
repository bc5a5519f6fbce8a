/** Adapts the messages of a session with several models to one of them. Pure. */
import type { Author, Message } from "../log/messages.ts";

/**
 * Removes what only its author can read of an answer: signed or encrypted reasoning, extra data of a call, a
 * call's native syntax. An answer without a known author stays unchanged.
 */
export function ownOf(messages: readonly Message[], author: Author): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== "assistant" || message.by === undefined || isSame(message.by, author)) {
      return message;
    }
    const { written: _, ...rest } = message;
    return { ...rest, reasoning: [], calls: message.calls.map(({ extra: _, ...call }) => call) };
  });
}

function isSame(one: Author, other: Author): boolean {
  return one.wire === other.wire && one.provider === other.provider && one.model === other.model;
}
