/** What Lua and the supervisor tell each other: actions go down, updates come up. */
import { z } from "../deps/zod.ts";
import type { CommandAccess } from "./commands.ts";
import { CHOOSABLE_EFFORTS, UserConfig } from "./config.ts";
import { EditPlace } from "./edit_place.ts";
import { MessageId, OPTION } from "./extensions.ts";
import { Attachment } from "./attachments.ts";
import type { ShownJob } from "./jobs.ts";
import type { ModeFacts } from "./modes.ts";
import type { LspPolicy, LspRequest } from "./lsp.ts";
import type { HealthReport } from "./health_report.ts";
import { REQUEST_NAMES } from "./requests.ts";
import type { ShownSession } from "./sessions_file.ts";
import { Shown } from "./surroundings.ts";
import { WORKTREE_TASK } from "./worktrees.ts";

/** A chat is one session on the user's screen; Lua numbers them from 1. */
const chat = z.int().min(1);
const request = z.int().min(1);
/** A stored session that the chat is to go on with; without it a new one begins. */
const session = z.string().min(1).optional();
/** Folder of the project, as Neovim has found it (`lua/agent/projects.lua`). */
const place = { root: z.string() };
/** A request about a chat's session. */
const sessionRequest = { request, chat, session, ...place };
/** A message and its attachments, in order. */
const message = { text: z.string().min(1), given: z.array(Attachment).max(1_000).default([]) };

export const Action = z.discriminatedUnion("type", [
  z.object({ type: z.literal("configure"), config: UserConfig }),
  /** The user opened a chat. The engine starts a session unless the chat shows one. The first message reports errors. */
  z.object({ type: z.literal("open"), chat, session, ...place }),
  z.object({
    type: z.literal("prompt"),
    chat,
    ...place,
    session,
    ...message,
    id: MessageId.optional(),
    /** With absolute paths. */
    shown: Shown.optional(),
    /** Write this into the project's rules, without asking a model. */
    remember: z.string().min(1).max(2_000).optional(),
    /** Edit only these lines. */
    edit: EditPlace.optional(),
    /** Write the differences of this worktree, without asking a model. */
    merge: z.string().min(1).max(100).optional(),
  }),
  /** Write the text into the user's rules for all projects. */
  z.object({ type: z.literal("remember"), chat, ...place, session, text: z.string().min(1).max(2_000) }),
  z.object({ type: z.literal("cancel"), chat }),
  /** Removes a queued message; `taken_back` confirms it. */
  z.object({ type: z.literal("take_back"), chat, text: z.string() }),
  /** The user closed a chat; its turn ends. */
  z.object({ type: z.literal("close"), chat }),
  z.object({
    type: z.literal("answer"),
    request,
    option: z.enum([OPTION.allowOnce, OPTION.allowSession, OPTION.allowAlways, OPTION.reject]),
    /** Why it was rejected. */
    reason: z.string().optional(),
    /** With allow_always: the rule as the user left it. */
    rule: z.string().optional(),
    /** The command as the user changed it. */
    command: z.string().optional(),
    /** Of a command's effects: numbers of the rows that are to be kept; those of the approval's own choice unless told. */
    kept: z.array(z.int()).optional(),
  }),
  /** The user has changed the command of an approval: it is judged, and shown again. */
  z.object({ type: z.literal("edit_command"), request, command: z.string().min(1) }),
  /** Answers an `ask_editor`; `error` if Lua failed. */
  z.object({
    type: z.literal("reply"),
    request,
    result: z.unknown().optional(),
    error: z.string().optional(),
  }),
  /** `files`: names of loaded buffers and of their link targets, without folders. `servers`: a language server runs. */
  z.object({ type: z.literal("editor_state"), files: z.array(z.string()), servers: z.boolean() }),
  /** Without an answer the user has declined to give one. */
  z.object({ type: z.literal("answer_question"), request, answer: z.string().optional() }),
  z.object({ type: z.literal("rules"), request, chat, session, ...place }),
  z.object({ type: z.literal("remove_rule"), chat, rule: z.string() }),
  z.object({ type: z.literal("log"), request, chat, session, ...place }),
  /** Lists the available modes. */
  z.object({ type: z.literal("modes"), request, chat, session, ...place }),
  /** Sets the mode from the next turn on; `agent_state` confirms it. */
  z.object({ type: z.literal("mode"), chat, session, ...place, mode: z.string().min(1).max(100) }),
  /** Sets the effort from the next turn on; the `options` of `agent_state` confirm it. */
  z.object({ type: z.literal("effort"), chat, session, ...place, effort: z.enum(CHOOSABLE_EFFORTS) }),
  /** Models of a provider, else of the session's. */
  z.object({
    type: z.literal("models"),
    ...sessionRequest,
    provider: z.string().min(1).max(100).optional(),
  }),
  /** The model of all turns from the next one on, "" for that of the options; an `agent_state` says which one it is. */
  z.object({ type: z.literal("model"), chat, session, ...place, model: z.string().max(200) }),
  z.object({ type: z.literal("providers"), request, chat, session, ...place }),
  /** The provider that the session goes on with after the turn, "" for that of the options; the same says so. */
  z.object({
    type: z.literal("provider"),
    ...sessionRequest,
    provider: z.string().max(100),
    model: z.string().min(1).max(200).optional(),
  }),
  z.object({ type: z.literal("files"), request, chat, session, ...place }),
  /** Prompt templates that a message may call. */
  z.object({ type: z.literal("prompts"), request, chat, session, ...place }),
  z.object({ type: z.literal("tools"), request, chat, toggle: z.string().optional(), session, ...place }),
  /** A request of requests.ts, answered by an `engine_answer`. */
  z.object({
    type: z.literal("engine_request"),
    request,
    chat,
    ...place,
    name: z.enum(REQUEST_NAMES),
    params: z.record(z.string(), z.unknown()),
  }),
  /** The stored sessions of all projects; no engine is asked. */
  z.object({ type: z.literal("sessions"), request, chat, ...place }),
  /** A message for the turn that runs, answered by the `engine_answer` of the request `steer`. */
  z.object({ type: z.literal("steer"), request, chat, session, ...place, id: MessageId, ...message }),
  /** A question beside the turns, answered by an `engine_answer`. `staged`: what is staged goes along. */
  z.object({
    type: z.literal("aside"),
    ...sessionRequest,
    text: z.string(),
    staged: z.boolean(),
  }),
  /** Stops the `aside` of this number; it is answered with what has come. */
  z.object({ type: z.literal("aside_stop"), request, chat }),
  /** About the project's worktrees, answered by an `engine_answer`. */
  z.object({ type: z.literal("worktree"), request, chat, ...place, ...WORKTREE_TASK }),
  /** Begins to log in at a provider; answered by a `login` with a code, or how it has ended. */
  z.object({ type: z.literal("login"), request, chat, provider: z.string().max(100) }),
  /** Answered by a `login` when the one that was begun has ended. */
  z.object({ type: z.literal("login_wait"), request, chat }),
  z.object({ type: z.literal("login_stop"), chat }),
  /** Forgets the login; answered by a `login`. */
  z.object({ type: z.literal("logout"), request, chat, provider: z.string().max(100) }),
  /** Commands of the session that were started in the background. `stop` ends one first. */
  z.object({ type: z.literal("jobs"), request, chat, stop: z.string().optional(), session, ...place }),
  /** What is left of the account that the chat's model is paid from. */
  z.object({ type: z.literal("quota"), request, chat, session, ...place }),
  z.object({
    type: z.literal("health"),
    request,
    ...place,
  }),
]);
export type Action = z.infer<typeof Action>;

export type Severity = "info" | "warning" | "error";

/** Fields are present or absent, never null, because a Lua table cannot hold nil. */
export type Update =
  | (TextUpdate & { readonly type: "text" })
  | (TextUpdate & { readonly type: "thought" })
  | {
    readonly type: "thought_done";
    readonly chat: number;
    readonly message: string;
    readonly milliseconds: number;
    readonly parent?: string;
  }
  /** The text of a message so far was a thought; or a thought is sent again as text. */
  | {
    readonly type: "retold";
    readonly chat: number;
    readonly message: string;
    readonly was: "text" | "thought";
    readonly parent?: string;
  }
  | ToolUpdate
  | ApprovalUpdate
  /** Replaces the approval with the same number. */
  | { readonly type: "approval_rejudged"; readonly chat: number; readonly approval: ApprovalUpdate }
  | {
    readonly type: "approval_closed";
    readonly chat: number;
    readonly request: number;
    readonly answer: string;
  }
  | {
    readonly type: "plan";
    readonly chat: number;
    readonly steps: readonly { readonly step: string; readonly status: string }[];
  }
  /** `id`: of the message that begins it. */
  | { readonly type: "turn_started"; readonly chat: number; readonly id?: string }
  /** The engine has stored the message that began this turn, counted from 1 within the session. */
  | ({ readonly type: "turn"; readonly chat: number; readonly turn: number } & WithAttachments)
  /** A message of the user's, in a stored part of a session. */
  | (UserText & { readonly type: "user" })
  | { readonly type: "title"; readonly chat: number; readonly title: string }
  /** The agent's state; each field replaces its earlier value. */
  | {
    readonly type: "agent_state";
    readonly chat: number;
    /** Of the next request. */
    readonly provider?: string;
    readonly model?: string;
    /** Id of the current mode, ids of all modes. */
    readonly mode?: string;
    readonly modes?: readonly string[];
    readonly commands?: readonly { readonly name: string; readonly description: string }[];
    readonly options?: readonly { readonly id: string; readonly name: string; readonly value: string }[];
  }
  | { readonly type: "turn_done"; readonly chat: number; readonly reason: string; readonly error?: string }
  /** Messages that a stop removed from the queue. `unstored`: the first one was sent, but not stored. */
  | {
    readonly type: "unsent";
    readonly chat: number;
    readonly texts: readonly string[];
    readonly unstored?: boolean;
  }
  /** A queued message was removed. */
  | { readonly type: "taken_back"; readonly chat: number; readonly text: string }
  | { readonly type: "notice"; readonly chat: number; readonly severity: Severity; readonly text: string }
  | {
    readonly type: "retry";
    readonly chat: number;
    readonly attempt: number;
    readonly tries: number;
    readonly wait_ms: number;
    readonly reason: string;
  }
  | {
    readonly type: "usage";
    readonly chat: number;
    readonly used: number;
    readonly size: number;
    /** Of the session so far. */
    readonly cost?: number;
  }
  | {
    readonly type: "ready";
    readonly chat: number;
    readonly session: string;
    readonly root: string;
    /** Absent if no model is configured. */
    readonly provider?: string;
    readonly model?: string;
    readonly sandbox: string;
  }
  | {
    readonly type: "file_modified";
    readonly chat: number;
    readonly path: string;
    readonly kind: string;
    readonly from?: string;
    readonly before?: string;
    readonly after?: string;
    readonly since?: number;
  }
  /** All changes of a turn; replaces earlier updates of the same turn. */
  | {
    readonly type: "turn_files";
    readonly chat: number;
    readonly turn: number;
    readonly files: readonly ShownFile[];
  }
  | ({ readonly type: "ask_editor"; readonly request: number } & EditorQuestion)
  /** More of the answer to an `aside`; its `engine_answer` has all of it. */
  | { readonly type: "aside_text"; readonly chat: number; readonly request: number; readonly text: string }
  | { readonly type: "health"; readonly request: number; readonly report: HealthReport }
  | { readonly type: "rules"; readonly request: number; readonly rules: readonly ShownRule[] }
  /** Files of the project that were found in time. Files that the agent may not read freely are left out. */
  | { readonly type: "files"; readonly request: number; readonly paths: readonly string[] }
  /** By name; `hint`: what its arguments are. */
  | {
    readonly type: "prompts";
    readonly request: number;
    readonly prompts: readonly {
      readonly name: string;
      readonly description: string;
      readonly hint: string;
    }[];
  }
  | {
    readonly type: "tools";
    readonly request: number;
    readonly tools: readonly { readonly name: string; readonly on: boolean }[];
  }
  | {
    readonly type: "modes";
    readonly request: number;
    readonly modes: readonly ModeFacts[];
    /** Name of the one of the next turn. */
    readonly current: string;
  }
  /** `problem`: why there is no list. */
  | {
    readonly type: "models";
    readonly request: number;
    readonly provider: string;
    /** Name of the one of the next turn; "" if it is of another provider. */
    readonly current: string;
    readonly models: readonly { readonly name: string; readonly text: string }[];
    readonly problem?: string;
  }
  | {
    readonly type: "providers";
    readonly request: number;
    readonly current: string;
    readonly providers: readonly { readonly name: string; readonly text: string; readonly ready: boolean }[];
  }
  /** The session has the provider, or stays where it is; `model`: a model has to be named first. */
  | { readonly type: "provider"; readonly request: number; readonly end: "done" | "failed" | "model" }
  /** The newest first. */
  | { readonly type: "jobs"; readonly request: number; readonly jobs: readonly ShownJob[] }
  /** So many commands run in the background. */
  | { readonly type: "running"; readonly chat: number; readonly count: number }
  | { readonly type: "log"; readonly request: number; readonly lines: readonly string[] }
  /** `root`: the project of the place, if it is one. The newest session first. */
  | {
    readonly type: "sessions";
    readonly request: number;
    readonly root?: string;
    readonly sessions: readonly ShownSession[];
  }
  | ({ readonly type: "login"; readonly request: number } & LoginState)
  /** One line; absent where nobody tells. */
  | { readonly type: "quota"; readonly request: number; readonly line?: string }
  /**
   * Exactly one of `result` (see requests.ts) and `error`, which is one line. Of session_history the result has
   * `updates` instead of `entries`: what the screen would have been told.
   */
  | {
    readonly type: "engine_answer";
    readonly request: number;
    readonly result?: Readonly<Record<string, unknown>>;
    readonly error?: string;
  };

/** `text`: how it has ended, one line. */
export type LoginState =
  | { readonly code: string; readonly url: string }
  | { readonly ended: "ok" | "failed" | "stopped"; readonly text: string };

interface WithAttachments {
  /** Labels of the message's attachments. */
  readonly given?: readonly string[];
}

interface UserText extends WithAttachments {
  readonly chat: number;
  readonly text: string;
  readonly turn?: number;
}

interface ShownRule {
  readonly verdict: string;
  readonly rule: string;
  readonly source: string;
}

/** What is asked of the editor; the answer is the `result` of a `reply`. */
export type EditorQuestion =
  | { readonly method: "unsaved_text"; readonly params: { readonly path: string } }
  | {
    readonly method: "write_unsaved";
    readonly params: { readonly path: string; readonly base: string; readonly text: string };
  }
  | { readonly method: "written_since"; readonly params: { readonly since: number } }
  /** `roots`: the answer reads and names no text outside of these folders. */
  | {
    readonly method: "lsp";
    readonly params: {
      readonly roots: readonly string[];
      readonly request: LspRequest;
      readonly servers: LspPolicy;
    };
  };

interface TextUpdate {
  readonly chat: number;
  readonly message: string;
  readonly text: string;
  /** Id of the call under which it stands. */
  readonly parent?: string;
}

export interface ToolUpdate {
  readonly type: "tool";
  readonly chat: number;
  readonly id: string;
  readonly title?: string;
  /** "stopped" by the user, or by the end of its process. */
  readonly status?: "pending" | "in_progress" | "completed" | "failed" | "stopped";
  readonly kind?: string;
  readonly lines?: number;
  readonly draft?: string;
  readonly summary?: string;
  readonly added?: number;
  readonly removed?: number;
  readonly output?: string;
  /** The output is the diff of what was written. */
  readonly is_diff?: boolean;
  readonly path?: string;
  /** Id of the call under which it stands. */
  readonly parent?: string;
}

export interface ShownFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the project, for the screen. */
  readonly shown: string;
  /** Of a file that was moved: where it was, for the screen. */
  readonly from?: string;
  readonly kind: "created" | "modified" | "deleted" | "renamed";
  readonly added: number;
  readonly removed: number;
  /** Binary, or too large to compare line by line. */
  readonly opaque: boolean;
}

export interface FileDiff {
  /** For the screen. */
  readonly path: string;
  readonly before?: string;
  readonly after: string;
}

/** Files that would change, as far as they can be shown. */
export interface FileDiffs {
  readonly files: readonly FileDiff[];
  /** Files whose diffs are too large to be shown. */
  readonly left_out: number;
}

/** One file, link or folder that a command would change, or a folder with many of them. */
export interface EffectRow {
  /** From 1; what an answer calls it. */
  readonly number: number;
  /** For the screen; of a folder with a slash at its end. */
  readonly path: string;
  readonly what: "created" | "modified" | "deleted" | "renamed";
  /** For the screen: where it was. */
  readonly from?: string;
  /** Changes that it stands for, if it stands for more than one. */
  readonly count?: number;
  /** Lines, of text. */
  readonly added?: number;
  readonly removed?: number;
  /** What there is to know of it, half a sentence: "git runs it automatically", "binary", "leads to x". */
  readonly note?: string;
  /** "kept" unless the user says otherwise; "left" only if they do so ("sensitive"); "refused" cannot be kept. */
  readonly state: "kept" | "left" | "refused";
  /** Of text that is not too large, for a diff; both are absent where there is none. */
  readonly before?: string;
  readonly after?: string;
}

/** What is asked about, by the kind of access; see protocol/access.ts. A question is answered with text. */
export type ApprovalSubject =
  | ({ readonly kind: "file" | "nothing" } & FileDiffs)
  | {
    readonly kind: "command";
    readonly command: string;
    /** Real folder, relative to the root, for the screen. */
    readonly folder: string;
    /** What it may change; absent where nothing holds it. */
    readonly access?: CommandAccess;
    readonly severity: string;
    /** The command is the user's own. */
    readonly is_edited: boolean;
  }
  | {
    /** What a command would change: it has run over an overlay, and nothing of this has happened yet. */
    readonly kind: "effects";
    readonly command: string;
    /** Real folder, relative to the root, for the screen. */
    readonly folder: string;
    /** "exit code 0". */
    readonly end: string;
    readonly effects: readonly EffectRow[];
  }
  | { readonly kind: "fetch"; readonly url: string }
  | { readonly kind: "mcp"; readonly server: string; readonly name: string }
  | { readonly kind: "agent"; readonly name: string; readonly task: string }
  | { readonly kind: "ask" }
  | { readonly kind: "question"; readonly question: string; readonly options: readonly string[] };

export type ApprovalUpdate = ApprovalSubject & {
  readonly type: "approval";
  readonly chat: number;
  readonly request: number;
  /** Its tool call; empty for what is no call. */
  readonly tool: string;
  readonly title: string;
  readonly reason: string;
  /** The title of the sub-agent that wants it. */
  readonly agent?: string;
  /** The rule that "always allow" would write. */
  readonly suggestion?: string;
};
