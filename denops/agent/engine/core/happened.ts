/** Which events a session cannot do without, and which it cannot take back. */
import type { LogEntry } from "./entries.ts";
import type { AgentEvent } from "./events.ts";
import type { Entries } from "./ports.ts";

/** Events of the moment: they are shown, but a resume does not need them, or finds them elsewhere. */
const TRANSIENT: ReadonlySet<AgentEvent["type"]> = new Set(["tool_writing", "retry", "title"]);

export function isTransient({ type }: AgentEvent): boolean {
  return TRANSIENT.has(type);
}

/** Files are changed, a call has ended, and both are to be told. */
const HAPPENED: ReadonlySet<LogEntry["type"]> = new Set([
  "tool_result",
  "tool_done",
  "file_modified",
  "notice",
]);

/** What cannot be stored has not happened, unless it has. */
export function hasHappened({ entries = [] }: Entries): boolean {
  return entries.some(({ type }) => HAPPENED.has(type));
}
