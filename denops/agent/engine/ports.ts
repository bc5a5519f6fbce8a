/** How the engine's parts reach the world; main.ts gives the real ones. */
import type { Access, TextChange } from "../protocol/access.ts";
import type { ApprovedCommand, CommandAccess, CommandEffects } from "../protocol/commands.ts";
import type { FoundLine, SearchRequest } from "../protocol/search.ts";
import type { ModeAccess } from "../protocol/modes.ts";
import type { CheckpointStore } from "./log/checkpoints.ts";
import type { EditLog } from "./log/edits.ts";
import type { FoldEntry, LogEntry, MessageEntry } from "./log/entries.ts";
import type { AgentEvent, Diff, FileChange, ToolStart } from "./log/events.ts";
import type { LspRequest, LspResponse } from "../protocol/lsp.ts";

export type { Plan } from "./log/events.ts";
import type { RequestResult, TurnFile } from "../protocol/requests.ts";
import type { ScreenParams, ScreenResult } from "../protocol/screen_requests.ts";
import type { Usage } from "./log/messages.ts";

/** The editor that shows the project's files. Both answer "nothing open" where no editor takes part. */
export interface Editor {
  /** Text of an open buffer with unsaved changes, with the file's own line endings; else undefined. */
  unsavedText(path: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Merges `text`, made from `base`, into an open buffer. One without unsaved changes is written, if the editor can
   * do that without anything coming between.
   */
  writeUnsaved(path: string, base: string, text: string, signal: AbortSignal): Promise<UnsavedWrite>;
  /**
   * Path → what the user has written last of these files since then, where the editor can say.
   * @param since milliseconds since 1970
   */
  writtenSince?(paths: readonly string[], since: number): Promise<ReadonlyMap<string, string>>;
}

export type UnsavedWrite =
  | { readonly status: "not_open" }
  /** `before` is what the buffer held just before. */
  | { readonly status: "merged"; readonly before: string; readonly text: string; readonly saved: boolean }
  | { readonly status: "conflict"; readonly text: string };

/** The language servers that the editor runs. */
export interface LanguageServers {
  /**
   * For a tool the user may be asked whether a server is started; for others only running ones are asked.
   * Rejects only if the signal is aborted: whatever else goes wrong is an answer of kind "nothing".
   */
  ask(request: LspRequest, signal: AbortSignal, who?: "tool"): Promise<LspResponse>;
}

export interface ApprovalRequest {
  readonly call: ToolStart;
  /** Why a person is asked, one line. */
  readonly reason: string;
  /** A person must answer, whatever the rules say. */
  readonly force: boolean;
  readonly access: Access;
  readonly diff?: Diff;
  /** The sub-agent that wants it: its title, and what its mode may change. */
  readonly agent?: { readonly title: string; readonly access: ModeAccess };
}

export type ApprovalAnswer =
  /** `command` is set if the user has changed it: only this one may run. */
  | {
    readonly answer: "allow_once" | "allow_session";
    readonly rule?: string;
    readonly command?: string;
    /** What the command may change. */
    readonly access?: CommandAccess;
    /** It runs over an overlay. */
    readonly rehearsed?: boolean;
  }
  | { readonly answer: "reject"; readonly reason?: string; readonly rule?: string }
  | { readonly answer: "cancelled" };

/** Asks the user; never rejects, an aborted wait is "cancelled". */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface NewSession {
  readonly id: string;
  /** Real path of the project. */
  readonly root: string;
  readonly model: string;
  /** The session that this one was forked from, or whose sub-agent it is. */
  readonly parent?: string;
  /** Of a sub-agent: the call of its parent's that has started it. */
  readonly call?: string;
  /** The name of its mode. */
  readonly mode?: string;
  /** Empty until it has one. */
  readonly title?: string;
  /** The git branch that was made for it. */
  readonly branch?: string;
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
  /** How that one has ended: a reason of `turn_done`, or "failed". Undefined: it has not. */
  readonly ended?: string;
}

/** A session of a sub-agent, with what it has used up. */
export interface StoredSubagent extends StoredSession {
  readonly tokens: number;
  /** US dollars; undefined where no request had a price. */
  readonly cost?: number;
}

/** Temporary files that are about to take a file's place: one that a crash left behind is removed at the next start. */
export interface WriteJournal {
  begin(...temporaries: readonly string[]): void;
  end(...temporaries: readonly string[]): void;
}

export interface TurnBegun {
  readonly turn: number;
  /** The first line of what was asked. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** An entry as it was stored. */
export interface Stored<Entry = AgentEvent> {
  readonly turn: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly entry: Entry;
}

/** All entries unless told. */
export interface WhichEntries {
  /** Turns, both included. */
  readonly first?: number;
  readonly last?: number;
  /** Kinds that are left out: they are not even read. */
  readonly without?: readonly LogEntry["type"][];
  /** The texts of diffs are left empty: they are not even read. */
  readonly bareDiffs?: boolean;
}

/** What belongs together: all of it is stored, or nothing. */
export interface Entries {
  readonly entries?: readonly LogEntry[];
  /** What is remembered from now on, or forgotten. */
  readonly memory?: readonly Remembered[];
}

/** Of which model something is known, and what. */
export interface ModelFact {
  /** As the user calls it. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly topic: string;
}

/** What was learnt of models, for all sessions; what cannot be stored is learnt again. */
export interface ModelFacts {
  /** A JSON value, and when it was learnt; undefined: nothing, or it was longer ago than that. */
  get(fact: ModelFact, milliseconds: number): { readonly value: unknown; readonly time: number } | undefined;
  put(fact: ModelFact, value: unknown): void;
}

/** One fact that a session remembers beside its messages, by topic and name. */
export interface Remembered {
  readonly topic: string;
  readonly name: string;
  /** Any JSON value; undefined: forgotten. */
  readonly value: unknown;
}

/**
 * Where sessions are kept. Append, then publish: what is on screen is in the store. A `user_message` begins the
 * session's next turn; what is appended after it belongs to this turn. When a turn ends, the pieces of each of its
 * texts become one event. Nothing but what is asked for is read. Where a turn has entries that cannot be read, one
 * line says so in the place of the first.
 */
export interface Store {
  /** To be called now and then. @returns one line for the user if the state folder was deleted; said once */
  ensure(): Promise<string | undefined>;
  /** For files of the moment; undefined where nothing outlives the process. */
  readonly folder: string | undefined;
  readonly writes: WriteJournal;
  readonly checkpoints: CheckpointStore;
  createSession(session: NewSession): void;
  session(id: string): StoredSession | undefined;
  /** The sessions of its sub-agents, the newest first. */
  subagents(parent: string): readonly StoredSubagent[];
  /** The session is read anew: another engine may have written it. */
  reopen(id: string): void;
  /** Number of the turn that runs or ran last; 0 before the first. */
  turn(session: string): number;
  /** What the user asked, and when, oldest first. */
  turnsBegun(session: string): readonly TurnBegun[];
  /** @throws {TurnError} if it cannot be stored; then nothing is */
  append(session: string, entries: Entries): void;
  /** Messages and events. */
  entries(session: string, which?: WhichEntries): readonly Stored<LogEntry>[];
  events(session: string, which?: WhichEntries): readonly Stored[];
  messages(session: string, which?: WhichEntries): readonly MessageEntry[];
  /** What was folded, and taken back. */
  folds(session: string): readonly FoldEntry[];
  /** Whether any call of the session has this id. */
  hasCall(session: string, id: string): boolean;
  /** Turn → characters of its messages, of those from `first` on; 0 for one that goes on. */
  sizes(session: string, first: number): ReadonlyMap<number, number>;
  /** Everything that the session remembers. */
  remembered(session: string): readonly Remembered[];
  /** The title of the session if it has `known` for a title: the user may have given another meanwhile. */
  retitle(session: string, known: string, title: string): boolean;
}

/** A call that is about to change something. */
export interface CheckpointedCall {
  readonly id: string;
  /** Absolute paths that it will write: of the files, and of links to them. */
  readonly paths: readonly string[];
  /** A command may write anything: the project is looked at before and after. */
  readonly command?: "foreground" | "background";
}

/** Keeps what calls change, so that it can be taken back. */
export interface Checkpoints {
  /** What is there now is kept when this returns. @throws {ToolError} if it cannot be: the call is not to run. */
  before(call: CheckpointedCall, signal: AbortSignal): Promise<PendingCheckpoint>;
}

export interface PendingCheckpoint {
  /**
   * To be called when the call has ended, however it did.
   * @returns changes beyond those that it said: those of a command
   */
  done(changes: readonly FileChange[]): Promise<readonly FileChange[]>;
}

/** A file that commands may not change without a word of the user's, as a command has changed it. */
export interface HeldFile {
  /** Absolute. */
  readonly path: string;
  readonly toolCall: string;
  /** "changed", "created", "deleted". */
  readonly what: string;
  /** Where both sides are text. */
  readonly texts?: { readonly before?: string; readonly after: string };
}

export interface HeldBackChanges {
  readonly held: readonly HeldFile[];
  /** What could not be put back. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
  readonly changes: readonly { readonly toolCall: string; readonly change: FileChange }[];
}

/** @param change both texts of the file; undefined: it is no text */
export type IsTrap = (path: string, toolCall: string, change: () => TextChange | undefined) => boolean;

/** Puts back what commands have changed. */
export interface HoldBack {
  /** Of the changes since it was called last, of any command, those that are traps become what they were. */
  take(isTrap: IsTrap): Promise<HeldBackChanges>;
  /** As the command had left it. */
  place(file: HeldFile): Promise<{ readonly changes: readonly FileChange[]; readonly failure?: string }>;
}

/** How a step of a turn came to its request. */
export interface PromptFacts {
  /** Milliseconds to build it. */
  readonly build: number;
  /** Milliseconds from what it answers, the message or the last result, to the request. */
  readonly ready: number;
  readonly messages: number;
}

/** One request to a model. */
export interface RequestUsage {
  /** What it was for: the name of its mode. */
  readonly purpose: string;
  readonly provider: string;
  readonly model: string;
  /** Undefined if the provider has said nothing: an estimate is no fact. */
  readonly usage?: Usage;
  /** US dollars; undefined where the model has no price. */
  readonly cost?: number;
  /** The session of the sub-agent that it was made for. */
  readonly agent?: string;
  /** Milliseconds until the first piece of the answer. */
  readonly firstToken?: number;
  /** Milliseconds in all. */
  readonly duration: number;
  /** Tool calls by name; those of tools that there are not are under "(unknown)". */
  readonly tools: Readonly<Record<string, number>>;
  /** Calls of tools that there are not, or whose arguments could not be read. */
  readonly invalidCalls: number;
  /** Tools that were offered. */
  readonly offered: number;
  /** Undefined for one that is no step of a turn. */
  readonly prompt?: PromptFacts;
}

/** What requests to models have used up; kept also where the session is deleted. */
export interface UsageLog {
  readonly edits: EditLog;
  /** @throws {TurnError} if it cannot be stored */
  record(session: string, turn: number, request: RequestUsage): void;
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
  /** To be settled, and then disposed of. */
  readonly effects?: Effects;
}

/** What a command that has ended would change; the other side has it until this is disposed of. */
export interface Effects extends CommandEffects, Disposable {
  /** ACP's id. */
  readonly terminal: string;
  /** Those that were agreed to: see protocol/screen_requests.ts. @throws {Error} one line */
  agreed(from: number, signal: AbortSignal): Promise<ScreenResult<"kept_changes">>;
  contents(
    from: ScreenParams<"kept_contents">["from"],
    signal: AbortSignal,
  ): Promise<ScreenResult<"kept_contents">>;
}

export interface Kept {
  /** Lines are counted where there are few files. */
  readonly files: readonly (Pick<TurnFile, "path"> & Partial<TurnFile>)[];
  /** What is as it was, and why: half a sentence each; `leftMore` more are not named. */
  readonly left: readonly { readonly path: string; readonly why: string }[];
  readonly leftMore: number;
  /** What buffers follow. */
  readonly changes: readonly FileChange[];
}

/** Makes what a command would change happen, as far as that was agreed to, so that it can be taken back. */
export interface Keeper {
  /**
   * Once the first file is written it goes on to the end, whatever the signal says.
   * @throws {Error} one line, if nothing was kept
   * @throws {ToolError} one line for the model, if that is not known
   */
  keep(effects: Effects, toolCall: string, signal: AbortSignal): Promise<Kept>;
}

/** Shell commands; the other side judges each once more, and runs it in its sandbox. @throws {ToolError} */
export interface Commands {
  run(command: ApprovedCommand, callId: string, signal: AbortSignal): Promise<CommandReport>;
  /** The command's id for the two below. */
  startInBackground(command: ApprovedCommand, callId: string, signal: AbortSignal): Promise<string>;
  output(id: string): Promise<CommandReport>;
  stop(id: string): Promise<CommandReport>;
  /** A background command of this call has not ended. */
  isRunning(callId: string): boolean;
}

/** Files that a search has passed over because the rules ask before they are read. */
export interface LeftOut {
  readonly count: number;
  /** "read(private/**)" */
  readonly rules: readonly string[];
}

export interface GrepResult {
  readonly leftOut?: LeftOut | undefined;
  readonly lines: readonly FoundLine[];
  /** Matching lines in all; `more` if counting was given up. */
  readonly total: number;
  readonly more: boolean;
}

type Query<Op extends SearchRequest["op"]> = Omit<Extract<SearchRequest, { op: Op }>, "op">;

/** ripgrep and git, run by the other side with fixed arguments. @throws {ToolError} */
export interface Search {
  grep(query: Query<"grep">, signal: AbortSignal): Promise<GrepResult>;
  files(
    query: Query<"files">,
    signal: AbortSignal,
  ): Promise<{
    readonly paths: readonly string[];
    readonly more: boolean;
    readonly leftOut?: LeftOut | undefined;
  }>;
  changes(
    query: Query<"changes">,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly leftOut?: LeftOut | undefined }>;
}

/** A piece of work for another agent. */
export interface SubagentTask {
  /** One line. */
  readonly title: string;
  readonly task: string;
  /** What is known already. */
  readonly hint?: string;
  /** The name of its mode. */
  readonly mode: string;
  /** The name of its model; its mode's, or the options', unless told. */
  readonly model?: string;
}

export interface SubagentReport {
  /** For the model. */
  readonly text: string;
  /** "done", "stopped". */
  readonly summary: string;
  readonly failed: boolean;
}

/** Other agents that work for a session, each with a log and a view of its own. */
export interface SubagentPort {
  /** What starting it is judged by. @param access of the session's mode @throws {ToolError} if it may not be started */
  accessOf(task: SubagentTask, access: ModeAccess): Access;
  /** @param call under which its actions are shown @throws {ToolError} */
  run(task: SubagentTask, call: string, signal: AbortSignal): Promise<SubagentReport>;
  /** @returns its id for the two below @throws {ToolError} */
  startInBackground(task: SubagentTask, call: string): string;
  /** A sub-agent of the session has this id. */
  knows(id: string): boolean;
  /** @throws {ToolError} */
  output(id: string): SubagentReport;
  stop(id: string): Promise<SubagentReport>;
  /** For the model: what has ended in the background since it was told last; undefined if nothing has. */
  news(): string | undefined;
}

/** Questions to the user. Undefined: no answer was given. */
export interface Questions {
  ask(question: string, options: readonly string[], signal: AbortSignal): Promise<string | undefined>;
}
