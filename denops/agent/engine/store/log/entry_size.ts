/** Estimates the size of a log entry in a model's window. */
import { type LogEntry } from "../../log/entries.ts";
import { isMessage } from "../../log/entry_kinds.ts";

/** Characters that an image counts as. */
const IMAGE_SIZE = 8_000;

/** In characters. */
export function sizeOf(entry: LogEntry): number {
  if (!isMessage(entry)) return 0;
  switch (entry.type) {
    case "user_message":
      return entry.parts.reduce((sum, part) => {
        const image = part.type === "given" && part.image !== undefined ? IMAGE_SIZE : 0;
        return sum + ("text" in part ? part.text.length : 0) + image;
      }, 0);
    case "assistant_message":
      return entry.calls.reduce((sum, call) => sum + call.arguments.length, entry.text.length);
    case "tool_result":
    case "control_note":
      return entry.text.length + IMAGE_SIZE * (entry.images?.length ?? 0);
  }
}
