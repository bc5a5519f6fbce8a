/**
 * The log of a session: everything in order, never changed. Requests send a view of its messages (context/view.ts); the
 * screen is built from its events.
 */
import * as z from "../../deps/zod.ts";
import { AgentEvent, Plan, UserMessage } from "./events.ts";
import { Author, Image, Reasoning, ToolCall } from "./messages.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

/** Version of the entries' schemas, stored with each entry. Later versions are not read. */
export const ENTRY_VERSION = 1;

const AssistantEntry = z.object({
  type: z.literal("assistant_message"),
  text: z.string(),
  calls: z.array(ToolCall),
  reasoning: z.array(Reasoning),
  /** The model's complete text, if it contained calls. */
  written: z.string().exactOptional(),
  /** The model declared that it is done; the mark is not in the text. */
  complete: z.literal(true).exactOptional(),
  by: Author.exactOptional(),
  /** The answer is incomplete. */
  interrupted: z.literal(true).exactOptional(),
  /** A filter ended it. */
  refused: z.literal(true).exactOptional(),
});

const ResultEntry = z.object({
  type: z.literal("tool_result"),
  /** Id and name of the answered call. */
  id: z.string(),
  name: z.string(),
  text: z.string(),
  isError: z.boolean(),
  images: z.array(Image).exactOptional(),
});

/** A note from the engine to the model. */
const ControlNote = z.object({
  type: z.literal("control_note"),
  /**
   * "files": changes of files since the last turn, "context": current facts; both accompany the message that begins the
   * turn. "rules": rules of folders that calls touched, with their results. "agents": results of background sub-agents,
   * with either. "steering": the user's messages during a turn, with results. "hook": texts of the user's hooks, with either, or after an answer. "steps": the remaining steps of a turn,
   * with results. "summarize" and "folded" exist only in views, as the question for a summary and the summary.
   */
  reason: z.enum([
    "files",
    "context",
    "rules",
    "agents",
    "hook",
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
  /** Path of a rules file. */
  path: z.string().exactOptional(),
});

/** The messages of a view. */
export const MessageEntry = z.discriminatedUnion("type", [
  UserMessage,
  AssistantEntry,
  ResultEntry,
  ControlNote,
]);

/** From here on the model sees a line for each of these results. */
const Masking = z.object({
  type: z.literal("masking"),
  /** By call id. */
  results: z.array(z.object({ id: z.string(), text: z.string() })),
});

/** From here on a summary replaces all messages before a place. */
const Compaction = z.object({
  type: z.literal("compaction"),
  /** The remaining messages begin in this turn, after `skip` of its messages. */
  turn: z.int().min(1),
  skip: z.int().min(0),
  summary: z.string(),
  /** The user's words there, verbatim as far as they fit, oldest first. */
  words: z.array(z.string()),
  /** The plan at that time. */
  plan: Plan,
  /** Parts there that the user pinned, by id (context/chosen.ts). */
  pinned: z.array(z.object({ id: z.string(), title: z.string(), text: z.string() })).exactOptional(),
  /** The author of the summary. */
  by: z.enum(["model", "engine"]),
});

/** Undoes the newest fold. */
const FoldUndone = z.object({ type: z.literal("fold_undone") });

/** Shortens the model's view; the messages stay in the log. */
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

/** Labels of a message's attachments, for the screen. */
export function attachmentNames(
  { parts }: Pick<UserMessage, "parts">,
): { readonly given?: readonly string[] } {
  const labels = parts.flatMap((part) => {
    if (part.type === "given") return [part.label];
    return part.type === "file" ? [part.uri.replace(/^.*\//, "")] : [];
  });
  return labels.length === 0 ? {} : { given: labels };
}

/** The user's own words. */
export function wordsOf({ parts }: Pick<UserMessage, "parts">): string {
  return parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n\n");
}
