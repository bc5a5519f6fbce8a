/** The history for templates that take one call in a message (Llama 3's): each with its result. Pure. */
import type { AssistantMessage, Message, ToolMessage } from "../core/messages.ts";

/** The same calls in the same order; an answer's text goes with the first of them. */
export function oneCallEach(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message, at) => {
    if (message.role === "assistant" && message.calls.length > 1) {
      return split(message, messages.slice(at + 1));
    }
    return message.role === "tool" && isSplit(messages, at) ? [] : [message];
  });
}

function split(message: AssistantMessage, after: readonly Message[]): readonly Message[] {
  const { written: _, ...rest } = message;
  const results = resultsAtStart(after);
  return message.calls.flatMap((call, at): readonly Message[] => [
    { ...rest, calls: [call], ...(at === 0 ? {} : { text: "", reasoning: [] }) },
    ...results.filter(({ id }) => id === call.id),
  ]);
}

function resultsAtStart(messages: readonly Message[]): readonly ToolMessage[] {
  const end = messages.findIndex(({ role }) => role !== "tool");
  return messages.slice(0, end < 0 ? messages.length : end).filter((message) => message.role === "tool");
}

/** The result stands with its call already. */
function isSplit(messages: readonly Message[], at: number): boolean {
  const answer = messages.slice(0, at).findLast(({ role }) => role !== "tool");
  return answer?.role === "assistant" && answer.calls.length > 1;
}
