/**
 * The log of a session: what was said and done, in order. It is never changed; what a request sends is a view of its
 * messages (context/view.ts), what the screen shows is drawn from its events.
 */
import { z } from "../../deps/zod.ts";
import { AgentEvent, Plan, UserMessage } from "./events.ts";
import { Author, Image, Reasoning, ToolCall } from "./messages.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

/** Of the entries' schemas: stored with each entry. One of a later version is not read. */
export const ENTRY_VERSION = 1;

const AssistantEntry = z.object({
  type: z.literal("assistant_message"),
  text: z.string(),
  calls: z.array(ToolCall),
  reasoning: z.array(Reasoning),
  /** All of it as the model wrote it, if its calls stood in its text. */
  written: z.string().exactOptional(),
  /** It ends with the model's word that it is done, which is not in the text. */
  complete: z.literal(true).exactOptional(),
  by: Author.exactOptional(),
  /** It was not given to its end. */
  interrupted: z.literal(true).exactOptional(),
  /** A filter has ended it. */
  refused: z.literal(true).exactOptional(),
});

const ResultEntry = z.object({
  type: z.literal("tool_result"),
  /** Id and name of the call that this answers. */
  id: z.string(),
  name: z.string(),
  text: z.string(),
  isError: z.boolean(),
  images: z.array(Image).exactOptional(),
});

/** The engine's word to the model, which the user has not said. */
const ControlNote = z.object({
  type: z.literal("control_note"),
  /**
   * "files": what has become of files since the last turn, "context": facts of the moment; both are told with the
   * message that begins the turn. "rules": those of folders that calls have touched, told with their results.
   * "agents": what sub-agents in the background have found, told with either. "steering": what the user says while a
   * turn runs, told with results.
   * "steps": how many are left of a turn, told with results.
   * "summarize" and "folded" stand in views alone: the question for a summary, and the summary.
   */
  reason: z.enum([
    "files",
    "context",
    "rules",
    "agents",
    "mode",
    "steering",
    "output_limit",
    "cut_off",
    "need_fixes",
    "nothing_done",
    "plan_open",
    "call_shown",
    "results",
    "no_plan",
    "no_answer",
    "steps",
    "summarize",
    "folded",
    "unreadable",
  ]),
  text: z.string(),
  images: z.array(Image).exactOptional(),
  /** Of a file of rules. */
  path: z.string().exactOptional(),
});

/** What a view is made of. */
export const MessageEntry = z.discriminatedUnion("type", [
  UserMessage,
  AssistantEntry,
  ResultEntry,
  ControlNote,
]);

/** From here on each of these results is a line to the model. */
const Masking = z.object({
  type: z.literal("masking"),
  /** By the ids of their calls. */
  results: z.array(z.object({ id: z.string(), text: z.string() })),
});

/** From here on a summary stands for all messages before a place. */
const Compaction = z.object({
  type: z.literal("compaction"),
  /** The messages that stay begin in this turn, after `skip` of its messages. */
  turn: z.int().min(1),
  skip: z.int().min(0),
  summary: z.string(),
  /** What the user has said there, word for word as far as there is room, oldest first. */
  words: z.array(z.string()),
  /** As it was then. */
  plan: Plan,
  /** What the user has pinned there, by the ids of parts (context/chosen.ts). */
  pinned: z.array(z.object({ id: z.string(), title: z.string(), text: z.string() })).exactOptional(),
  /** Who has written the summary. */
  by: z.enum(["model", "engine"]),
});

/** The newest fold that holds is taken back. */
const FoldUndone = z.object({ type: z.literal("fold_undone") });

/** What the model sees less of; the messages stay in the log. */
export const FoldEntry = z.discriminatedUnion("type", [Masking, Compaction, FoldUndone]);

export const LogEntry = z.discriminatedUnion("type", [
  ...MessageEntry.options,
  ...FoldEntry.options,
  ...AgentEvent.options.filter(({ shape }) => shape.type.value !== "user_message"),
]);

export type AssistantEntry = ReadonlyDeep<z.infer<typeof AssistantEntry>>;
export type ResultEntry = ReadonlyDeep<z.infer<typeof ResultEntry>>;
export type ControlNote = ReadonlyDeep<z.infer<typeof ControlNote>>;
export type MessageEntry = ReadonlyDeep<z.infer<typeof MessageEntry>>;
type Masking = ReadonlyDeep<z.infer<typeof Masking>>;
export type PinnedPart = NonNullable<Compaction["pinned"]>[number];
export type Compaction = ReadonlyDeep<z.infer<typeof Compaction>>;
export type FoldEntry = ReadonlyDeep<z.infer<typeof FoldEntry>>;
export type LogEntry = MessageEntry | FoldEntry | AgentEvent;

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

/** Names of what the user has handed over, for the screen. */
export function attachmentNames(
  { parts }: Pick<UserMessage, "parts">,
): { readonly given?: readonly string[] } {
  const labels = parts.flatMap((part) => {
    if (part.type === "given") return [part.label];
    return part.type === "file" ? [part.uri.replace(/^.*\//, "")] : [];
  });
  return labels.length === 0 ? {} : { given: labels };
}

/** Files are changed, a call has ended, and both are to be told. */
const HAPPENED: ReadonlySet<LogEntry["type"]> = new Set([
  "tool_result",
  "tool_done",
  "file_modified",
  "notice",
]);

/** Is any of them about what cannot be taken back by not storing it? */
export function hasHappened(entries: readonly LogEntry[] = []): boolean {
  return entries.some(({ type }) => HAPPENED.has(type));
}

/** What the user has said in words of their own. */
export function wordsOf({ parts }: Pick<UserMessage, "parts">): string {
  return parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n");
}
