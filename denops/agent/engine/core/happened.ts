/** What of the log cannot be taken back. */
import type { LogEntry } from "./entries.ts";
import type { Entries } from "./ports.ts";

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
