/** Entries of a session's log, as the engine makes them. */
import type { AssistantEntry, ResultEntry } from "../../denops/agent/engine/log/entries.ts";
import type { UserMessage } from "../../denops/agent/engine/log/events.ts";
import type { ToolCall } from "../../denops/agent/engine/log/messages.ts";

export function asked(text: string): UserMessage {
  return { type: "user_message", origin: "user", parts: [{ type: "text", text }] };
}

export function answered(text: string, calls: readonly ToolCall[] = []): AssistantEntry {
  return { type: "assistant_message", text, calls, reasoning: [] };
}

export function result(id: string, name: string, text: string): ResultEntry {
  return { type: "tool_result", id, name, text, isError: false };
}
