/** Tells messages, folds and events of the log apart. */
import { AgentEvent } from "./events.ts";
import { FoldEntry, type LogEntry, MessageEntry } from "./entries.ts";

const MESSAGES: ReadonlySet<string> = new Set(MessageEntry.options.map(({ shape }) => shape.type.value));
export const FOLD_TYPES: readonly string[] = FoldEntry.options.map(({ shape }) => shape.type.value);
const EVENTS: ReadonlySet<string> = new Set(AgentEvent.options.map(({ shape }) => shape.type.value));

export function isMessageType(type: string): boolean {
  return MESSAGES.has(type);
}

export function isEventType(type: string): boolean {
  return EVENTS.has(type);
}

export function isFoldType(type: string): boolean {
  return FOLD_TYPES.includes(type);
}

export function isFold(entry: LogEntry): entry is FoldEntry {
  return isFoldType(entry.type);
}

export function isMessage(entry: LogEntry): entry is MessageEntry {
  return isMessageType(entry.type);
}

export function isEvent(entry: LogEntry): entry is AgentEvent {
  return isEventType(entry.type);
}

/** Events about things that have happened and must be reported. */
const HAPPENED: ReadonlySet<LogEntry["type"]> = new Set([
  "tool_result",
  "tool_done",
  "file_modified",
  "notice",
]);

/** Whether any entry is about something that happened even if it is not stored. */
export function hasHappened(entries: readonly LogEntry[] = []): boolean {
  return entries.some(({ type }) => HAPPENED.has(type));
}
