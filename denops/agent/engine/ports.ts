/** Interfaces between the engine and the world; main.ts provides the implementations. */
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

/** The editor of the project's files. Without an editor nothing is open. */
export interface Editor {
  /** Unsaved text of an open buffer with the file's line endings; otherwise undefined. */
  unsavedText(path: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Merges `text`, made from `base`, into an open buffer. A buffer without unsaved changes is saved, if the editor can
   * do so atomically.
   */
  writeUnsaved(path: string, base: string, text: string, signal: AbortSignal): Promise<UnsavedWrite>;
  /** Path → the user's last write since then, if the editor knows. @param since milliseconds since 1970 */
  writtenSince?(paths: readonly string[], since: number): Promise<ReadonlyMap<string, string>>;
}

export type UnsavedWrite =
  | { readonly status: "not_open" }
  /** `before` is the buffer's earlier text. */
  | { readonly status: "merged"; readonly before: string; readonly text: string; readonly saved: boolean }
  | { readonly status: "conflict"; readonly text: string };

/** The editor's language servers. */
export interface LanguageServers {
  /**
   * For tools, the user may be asked to start a server; otherwise only running ones are used. Rejects only if the
   * signal is aborted; other failures are answers of kind "nothing".
   */
  ask(request: LspRequest, signal: AbortSignal, who?: "tool"): Promise<LspResponse>;
}

export interface ApprovalRequest {
  readonly call: ToolStart;
  /** The reason for the question, one line. */
  readonly reason: string;
  /** The user must answer, whatever the rules say. */
  readonly force: boolean;
  readonly access: Access;
  readonly diff?: Diff;
  /** The requesting sub-agent: its title, and the most that its mode may change. */
  readonly agent?: { readonly title: string; readonly access: ModeAccess };
}

export type ApprovalAnswer =
  /** `command` is the user's edited version; only this one may run. */
  | {
    readonly answer: "allow_once" | "allow_session";
    readonly rule?: string;
    readonly command?: string;
    /** The command's access. */
    readonly access?: CommandAccess;
    /** It runs over an overlay. */
    readonly rehearsed?: boolean;
  }
  | { readonly answer: "reject"; readonly reason?: string; readonly rule?: string }
  | { readonly answer: "cancelled" };

/** Asks the user. Never rejects: an aborted wait is "cancelled". */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface NewSession {
  readonly id: string;
  /** Real path of the project. */
  readonly root: string;
  readonly model: string;
  /** The original of a fork, or the parent of a sub-agent. */
  readonly parent?: string;
  /** For a sub-agent: the parent's call that started it. */
  readonly call?: string;
  /** Its mode. */
  readonly mode?: string;
  /** Empty before it has one. */
  readonly title?: string;
  /** The git branch created for it. */
  readonly branch?: string;
}

export interface StoredSession extends NewSession {
  /** Empty before it has one. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly updated: number;
  readonly archived: boolean;
  /** Number of turns, which is also the last one's. */
  readonly turns: number;
  /** The end of the last turn: a reason of `turn_done`, or "failed". Undefined: it runs. */
  readonly ended?: string;
}

/** A sub-agent's session with its usage. */
export interface StoredSubagent extends StoredSession {
  readonly tokens: number;
  /** US dollars; undefined if no request had a price. */
  readonly cost?: number;
}

/** Records temporary files of atomic writes; leftovers of a crash are removed at the next start. */
export interface WriteJournal {
  begin(...temporaries: readonly string[]): void;
  end(...temporaries: readonly string[]): void;
}

export interface TurnBegun {
  readonly turn: number;
  /** The first line of the message. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** A stored entry. */
export interface Stored<Entry = AgentEvent> {
  readonly turn: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly entry: Entry;
}

/** Default: all entries. */
export interface WhichEntries {
  /** Turns, both included. */
  readonly first?: number;
  readonly last?: number;
  /** Kinds to skip without reading them. */
  readonly without?: readonly LogEntry["type"][];
  /** Leaves the texts of diffs empty, without reading them. */
  readonly bareDiffs?: boolean;
}

/** Entries that are stored together or not at all. */
export interface Entries {
  readonly entries?: readonly LogEntry[];
  /** Changed facts of the session's memory. */
  readonly memory?: readonly Remembered[];
}

/** A model, and the topic of a fact about it. */
export interface ModelFact {
  /** The user's name for it. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly topic: string;
}

/** Learned facts about models, for all sessions. Facts that cannot be stored are learned again. */
export interface ModelFacts {
  /** A JSON value and its time; undefined if it is missing or older than the limit. */
  get(fact: ModelFact, milliseconds: number): { readonly value: unknown; readonly time: number } | undefined;
  put(fact: ModelFact, value: unknown): void;
}

/** A fact in a session's memory, by topic and name. */
export interface Remembered {
  readonly topic: string;
  readonly name: string;
  /** Any JSON value; undefined: deleted. */
  readonly value: unknown;
}

/**
 * The store of sessions. Append before publishing, so that the store has everything on screen. A `user_message` begins
 * the session's next turn, to which later entries belong. At a turn's end, the pieces of each text become one event.
 * Only requested data is read. One line replaces all unreadable entries of a turn.
 */
export interface Store {
  /** Call it from time to time. @returns one line for the user if the state folder was deleted; said once */
  ensure(): Promise<string | undefined>;
  /** For temporary files; undefined if nothing outlives the process. */
  readonly folder: string | undefined;
  readonly writes: WriteJournal;
  readonly checkpoints: CheckpointStore;
  createSession(session: NewSession): void;
  session(id: string): StoredSession | undefined;
  /** Sessions of its sub-agents, newest first. */
  subagents(parent: string): readonly StoredSubagent[];
  /** Reads the session again, because another engine may have written it. */
  reopen(id: string): void;
  /** Number of the current or last turn; 0 before the first. */
  turn(session: string): number;
  /** The user's messages with times, oldest first. */
  turnsBegun(session: string): readonly TurnBegun[];
  /** @throws {TurnError} if storing fails; then nothing is stored */
  append(session: string, entries: Entries): void;
  /** Messages and events. */
  entries(session: string, which?: WhichEntries): readonly Stored<LogEntry>[];
  events(session: string, which?: WhichEntries): readonly Stored[];
  messages(session: string, which?: WhichEntries): readonly MessageEntry[];
  /** Folds and their undos. */
  folds(session: string): readonly FoldEntry[];
  /** Whether any call of the session has this id. */
  hasCall(session: string, id: string): boolean;
  /** Turn → characters of its messages, from `first` on; 0 for a running turn. */
  sizes(session: string, first: number): ReadonlyMap<number, number>;
  /** The session's whole memory. */
  remembered(session: string): readonly Remembered[];
  /** Changes a title that is still `known`, because the user may have changed it. */
  retitle(session: string, known: string, title: string): boolean;
}

/** A call that is about to change something. */
export interface CheckpointedCall {
  readonly id: string;
  /** Absolute paths of the files that it will write, and of links to them. */
  readonly paths: readonly string[];
  /** A command may write anything, so the project is scanned before and after. */
  readonly command?: "foreground" | "background";
}

/** Records the changes of calls for undo. */
export interface Checkpoints {
  /** Stores the current contents before it returns. @throws {ToolError} on failure; the call must not run */
  before(call: CheckpointedCall, signal: AbortSignal): Promise<PendingCheckpoint>;
}

export interface PendingCheckpoint {
  /** Call it when the call has ended in any way. @returns changes beyond the reported ones, for commands */
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
