/**
 * Rewrites the history for templates that accept one call per message (Llama 3): each call with its result.
 * Pure.
 */
import type { AssistantMessage, Message, ToolMessage } from "../log/messages.ts";

/** Keeps the order of the calls. An answer's text goes with the first of them. */
export function oneCallEach(messages: readonly Message[]): readonly Message[] {
  const list: Message[] = [];
  for (let at = 0; at < messages.length;) {
    const message = messages[at++];
    if (message?.role !== "assistant" || message.calls.length < 2) {
      if (message !== undefined) list.push(message);
      continue;
    }
    const results: ToolMessage[] = [];
    for (let next = messages[at]; next?.role === "tool"; next = messages[++at]) results.push(next);
    list.push(...split(message, results));
  }
  return list;
}

function split(message: AssistantMessage, results: readonly ToolMessage[]): readonly Message[] {
  const { written: _, ...rest } = message;
  return message.calls.flatMap((call, at): readonly Message[] => [
    { ...rest, calls: [call], ...(at === 0 ? {} : { text: "", reasoning: [] }) },
    ...results.filter(({ id }) => id === call.id),
  ]);
}
