/** What the engine tells the outside; one codec (acp/) turns it into the protocol. */
import { z } from "../../deps/zod.ts";
import { TurnMeta } from "../../protocol/extensions.ts";
import { TurnFile } from "../../protocol/requests.ts";
import { Image, Usage } from "./messages.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

const StopReason = z.enum(["end_turn", "max_iterations", "max_tokens", "cancelled", "refused"]);
export type StopReason = z.infer<typeof StopReason>;

const ToolKind = z.enum(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]);
export type ToolKind = z.infer<typeof ToolKind>;

/** A file before and after a write; text is undefined where there is no file or it is binary. */
const FileChange = z.object({
  /** Absolute, real. */
  path: z.string(),
  kind: z.enum(["created", "modified", "deleted", "renamed"]),
  from: z.string().exactOptional(),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
  /** False if the text went into an unsaved buffer instead of the disk. */
  onDisk: z.boolean(),
  /** Milliseconds since 1970: what others have written since then is not in `before`, or not surely. */
  since: z.number().exactOptional(),
});
export type FileChange = ReadonlyDeep<z.infer<typeof FileChange>>;

const OneDiff = z.object({
  path: z.string(),
  /** Undefined for a new file. */
  before: z.string().exactOptional(),
  after: z.string(),
  added: z.number(),
  removed: z.number(),
});

/** What a call would change or has changed, as the screen shows it. */
const Diff = OneDiff.extend({
  /** The other files that the same call changes. */
  others: z.array(OneDiff).exactOptional(),
});
export type Diff = ReadonlyDeep<z.infer<typeof Diff>>;

export const Plan = z.array(
  z.object({ step: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }),
);
export type Plan = ReadonlyDeep<z.infer<typeof Plan>>;

const ToolStart = z.object({
  id: z.string(),
  /** Undefined where the engine itself asks for something: no tool was called. */
  tool: z.string().exactOptional(),
  /** One line: the tool and what it is about, never the whole arguments. */
  title: z.string(),
  kind: ToolKind,
  paths: z.array(z.string()),
});
export type ToolStart = ReadonlyDeep<z.infer<typeof ToolStart>>;

/** A piece of what the user hands over. */
const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  /** As the model is told it; `label` names it on the screen: "src/app.ts L6–8". */
  z.object({ type: z.literal("given"), label: z.string(), text: z.string(), image: Image.exactOptional() }),
  z.object({ type: z.literal("file"), uri: z.string(), text: z.string() }),
  z.object({ type: z.literal("link"), uri: z.string() }),
  /** What the model cannot be given. */
  z.object({ type: z.literal("unsupported"), kind: z.string() }),
]);
export type Part = ReadonlyDeep<z.infer<typeof Part>>;

const id = z.string();

function event<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.object({
    type: z.literal(type),
    /** Id of the call under which it stands: what another agent does that this call has started. */
    parent: id.exactOptional(),
    ...shape,
  });
}

/** Begins a turn. */
export const UserMessage = event("user_message", {
  /** Whose it is, and how it came. */
  origin: z.enum(["user", "queued", "steering", "engine"]),
  parts: z.array(Part),
});
export type UserMessage = ReadonlyDeep<z.infer<typeof UserMessage>>;

export const AgentEvent = z.discriminatedUnion("type", [
  UserMessage,
  event("turn_done", {
    /** "interrupted": the engine ended in the middle of the turn, and this was added later. */
    reason: z.enum([...StopReason.options, "interrupted"]),
  }),
  event("turn_failed", { kind: z.string(), message: z.string() }),
  /** Text of the message `message`; also the partial text of one that was stopped. */
  event("token", { message: z.string(), text: z.string() }),
  event("thought", { message: z.string(), text: z.string() }),
  /** The thought is over: text or a call begins. */
  event("thought_done", { message: z.string(), milliseconds: z.number() }),
  /** What was told of a message as its text so far was a thought, or as a thought is told again as text. */
  event("retold", { message: z.string(), was: z.enum(["text", "thought"]) }),
  /** A call's name is known and its arguments stream in; `lines` counts those of the text being written. */
  event("tool_writing", {
    ...{ id, tool: z.string(), title: z.string(), lines: z.number() },
    /** The last of these lines. */
    draft: z.string().exactOptional(),
  }),
  /** Calls of one answer may start in any order; `order` rises within a turn as the model has written them. */
  event("tool_start", { call: ToolStart, order: z.number().exactOptional() }),
  /** `rule` gave it leave. */
  event("tool_running", { id, rule: z.string() }),
  event("tool_done", {
    id,
    status: z.enum(["completed", "failed"]),
    /** One line about the result. */
    summary: z.string(),
    /** What the model was told. */
    output: z.string(),
    diff: Diff.exactOptional(),
    /** It has not failed: the user, or the end of its process, has cut it off. */
    stopped: z.boolean().exactOptional(),
  }),
  /** The model has been told what the user said while the turn runs. */
  event("steered", { id, text: z.string(), given: z.array(z.string()).readonly().exactOptional() }),
  event("plan", { steps: Plan }),
  event("file_modified", { id, change: FileChange }),
  /** What the turn has changed in all; stored at its end. */
  event("turn_files", { turn: z.number(), files: z.array(TurnFile) }),
  event("approval_requested", { id, reason: z.string() }),
  event("approval_answered", { id, answer: z.string(), rule: z.string() }),
  event("retry", { attempt: z.number(), tries: z.number(), waitMs: z.number(), reason: z.string() }),
  event("usage", {
    usage: Usage,
    window: z.number(),
    /** US dollars of this request, and of the session so far with it. */
    cost: z.number().exactOptional(),
    sessionCost: z.number().exactOptional(),
    /** A request of its own, which is no step of a turn: what it was for. */
    purpose: z.string().exactOptional(),
  }),
  /** What the session is called from now on; at the beginning of a turn with its number and time. */
  event("title", {
    title: z.string(),
    began: TurnMeta.exactOptional(),
  }),
  /** The engine has narrowed the session's mode to this one. */
  event("mode", { mode: z.string() }),
  event("notice", { severity: z.enum(["info", "warning", "error"]), text: z.string() }),
]);
export type AgentEvent = ReadonlyDeep<z.infer<typeof AgentEvent>>;

/** Events of the moment: they are shown, but a resume does not need them, or finds them elsewhere. */
export const TRANSIENT: ReadonlySet<AgentEvent["type"]> = new Set([
  ...["tool_writing", "retry", "title", "mode"] as const,
]);

export type Emit = (event: AgentEvent) => void;
