/** Messages of a session in which several models have answered, as one of them may be sent them. Pure. */
import type { Author, Message } from "../log/messages.ts";

/**
 * Without what only its author can read of an answer: signed or encrypted reasoning, what goes back with a call, a
 * call's own syntax. An answer of nobody known stays as it is.
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
