/** Stores sessions, their logs and what was learnt of models. */
import type { CheckpointStore } from "../log/checkpoints.ts";
import type { FoldEntry, LogEntry, MessageEntry } from "../log/entries.ts";
import type { AgentEvent } from "../log/events.ts";

export interface NewSession {
  readonly id: string;
  /** Real path of the project. */
  readonly root: string;
  readonly model: string;
  /** The session that this one was forked from, or whose sub-agent it is. */
  readonly parent?: string;
  /** The parent's call that started this sub-agent. */
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
  /** How the last turn ended: a reason of `turn_done`, or "failed". Undefined while it runs. */
  readonly ended?: string;
}

/** A sub-agent's session, with its usage. */
export interface StoredSubagent extends StoredSession {
  readonly tokens: number;
  /** US dollars; undefined where no request had a price. */
  readonly cost?: number;
}

/** Temporary files that will replace files. The next start removes those that a crash left behind. */
export interface WriteJournal {
  begin(...temporaries: readonly string[]): void;
  end(...temporaries: readonly string[]): void;
}

export interface TurnBegun {
  readonly turn: number;
  /** First line of the user's message. */
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

/** Selects entries of a log; by default all. */
export interface WhichEntries {
  /** Turns, both included. */
  readonly first?: number;
  readonly last?: number;
  /** Kinds that are neither read nor returned. */
  readonly without?: readonly LogEntry["type"][];
  /** Leaves the texts of diffs empty, without reading them. */
  readonly bareDiffs?: boolean;
}

/** Stored in one transaction. */
export interface Entries {
  readonly entries?: readonly LogEntry[];
  /** Facts to remember or to forget. */
  readonly memory?: readonly Remembered[];
}

/** Key of a fact about a model. */
export interface ModelFact {
  /** As the user calls it. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly topic: string;
}

/** Facts about models, shared by all sessions. A fact that cannot be stored is learnt again. */
export interface ModelFacts {
  /** A JSON value and its time; undefined if it is missing or older than `milliseconds`. */
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
 * Stores sessions. Append, then publish: everything on screen is in the store. A `user_message` begins the session's
 * next turn, and later entries belong to that turn. When a turn ends, the pieces of each of its texts become one
 * event. Only the requested entries are read. One line replaces the unreadable entries of a turn.
 */
export interface Store {
  /** Recreates a deleted state folder. @returns one line for the user, once */
  ensure(): Promise<string | undefined>;
  /** For temporary files; undefined if nothing outlives the process. */
  readonly folder: string | undefined;
  readonly writes: WriteJournal;
  readonly checkpoints: CheckpointStore;
  createSession(session: NewSession): void;
  session(id: string): StoredSession | undefined;
  /** The session that owns the scratch folder: a fork shares the folder of its origin, because the prompt names it. */
  scratchOwner(session: string): string;
  /** Time of the last message in a session that uses this owner's scratch folder; undefined if none does. */
  scratchUsed(owner: string): number | undefined;
  /** The sessions of its sub-agents, the newest first. */
  subagents(parent: string): readonly StoredSubagent[];
  /** Reads the session again, because another engine may have written it. */
  reopen(id: string): void;
  /** Number of the current or last turn; 0 before the first. */
  turn(session: string): number;
  /** The user's messages with their times, oldest first, of these turns. Default: all. */
  turnsBegun(session: string, first?: number, last?: number): readonly TurnBegun[];
  /** @throws {TurnError} if it cannot be stored; then nothing is */
  append(session: string, entries: Entries): void;
  /** Messages and events. */
  entries(session: string, which?: WhichEntries): readonly Stored<LogEntry>[];
  events(session: string, which?: WhichEntries): readonly Stored[];
  messages(session: string, which?: WhichEntries): readonly MessageEntry[];
  /** Folds, and their undoing. */
  folds(session: string): readonly FoldEntry[];
  /** Whether any call of the session has this id. */
  hasCall(session: string, id: string): boolean;
  /** Turn → characters of its messages, from turn `first` on; 0 for a running turn. */
  sizes(session: string, first: number): ReadonlyMap<number, number>;
  /** All facts that the session remembers. */
  remembered(session: string): readonly Remembered[];
  /** Sets the title if it still is `known`: the user may have changed it. @returns whether it was set */
  retitle(session: string, known: string, title: string): boolean;
}
