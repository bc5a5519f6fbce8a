/**
 * `sessions.json` beside each database lists its sessions, so that a list needs no engine. Engines write it, so readers
 * trust nothing in it. Times are milliseconds since 1970.
 */
import * as z from "../deps/zod.ts";

export const SESSIONS_FILE = "sessions.json";
/** Folder of the sessions' scratch folders, beside it. */
export const SCRATCH_FOLDER = "scratch";
/** The newest sessions. */
export const MOST_SESSIONS = 500;
export const LARGEST_SESSIONS_FILE = 512 * 1024;
/** Characters. */
export const LONGEST_SESSION_TITLE = 120;

const SESSION_STATES = ["running", "waiting", "done", "stopped", "failed"] as const;
export type SessionState = (typeof SESSION_STATES)[number];

const ListedSession = z.object({
  /** The engine's format, because it names a lock file. */
  id: z.string().regex(/^[0-9a-f-]{36}$/),
  title: z.string().max(LONGEST_SESSION_TITLE),
  created: z.number(),
  updated: z.number(),
  archived: z.boolean(),
  turns: z.int().min(1),
  /** "waiting": for the user's answer. */
  state: z.enum(SESSION_STATES),
});
export type ListedSession = z.infer<typeof ListedSession>;

export const SessionsFile = z.object({
  version: z.literal(1),
  /** Real path of the project. */
  root: z.string().min(1).max(4_096),
  /** The newest first. */
  sessions: z.array(ListedSession).max(MOST_SESSIONS),
});
export type SessionsFile = z.infer<typeof SessionsFile>;

/** A session in the list of all projects. */
export interface ShownSession {
  readonly sessionId: string;
  readonly root: string;
  /** Name of the project, for the screen. */
  readonly project: string;
  readonly title: string;
  readonly updated: number;
  readonly turns: number;
  readonly archived: boolean;
  readonly state: SessionState;
  /** An engine has it open. */
  readonly open: boolean;
}
