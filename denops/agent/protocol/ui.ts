/** Messages from the supervisor to Lua: updates. `actions.ts` has those in the other direction. */
import type { HookView } from "./results/hooks.ts";
import type { IndexState } from "./results/index.ts";
import type { AccessOf, SessionPermission } from "./access.ts";
import type { CommandAccess } from "./commands.ts";
import type { ShownJob } from "./jobs.ts";
import type { ModeFacts } from "./modes.ts";
import type { LspPolicy, LspRequest } from "./lsp.ts";
import type { HealthReport } from "./health_report.ts";
import type { LoginState } from "./providers.ts";
import type { RequestResult } from "./requests.ts";
import type { ShownLogin } from "./results/agent_login.ts";
import type { AgentOptionsResult } from "./results/agent_options.ts";
import type { McpServerState } from "./results/mcp.ts";
import type { ShownSkill } from "./results/skills.ts";
import type { ShownSession } from "./sessions_file.ts";

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
  /** The gate refused a call without asking. */
  | { readonly type: "denied"; readonly chat: number; readonly title: string; readonly reason: string }
  | {
    readonly type: "plan";
    readonly chat: number;
    readonly steps: readonly { readonly step: string; readonly status: string }[];
  }
  /** `id`: of the message that begins the turn. */
  | { readonly type: "turn_started"; readonly chat: number; readonly id?: string }
  /** The engine has stored the message of this turn; turns count from 1 within the session. */
  | ({ readonly type: "turn"; readonly chat: number; readonly turn: number } & WithAttachments)
  /** Another Neovim has added turns to the session: read it again. Follows what the screen shows so far. */
  | { readonly type: "continued_elsewhere"; readonly chat: number }
  /** A user's message in a stored session. */
  | (UserText & { readonly type: "user" })
  | { readonly type: "title"; readonly chat: number; readonly title: string }
  /** The agent's state; each field replaces its earlier value. */
  | {
    readonly type: "agent_state";
    readonly chat: number;
    /** The provider and model of the next request. */
    readonly provider?: string;
    readonly model?: string;
    /** With them: the provider is another agent. */
    readonly agent?: boolean;
    /** Id of the current mode, ids of all modes. */
    readonly mode?: string;
    readonly modes?: readonly string[];
    readonly mode_has_tools?: boolean;
    /** Whether any tool call of the open session's next turn may run. */
    readonly has_tools?: boolean;
    readonly commands?: readonly { readonly name: string; readonly description: string }[];
    readonly options?: readonly { readonly id: string; readonly name: string; readonly value: string }[];
    /** The session's permission; only the supervisor's own updates have it. */
    readonly permission?: SessionPermission;
    /** With it: why the session cannot be loosened; "" if it can. */
    readonly refusal?: string;
    /** Why the network and sensitive writes ask whatever rules say, as half a sentence; "" if they do not. */
    readonly untrusted?: string;
  }
  /** `problem`: why it has no real answer, although the model ended it; a notice has said so. */
  | {
    readonly type: "turn_done";
    readonly chat: number;
    readonly reason: string;
    readonly error?: string;
    readonly problem?: string;
  }
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
  /** A notice with this text does not hold any more. */
  | { readonly type: "notice_over"; readonly chat: number; readonly text: string }
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
    /** Cost of the session so far. */
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
    /** The provider is another agent. */
    readonly agent?: boolean;
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
    /** How much of it the user undid; only of a stored turn. */
    readonly undone?: "all" | "part";
  }
  /** How much of these calls' changes the user undid; only in a stored session. */
  | { readonly type: "undone"; readonly chat: number; readonly calls: RequestResult<"undo">["calls"] }
  /** `session`: of the engine that asks. */
  /**
   * Neovim copies files of the roots to the folder before it writes them, if they have not changed since then
   * (milliseconds since 1970). Without a time it stops.
   */
  | {
    readonly type: "spool";
    readonly folder: string;
    readonly since?: number;
    /** Real paths. */
    readonly roots: readonly string[];
  }
  | ({ readonly type: "ask_editor"; readonly request: number; readonly session?: string } & EditorQuestion)
  /** More of the answer to an `aside`; its `engine_answer` has all of it. */
  | { readonly type: "aside_text"; readonly chat: number; readonly request: number; readonly text: string }
  | { readonly type: "health"; readonly request: number; readonly report: HealthReport }
  /**
   * `refused`: rules that would open hosts that commands could not reach. `agents`: hosts that other agents could not
   * reach.
   */
  | {
    readonly type: "rules";
    readonly request: number;
    readonly rules: readonly ShownRule[];
    readonly refused: readonly string[];
    readonly agents: readonly { readonly agent: string; readonly title: string; readonly host: string }[];
  }
  /** Files of the project that were found in time. Files that the agent may not read freely are left out. */
  | { readonly type: "files"; readonly request: number; readonly paths: readonly string[] }
  | { readonly type: "readable"; readonly request: number; readonly readable: boolean }
  /**
   * A message can call these after a slash, besides sub-commands: prompts, skills, and prompts of MCP servers as
   * "server:name". `hint` describes the arguments.
   */
  | {
    readonly type: "prompts";
    readonly request: number;
    readonly prompts: readonly {
      readonly kind: "prompt" | "skill" | "mcp";
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
    /** Name of the next turn's mode. */
    readonly current: string;
  }
  /** `problem`: the reason for a missing list. */
  | {
    readonly type: "models";
    readonly request: number;
    readonly provider: string;
    /** Name of the next turn's model; "" if it belongs to another provider. */
    readonly current: string;
    readonly models: readonly { readonly name: string; readonly text: string }[];
    readonly problem?: string;
  }
  /** `problem`: the reason for a missing list. */
  | {
    readonly type: "agent_login";
    readonly request: number;
    /** The agent's. */
    readonly title: string;
    readonly logins: readonly ShownLogin[];
    readonly problem?: string;
  }
  /** `title`: the agent's; absent: the session's agent is our own, which has none. `problem`: the reason for a missing list. */
  | (AgentOptionsResult & {
    readonly type: "agent_options";
    readonly request: number;
    readonly title?: string;
    readonly problem?: string;
  })
  | {
    readonly type: "providers";
    readonly request: number;
    readonly current: string;
    readonly providers: readonly { readonly name: string; readonly text: string; readonly ready: boolean }[];
  }
  /** Whether the session has the provider; `model`: the user must choose a model first. */
  | { readonly type: "provider"; readonly request: number; readonly end: "done" | "failed" | "model" }
  /** The newest first. */
  | {
    readonly type: "mcp";
    readonly request: number;
    readonly servers: readonly ShownMcpServer[];
    /** The page of a login. */
    readonly url?: string;
  }
  | {
    readonly type: "skills";
    readonly request: number;
    readonly skills: readonly ShownSkill[];
    /** One line each. */
    readonly problems: readonly string[];
  }
  | { readonly type: "hooks"; readonly request: number; readonly hooks: readonly HookView[] }
  | { readonly type: "index"; readonly request: number; readonly index: IndexState }
  | { readonly type: "jobs"; readonly request: number; readonly jobs: readonly ShownJob[] }
  /** Number of running background commands. */
  | { readonly type: "running"; readonly chat: number; readonly count: number }
  | { readonly type: "log"; readonly request: number; readonly lines: readonly string[] }
  /** `root`: the project of the request's folder, if it is one. Newest session first. */
  | {
    readonly type: "sessions";
    readonly request: number;
    readonly root?: string;
    readonly sessions: readonly ShownSession[];
  }
  | ({ readonly type: "login"; readonly request: number } & LoginState)
  /** One line; absent if the provider reports none. */
  | { readonly type: "quota"; readonly request: number; readonly line?: string }
  /**
   * Either `result` (see requests.ts) or `error`, which is one line. The result of session_history has `updates`
   * instead of `entries`: the screen's updates.
   */
  | {
    readonly type: "engine_answer";
    readonly request: number;
    readonly result?: Readonly<Record<string, unknown>>;
    readonly error?: string;
  };

interface WithAttachments {
  /** Labels of the message's attachments. */
  readonly given?: readonly string[];
}

interface UserText extends WithAttachments {
  readonly chat: number;
  readonly text: string;
  readonly turn?: number;
}

/** One that is in force, or a proposal that the user does not want again: its verdict begins with "never". */
interface ShownRule {
  readonly verdict: string;
  readonly rule: string;
  readonly source: string;
}

/** A question to the editor; `reply` carries the answer as its `result`. */
export type EditorQuestion =
  | { readonly method: "unsaved_text"; readonly params: { readonly path: string } }
  | {
    readonly method: "write_unsaved";
    readonly params: { readonly path: string; readonly base: string; readonly text: string };
  }
  | { readonly method: "written_since"; readonly params: { readonly since: number } }
  /** See `EditorView` in protocol/surroundings.ts. `roots`: the answer contains nothing outside of these folders. */
  | { readonly method: "editor_view"; readonly params: { readonly roots: readonly string[] } }
  /** `roots`: the answer contains nothing outside of these folders. */
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
  /** Id of the call above it. */
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
  /** The output is a diff of the write. */
  readonly is_diff?: boolean;
  /** With a diff, its files in their order. */
  readonly locations?: readonly ScreenLocation[];
  /** The texts of the diff, as they are; only for a screen that wants them. */
  readonly diffs?: readonly TextDiff[];
  /** How it was approved, one phrase for each approval; added to the earlier ones. */
  readonly approvals?: readonly string[];
  /** Id of the call above it. */
  readonly parent?: string;
}

export interface TextDiff {
  /** Absolute. */
  readonly path: string;
  /** Absent if the file is new. */
  readonly before?: string;
  readonly after: string;
}

export interface ScreenLocation {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line?: number;
}

export interface ShownFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the project, for the screen. */
  readonly shown: string;
  /** For a moved file: its earlier path for the screen. */
  readonly from?: string;
  readonly kind: "created" | "modified" | "deleted" | "renamed";
  readonly added: number;
  readonly removed: number;
  /** Binary, or too large to compare line by line. */
  readonly opaque: boolean;
  /** Only of a stored turn that was undone in part. */
  readonly undone?: "all" | "part";
}

export interface FileDiff {
  /** For the screen. */
  readonly path: string;
  readonly before?: string;
  readonly after: string;
}

/** The diffs of an approval. */
export interface FileDiffs {
  readonly files: readonly FileDiff[];
  /** Files whose diffs are too large to show. */
  readonly left_out: number;
}

/** A file, link or folder that a command would change, or a folder that stands for many of them. */
export interface EffectRow {
  /** The row's number in answers, from 1. */
  readonly number: number;
  /** For the screen; a folder ends with a slash. */
  readonly path: string;
  readonly what: "created" | "modified" | "deleted" | "renamed";
  /** The earlier path, for the screen. */
  readonly from?: string;
  /** Number of its changes, if there are several. */
  readonly count?: number;
  /** Lines of text. */
  readonly added?: number;
  readonly removed?: number;
  /** Details, as half a sentence: "git runs it automatically", "binary", "leads to x". */
  readonly note?: string;
  /** "kept" by default; "left" unless the user chooses it ("sensitive"); "refused" cannot be kept. */
  readonly state: "kept" | "left" | "refused";
  /** Texts for a diff, if they are not too large; otherwise absent. */
  readonly before?: string;
  readonly after?: string;
}

/** An MCP server with what the supervisor knows of it. */
export interface ShownMcpServer extends McpServerState {
  /** Everything that its approval covers, one line each. */
  readonly description: readonly string[];
  readonly is_approved: boolean;
  /** It speaks HTTP, so the user may log in. */
  readonly has_login: boolean;
  /** The last lines of its error output. */
  readonly errors: readonly string[];
  /** Hosts that it wanted to reach and may not, as "name:port". */
  readonly refused: readonly string[];
}

/** The contents of an approval, by what the screen shows. Questions are answered with text. */
export type ApprovalSubject =
  | ({ readonly kind: "file" } & FileDiffs)
  | {
    readonly kind: "command";
    readonly command: string;
    /** Real folder, relative to the root, for the screen. */
    readonly folder: string;
    /** The command's access; absent without a sandbox. */
    readonly access?: CommandAccess;
    /** The hosts that it reaches without the network, as text. */
    readonly hosts?: string;
    readonly severity: string;
    /** The user edited the command. */
    readonly is_edited: boolean;
    /** Folders that earlier commands of the session have added to its variables, in words. */
    readonly activation?: string;
  }
  | {
    /** The pending changes of a command that ran over an overlay. */
    readonly kind: "effects";
    readonly command: string;
    /** Real folder, relative to the root, for the screen. */
    readonly folder: string;
    /** "exit code 0". */
    readonly end: string;
    readonly effects: readonly EffectRow[];
    /** As for a command. */
    readonly activation?: string;
  }
  /** Any other access, as a text; `about`: the subject of a question that only the user may answer. */
  | { readonly kind: "other"; readonly detail?: string; readonly about?: AccessOf<"ask">["about"] }
  | { readonly kind: "question"; readonly question: string; readonly options: readonly string[] };

export type ApprovalUpdate = ApprovalSubject & {
  readonly type: "approval";
  readonly chat: number;
  readonly request: number;
  /** Id of its tool call; empty if it is not a call. */
  readonly tool: string;
  readonly title: string;
  readonly reason: string;
  /** The title of the requesting sub-agent. */
  readonly agent?: string;
  /** The rule that "always allow" would write. */
  readonly suggestion?: string;
  /** The answer is for this request alone, or is stored until its subject changes; absent: the user chooses. */
  readonly scope?: "request" | "stored";
};
