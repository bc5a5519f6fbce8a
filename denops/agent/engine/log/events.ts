/** The engine's events; one codec (acp/) translates them for the protocol. */
import * as z from "../../deps/zod.ts";
import { TurnMeta } from "../../protocol/extensions.ts";
import { TurnFile } from "../../protocol/requests.ts";
import { Image, Usage } from "./messages.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

const StopReason = z.enum(["end_turn", "max_iterations", "max_tokens", "cancelled", "refused"]);
export type StopReason = z.infer<typeof StopReason>;

export const ToolKind = z.enum([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "other",
]);
export type ToolKind = z.infer<typeof ToolKind>;

/** A file before and after a write; text is undefined for missing and binary files. */
const FileChange = z.object({
  /** Absolute real path. */
  path: z.string(),
  kind: z.enum(["created", "modified", "deleted", "renamed"]),
  from: z.string().exactOptional(),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
  /** False if the text went into an unsaved buffer instead of the disk. */
  onDisk: z.boolean(),
  /** Milliseconds since 1970: `before` may lack what others have written since then. */
  since: z.number().exactOptional(),
});
export type FileChange = ReadonlyDeep<z.infer<typeof FileChange>>;

/** A file, and a line of it from 1. */
const FileLocation = z.object({ path: z.string(), line: z.number().exactOptional() });
export type FileLocation = ReadonlyDeep<z.infer<typeof FileLocation>>;

/** `line` is the first changed one of the new text. */
const OneDiff = FileLocation.extend({
  /** Undefined for a new file. */
  before: z.string().exactOptional(),
  after: z.string(),
  added: z.number(),
  removed: z.number(),
});

/** The changes of a call, for the screen. */
const Diff = OneDiff.extend({
  /** Other files of the same call. */
  others: z.array(OneDiff).exactOptional(),
});
export type Diff = ReadonlyDeep<z.infer<typeof Diff>>;

/** A symbol, and where the call found its definition. */
const SymbolDefinition = z.object({
  name: z.string(),
  /** Absolute. */
  path: z.string(),
  line: z.number(),
});
export type SymbolDefinition = Readonly<z.infer<typeof SymbolDefinition>>;

export const Plan = z.array(
  z.object({ step: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }),
);
export type Plan = ReadonlyDeep<z.infer<typeof Plan>>;

const ToolStart = z.object({
  id: z.string(),
  /** Undefined if the engine itself asks, without a tool call. */
  tool: z.string().exactOptional(),
  /** One line: the tool and its subject, never all arguments. */
  title: z.string(),
  kind: ToolKind,
  paths: z.array(z.string()),
});
export type ToolStart = ReadonlyDeep<z.infer<typeof ToolStart>>;

/** A part of a user's message. */
const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  /** As the model sees it; `label` is for the screen: "src/app.ts L6–8". */
  z.object({ type: z.literal("given"), label: z.string(), text: z.string(), image: Image.exactOptional() }),
  z.object({ type: z.literal("file"), uri: z.string(), text: z.string() }),
  z.object({ type: z.literal("link"), uri: z.string() }),
  /** Content that the model cannot receive. */
  z.object({ type: z.literal("unsupported"), kind: z.string() }),
]);
export type Part = ReadonlyDeep<z.infer<typeof Part>>;

const id = z.string();

function event<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.object({
    type: z.literal(type),
    /** Id of the call above it, whose agent did this. */
    parent: id.exactOptional(),
    ...shape,
  });
}

/** Begins a turn. */
export const UserMessage = event("user_message", {
  /** The sender and the way of the message. */
  origin: z.enum(["user", "queued", "steering", "engine"]),
  parts: z.array(Part),
});
export type UserMessage = ReadonlyDeep<z.infer<typeof UserMessage>>;

export const AgentEvent = z.discriminatedUnion("type", [
  UserMessage,
  event("turn_done", {
    /** "interrupted": added later, because the engine ended during the turn. */
    reason: z.enum([...StopReason.options, "interrupted"]),
  }),
  event("turn_failed", { kind: z.string(), message: z.string() }),
  /** Text of `message`, including the partial text of a stopped answer. */
  event("token", { message: z.string(), text: z.string() }),
  event("thought", { message: z.string(), text: z.string() }),
  /** The thought has ended, and text or a call begins. */
  event("thought_done", { message: z.string(), milliseconds: z.number() }),
  /** The text of a message so far was a thought; or a thought is sent again as text. */
  event("retold", { message: z.string(), was: z.enum(["text", "thought"]) }),
  /** A call's name is known and its arguments stream in; `lines` counts those of its text. */
  event("tool_writing", {
    ...{ id, tool: z.string(), title: z.string(), lines: z.number() },
    /** The last of these lines. */
    draft: z.string().exactOptional(),
  }),
  /** The calls of an answer may start in any order; `order` rises as the model wrote them. */
  event("tool_start", { call: ToolStart, order: z.number().exactOptional() }),
  /** `rule` allowed it. */
  event("tool_running", { id, rule: z.string() }),
  /** One line about a running call. */
  event("tool_progress", { id, summary: z.string() }),
  event("tool_done", {
    id,
    status: z.enum(["completed", "failed"]),
    /** One line about the result. */
    summary: z.string(),
    /** The text that the model got. */
    output: z.string(),
    diff: Diff.exactOptional(),
    definitions: z.array(SymbolDefinition).exactOptional(),
    /** The files and lines of a result without a diff, the most important one first. */
    locations: z.array(FileLocation).exactOptional(),
    /** Stopped by the user or by the end of its process, which is not a failure. */
    stopped: z.boolean().exactOptional(),
  }),
  /** The model got the user's message during the turn. */
  event("steered", { id, text: z.string(), given: z.array(z.string()).readonly().exactOptional() }),
  event("plan", { steps: Plan }),
  event("file_modified", { id, change: FileChange }),
  /** All changes of the turn, stored at its end. */
  event("turn_files", { turn: z.number(), files: z.array(TurnFile) }),
  event("approval_requested", { id, reason: z.string() }),
  /** `title`: the new one of its call, if the user has edited the command. */
  event("approval_answered", { id, answer: z.string(), rule: z.string(), title: z.string().exactOptional() }),
  event("retry", { attempt: z.number(), tries: z.number(), waitMs: z.number(), reason: z.string() }),
  event("usage", {
    usage: Usage,
    window: z.number(),
    /** US dollars of this request, and of the session including it. */
    cost: z.number().exactOptional(),
    sessionCost: z.number().exactOptional(),
    /** The purpose of a side request, which is not a step of a turn. */
    purpose: z.string().exactOptional(),
  }),
  /** The session's new title; with number and time at the beginning of a turn. */
  event("title", {
    title: z.string(),
    began: TurnMeta.exactOptional(),
  }),
  /** Commands of another agent, which a message calls by "/name". */
  event("commands", { commands: z.array(z.object({ name: z.string(), description: z.string() })) }),
  /** The engine switched the session to this read-only mode. */
  event("mode", { mode: z.string() }),
  event("notice", { severity: z.enum(["info", "warning", "error"]), text: z.string() }),
]);
export type AgentEvent = ReadonlyDeep<z.infer<typeof AgentEvent>>;

/** Events that are shown, but not needed for a resume. */
export const TRANSIENT: ReadonlySet<AgentEvent["type"]> = new Set([
  ...["tool_writing", "tool_progress", "retry", "title", "commands", "mode"] as const,
]);

export type Emit = (event: AgentEvent) => void;
