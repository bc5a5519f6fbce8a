/** Reasoning in a history: what of it goes back to who has written it. Pure. */
import type { AssistantMessage, Message } from "../log/messages.ts";

/** Without a signature: the thought as it was told. */
export function plainThought({ reasoning }: AssistantMessage): string | undefined {
  const texts = reasoning.flatMap((one) => one.type === "plain" ? [one.text] : []);
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

/** For a server that refuses it. */
export function withoutReasoning(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => message.role === "assistant" ? { ...message, reasoning: [] } : message);
}
