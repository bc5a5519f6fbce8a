/**
 * Converts logs from before entries had schemas. They contained events, and messages in the format of
 * requests: first in two tables, then in the log of a turn.
 */
import type { ControlNote, LogEntry } from "../../log/entries.ts";
import type { Image, Reasoning, ToolCall } from "../../log/messages.ts";

export interface OldEntry {
  /** "message", or an event's type. */
  readonly kind: string;
  readonly time: number;
  /** Undefined if it is unreadable. */
  readonly value: unknown;
}

export interface DatedEntry {
  readonly time: number;
  readonly kind: string;
  /** Undefined if it is unreadable. */
  readonly entry: LogEntry | undefined;
}

/** The end of an interrupted answer. */
const INTERRUPTED = "[The answer was interrupted here.]";

type OldMessage =
  | { readonly role: "user"; readonly text: string }
  | {
    readonly role: "assistant";
    readonly text: string;
    readonly calls: readonly ToolCall[];
    readonly reasoning: readonly Reasoning[];
  }
  | {
    readonly role: "tool";
    readonly id: string;
    readonly name: string;
    readonly text: string;
    readonly isError: boolean;
    readonly images?: readonly Image[];
  };

/** Converts the entries of one turn. */
export function converted(old: readonly OldEntry[]): readonly DatedEntry[] {
  const words = wordsOf(old);
  let isFirst = true;
  return old.flatMap(({ kind, time, value }): readonly DatedEntry[] => {
    const dated = (entry: LogEntry) => [{ time, kind: entry.type, entry }];
    if (kind === "turn_started") return dated(userMessage(words ?? ""));
    if (value === undefined) {
      return [{ time, kind: kind === "message" ? "assistant_message" : kind, entry: undefined }];
    }
    if (kind !== "message") return dated(value as LogEntry);
    const message = value as OldMessage;
    if (message.role !== "user") return dated(answerOf(message));
    const entry = isFirst ? promptOf(message.text, words) : noteOf(message.text);
    isFirst = false;
    return entry === undefined ? [] : dated(entry);
  });
}

/** The message that began the turn. */
export function wordsOf(old: readonly OldEntry[]): string | undefined {
  const begun = old.find(({ kind }) => kind === "turn_started")?.value;
  return (begun as { readonly text: string } | undefined)?.text;
}

/** Merges events and messages of one turn into a likely order. */
export function woven(events: readonly OldEntry[], messages: readonly OldEntry[]): readonly OldEntry[] {
  const left = [...messages];
  const next = (count: number, time: number) =>
    left.splice(0, count).map((message) => ({ ...message, time }));
  const woven = events.flatMap((event) => {
    if (isEnd(event)) return [...next(left.length, event.time), event];
    if (event.kind !== "tool_start") return [event];
    const { call } = (event.value ?? {}) as { readonly call?: { readonly id: string } };
    const made = left.findIndex(({ value }) => {
      const message = value as OldMessage | undefined;
      return message?.role === "assistant" && message.calls.some(({ id }) => id === call?.id);
    });
    return [...next(made + 1, event.time), event];
  });
  return [...woven, ...next(left.length, events.at(-1)?.time ?? 0)];
}

export function isEnd({ kind }: Pick<OldEntry, "kind">): boolean {
  return kind === "turn_done" || kind === "turn_failed";
}

function userMessage(text: string): LogEntry {
  return { type: "user_message", origin: "user", parts: [{ type: "text", text }] };
}

/** The log has the user's words already. A note about files may precede them here. */
function promptOf(text: string, words: string | undefined): LogEntry | undefined {
  if (words === undefined) return userMessage(text);
  if (text === words) return undefined;
  const note = text.endsWith(words) ? text.slice(0, -words.length).trimEnd() : text;
  return { type: "control_note", reason: "files", text: note };
}

function noteOf(text: string): LogEntry {
  const states: readonly ControlNote["reason"][] = ["need_fixes", "nothing_done"];
  const reason = states.find((state) => text.startsWith("<agent_control>") && text.includes(`"${state}"`));
  return { type: "control_note", reason: reason ?? "no_answer", text };
}

function answerOf(message: Exclude<OldMessage, { readonly role: "user" }>): LogEntry {
  if (message.role === "tool") {
    const { role: _, ...result } = message;
    return { type: "tool_result", ...result };
  }
  const { text, calls, reasoning } = message;
  if (!text.endsWith(INTERRUPTED)) return { type: "assistant_message", text, calls, reasoning };
  const partial = text.slice(0, -INTERRUPTED.length).trimEnd();
  return { type: "assistant_message", text: partial, calls, reasoning, interrupted: true };
}
