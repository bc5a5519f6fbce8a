/** How the engine's parts reach the world; main.ts gives the real ones. */
import type { CommandInput } from "../../protocol/commands.ts";
import type { FoundLine, SearchQuery } from "../../protocol/search.ts";
import type { AgentEvent, Diff, ToolStart } from "./events.ts";
import type { LspRequest, LspResponse } from "../../protocol/lsp.ts";

export type { Plan } from "./events.ts";
import type { RequestResult } from "../../protocol/requests.ts";
import type { Message, Usage } from "./messages.ts";

/** The editor that shows the project's files. Both answer "nothing open" where no editor takes part. */
export interface Editor {
  /** Text of an open buffer with unsaved changes, with the file's own line endings; else undefined. */
  unsavedText(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Merges `text`, made from `base`, into an open buffer with unsaved changes. */
  writeUnsaved(path: string, base: string, text: string, signal: AbortSignal): Promise<UnsavedWrite>;
}

export type UnsavedWrite =
  | { readonly status: "not_open" }
  | { readonly status: "merged"; readonly text: string; readonly saved: boolean }
  | { readonly status: "conflict"; readonly text: string };

/** The language servers that the editor runs. */
export interface LanguageServers {
  /** Rejects only if the signal is aborted: whatever else goes wrong is an answer of kind "nothing". */
  ask(request: LspRequest, signal: AbortSignal): Promise<LspResponse>;
}

export interface ApprovalRequest {
  readonly call: ToolStart;
  /** Why a person is asked, one line. */
  readonly reason: string;
  /** A person must answer, whatever the rules say. */
  readonly force: boolean;
  readonly touches: readonly {
    readonly access: "read" | "write";
    readonly relative: string;
    readonly named: string;
  }[];
  readonly diff?: Diff;
  /** Exactly what will run. */
  readonly command?: CommandInput;
}

export type ApprovalAnswer =
  /** `command` is set if the user has changed it: only this one may run. */
  | { readonly answer: "allow_once" | "allow_session"; readonly rule?: string; readonly command?: string }
  | { readonly answer: "reject"; readonly reason?: string; readonly rule?: string }
  | { readonly answer: "cancelled" };

/** Asks the user; never rejects, an aborted wait is "cancelled". */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface NewSession {
  readonly id: string;
  /** Real path of the project. */
  readonly root: string;
  readonly model: string;
  /** The session that this one was forked from. */
  readonly parent?: string;
}

export interface StoredSession extends NewSession {
  /** Empty until it has one. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly updated: number;
  readonly archived: boolean;
  /** Turns begun so far; the last one has this number. */
  readonly turns: number;
}

/** Temporary files that are about to take a file's place: one that a crash left behind is removed at the next start. */
export interface WriteJournal {
  begin(temporary: string): void;
  end(temporary: string): void;
}

/**
 * Where conversations are kept. Append, then publish: what is on screen is in the store. An event `turn_started`
 * begins the session's next turn; what is appended after it belongs to this turn.
 */
export interface Store {
  readonly writes: WriteJournal;
  createSession(session: NewSession): void;
  session(id: string): StoredSession | undefined;
  /** Number of the turn that runs or ran last; 0 before the first. */
  turn(session: string): number;
  appendEvent(session: string, event: AgentEvent): void;
  events(session: string): readonly AgentEvent[];
  appendMessage(session: string, message: Message): void;
  messages(session: string): readonly Message[];
}

/** What a request to the model was for. */
export type Purpose = "turn" | "title" | "summary";

/** One request to a model. */
export interface RequestUsage {
  readonly purpose: Purpose;
  readonly provider: string;
  readonly model: string;
  /** Undefined if the provider has said nothing: an estimate is no fact. */
  readonly usage?: Usage;
  /** US dollars; undefined where the model has no price. */
  readonly cost?: number;
  /** Milliseconds until the first piece of the answer. */
  readonly firstToken?: number;
  /** Milliseconds in all. */
  readonly duration: number;
  /** Tool calls by name; those of tools that there are not are under "(unknown)". */
  readonly tools: Readonly<Record<string, number>>;
  /** Calls of tools that there are not, or whose arguments could not be read. */
  readonly invalidCalls: number;
}

/** What requests to models have used up; kept also where the conversation is deleted. */
export interface UsageLog {
  /** One that belongs to the turn that runs, or ran last. */
  record(session: string, request: RequestUsage): void;
  /** US dollars of all requests of the session; undefined where none had a price. */
  cost(session: string): number | undefined;
  /** By turn of this session, by session, by day and by model, the newest first. */
  report(session: string | undefined): UsageReport;
}

/** Each list is what `usage` of protocol/requests.ts says. */
export type UsageReport = Omit<RequestResult<"usage">, "pricesOf">;

export interface CommandReport {
  /** Shortened, plain text. */
  readonly output: string;
  /** "exit code 0", "timed out after 120 s", "still running". */
  readonly end: string;
  readonly failed: boolean;
  /** The folder that the command ended in, relative to the root. */
  readonly folder?: string;
}

/** Shell commands; the other side judges each once more, and runs it in its sandbox. @throws {ToolError} */
export interface Commands {
  run(input: CommandInput, callId: string, signal: AbortSignal): Promise<CommandReport>;
  /** The command's id for the two below. */
  startInBackground(input: CommandInput, callId: string, signal: AbortSignal): Promise<string>;
  output(id: string): Promise<CommandReport>;
  stop(id: string): Promise<CommandReport>;
}

export interface GrepResult {
  readonly lines: readonly FoundLine[];
  /** Matching lines in all; `more` if counting was given up. */
  readonly total: number;
  readonly more: boolean;
}

type Query<Op extends SearchQuery["op"]> = Omit<Extract<SearchQuery, { op: Op }>, "op">;

/** ripgrep and git, run by the other side with fixed arguments. @throws {ToolError} */
export interface Search {
  grep(query: Query<"grep">, signal: AbortSignal): Promise<GrepResult>;
  files(
    query: Query<"files">,
    signal: AbortSignal,
  ): Promise<{ readonly paths: readonly string[]; readonly more: boolean }>;
  changes(query: Query<"changes">, signal: AbortSignal): Promise<string>;
}

/** Questions to the user. Undefined: no answer was given. */
export interface Questions {
  ask(question: string, options: readonly string[], signal: AbortSignal): Promise<string | undefined>;
}
