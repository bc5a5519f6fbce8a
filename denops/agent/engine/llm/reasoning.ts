/** The reasoning in a history that goes back to its author. Pure. */
import type { AssistantMessage, Message } from "../log/messages.ts";

/** The unsigned thought as text. */
export function plainThought({ reasoning }: AssistantMessage): string | undefined {
  const texts = reasoning.flatMap((one) => one.type === "plain" ? [one.text] : []);
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

/** For a server that refuses reasoning. */
export function withoutReasoning(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => message.role === "assistant" ? { ...message, reasoning: [] } : message);
}
