/** What the engine tells the outside; one codec (acp.ts) turns it into the protocol. */
import type { TurnFile } from "../../protocol/requests.ts";
import type { Usage } from "./messages.ts";

export type StopReason = "end_turn" | "max_iterations" | "max_tokens" | "cancelled" | "refused";

export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "other";

/** A file before and after a write; text is undefined where there is no file or it is binary. */
export interface FileChange {
  /** Absolute, real. */
  readonly path: string;
  readonly kind: "created" | "modified" | "deleted" | "renamed";
  readonly from?: string;
  readonly before?: string;
  readonly after?: string;
  /** False if the text went into an unsaved buffer instead of the disk. */
  readonly onDisk: boolean;
  /** Milliseconds since 1970: what others have written since then is not in `before`, or not surely. */
  readonly since?: number;
}

/** What a call would change or has changed, as the screen shows it. */
export interface Diff {
  readonly path: string;
  /** Undefined for a new file. */
  readonly before?: string;
  readonly after: string;
  readonly added: number;
  readonly removed: number;
  /** The other files that the same call changes. */
  readonly others?: readonly Diff[];
}

export type Plan = readonly {
  readonly step: string;
  readonly status: "pending" | "in_progress" | "completed";
}[];

export interface ToolStart {
  readonly id: string;
  /** Undefined where the engine itself asks for something: no tool was called. */
  readonly tool?: string;
  /** One line: the tool and what it is about, never the whole arguments. */
  readonly title: string;
  readonly kind: ToolKind;
  readonly paths: readonly string[];
}

export type AgentEvent = Happening & {
  /** Id of the call under which it stands: what another agent does that this call has started. */
  readonly parent?: string;
};

type Happening =
  | { readonly type: "turn_started"; readonly text: string }
  /** "interrupted": the engine ended in the middle of the turn, and this was added later. */
  | { readonly type: "turn_done"; readonly reason: StopReason | "interrupted" }
  | { readonly type: "turn_failed"; readonly kind: string; readonly message: string }
  /** Text of the message `message`; also the partial text of one that was stopped. */
  | { readonly type: "token"; readonly message: string; readonly text: string }
  | { readonly type: "thought"; readonly message: string; readonly text: string }
  /** The thought is over: text or a call begins. */
  | { readonly type: "thought_done"; readonly message: string; readonly milliseconds: number }
  /** A call's name is known and its arguments stream in; `lines` counts those of the text being written. */
  | {
    readonly type: "tool_writing";
    readonly id: string;
    readonly tool: string;
    readonly title: string;
    readonly lines: number;
  }
  /** Calls of one answer may start in any order; `order` rises within a turn as the model has written them. */
  | { readonly type: "tool_start"; readonly call: ToolStart; readonly order?: number }
  /** `rule` gave it leave. */
  | { readonly type: "tool_running"; readonly id: string; readonly rule: string }
  | {
    readonly type: "tool_done";
    readonly id: string;
    readonly status: "completed" | "failed";
    /** One line about the result. */
    readonly summary: string;
    /** What the model was told. */
    readonly output: string;
    readonly diff?: Diff;
    /** It has not failed: the user, or the end of its process, has cut it off. */
    readonly stopped?: boolean;
  }
  | { readonly type: "plan"; readonly steps: Plan }
  | { readonly type: "file_modified"; readonly id: string; readonly change: FileChange }
  /** What the turn has changed in all, at its end. */
  | { readonly type: "turn_files"; readonly turn: number; readonly files: readonly TurnFile[] }
  | { readonly type: "approval_requested"; readonly id: string; readonly reason: string }
  | {
    readonly type: "approval_answered";
    readonly id: string;
    readonly answer: string;
    readonly rule: string;
  }
  | {
    readonly type: "retry";
    readonly attempt: number;
    readonly tries: number;
    readonly waitMs: number;
    readonly reason: string;
  }
  | {
    readonly type: "usage";
    readonly usage: Usage;
    readonly window: number;
    /** US dollars of this request, and of the session so far with it. */
    readonly cost?: number;
    readonly sessionCost?: number;
    /** A request of its own, which is no step of a turn. */
    readonly purpose?: "title";
  }
  /** What the session is called from now on; at the beginning of a turn with its number and time. */
  | {
    readonly type: "title";
    readonly title: string;
    readonly began?: { readonly turn: number; readonly time: number };
  }
  | { readonly type: "notice"; readonly severity: "info" | "warning" | "error"; readonly text: string };

export type Emit = (event: AgentEvent) => void;
