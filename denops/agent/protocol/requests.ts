/**
 * Requests from the screen to the engine about stored sessions, checkpoints and reviews. Each is one row here and one
 * handler in the engine (engine/acp/); the supervisor forwards it as `_agent/<name>`.
 *
 * In results every field named `path` or `from` is an absolute real path: the supervisor drops those outside of the
 * workspace. Times are milliseconds since 1970, turns count from 1 within their session.
 */
import * as z from "../deps/zod.ts";
import { MessageId } from "./extensions.ts";
import { PromptBlock } from "./attachments.ts";
import { OwnMode } from "./modes.ts";
import { IndexChange, IndexState } from "./results/index.ts";
import { AgentLoginResult } from "./results/agent_login.ts";
import { AgentOptionChange, AgentOptionsResult } from "./results/agent_options.ts";
import { McpChange, McpServerState } from "./results/mcp.ts";
import { UsageTables } from "./results/usage.ts";
import { LONGEST_CALL_ID } from "./update_meta.ts";

const sessionId = z.string();
const turn = z.int().min(1);
const time = z.number();
const counts = { added: z.int(), removed: z.int() };
export const changeKind = z.enum(["created", "modified", "deleted", "renamed"]);

const SessionRow = z.object({
  sessionId,
  title: z.string(),
  created: time,
  updated: time,
  archived: z.boolean(),
  turns: z.int(),
  /** Files that its tools and commands changed. */
  files: z.int(),
  /** Tokens of all its requests. */
  tokens: z.int(),
  /** Another Neovim has it open. */
  open: z.boolean(),
});
type SessionRow = z.infer<typeof SessionRow>;

/** How much of some changes was undone; absent: nothing. */
const undone = z.enum(["all", "part"]).optional();

export const TurnFile = z.object({
  path: z.string(),
  from: z.string().optional(),
  kind: changeKind,
  ...counts,
  /** Binary, or too large to compare line by line. */
  opaque: z.boolean(),
  /** `path` is a folder with this many files; their lines are not counted. */
  count: z.int().optional(),
  /** Only of a stored turn that was undone in part. */
  undone,
});
export type TurnFile = z.infer<typeof TurnFile>;

/** How much of a turn's changes was undone. `files`: only of a turn that was undone in part. */
const FileUndone = TurnFile.pick({ path: true, undone: true });
const TurnUndone = z.object({ turn, undone, files: z.array(FileUndone).optional() });
export type TurnUndone = z.infer<typeof TurnUndone>;

/** The same of a call that has changed files, by its id as the screen knows it. */
const CallUndone = z.object({ call: z.string(), undone });

/**
 * A piece of a stored session: an ACP update as it was sent (user messages with TurnMeta), a turn's changed files, its
 * end (ACP's stop reason, "error", or "interrupted" if its process ended), or what was undone of earlier calls.
 */
const HistoryEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("update"), update: z.looseObject({ sessionUpdate: z.string() }) }),
  z.object({ type: z.literal("turn_files"), turn, files: z.array(TurnFile), undone }),
  z.object({ type: z.literal("turn_done"), reason: z.string(), error: z.string().optional() }),
  z.object({ type: z.literal("calls_undone"), calls: z.array(CallUndone) }),
]);
export type HistoryEntry = z.infer<typeof HistoryEntry>;

const CheckpointTurn = z.object({
  sessionId,
  turn,
  /** First line of the user's message. */
  text: z.string(),
  time,
  undone: z.boolean(),
  /** Number of changed files. */
  files: z.int().min(1),
});
export type CheckpointTurn = z.infer<typeof CheckpointTurn>;

/** The outcome of a restore for one file. */
const RestoredFile = z.object({
  path: z.string(),
  from: z.string().optional(),
  outcome: z.enum([
    /** Exactly restored. */
    "restored",
    /** Restored, with the user's later changes merged. */
    "merged",
    /** The user changed the same lines: nothing was written; `text` shows both sides. */
    "conflict",
    /** Nothing had to be done. */
    "unchanged",
    /** Nothing was done; `text` gives the reason. */
    "skipped",
  ]),
  text: z.string().optional(),
});

/** `turns` and `calls`: the state of this turn and of all later ones, and of their calls that have changed something. */
const TakenBack = z.object({
  turn,
  /** Only some calls of the turn are concerned. */
  some: z.boolean(),
  files: z.array(RestoredFile),
  turns: z.array(TurnUndone),
  calls: z.array(CallUndone),
});

/** A preview of one file; a text is undefined if the file does not exist then. */
const PreviewFile = z.object({
  path: z.string(),
  kind: changeKind,
  now: z.string().optional(),
  then: z.string().optional(),
  opaque: z.boolean(),
  /** As in RestoredFile, as far as predictable. */
  outcome: RestoredFile.shape.outcome,
  from: z.string().optional(),
  text: z.string().optional(),
});
export type PreviewFile = z.infer<typeof PreviewFile>;

const ReviewFile = z.object({
  path: z.string(),
  kind: changeKind,
  from: z.string().optional(),
  /** The session and turn of the last write. */
  sessionId,
  turn,
  /** The reviewed text; undefined if the agent created the file, or texts were not requested. */
  baseline: z.string().optional(),
  /** The text on disk; undefined if the agent deleted the file, or texts were not requested. */
  after: z.string().optional(),
  opaque: z.boolean(),
  ...counts,
});
export type ReviewFile = z.infer<typeof ReviewFile>;

/** A part of a request. */
const ContextPart = z.object({
  group: z.enum(["tools", "system", "rules", "files", "results", "messages"]),
  /** Name of a tool, section, file, call or kind of message. */
  name: z.string(),
  characters: z.int(),
  /** The id for dropping and pinning it. */
  id: z.string().optional(),
  /** The user's choice. */
  state: z.enum(["dropped", "pinned"]).optional(),
  /** It is masked first when the window fills up. */
  next: z.boolean().optional(),
  /** Size of the whole file, if it is one. */
  bytes: z.int().optional(),
});
export type ContextPart = z.infer<typeof ContextPart>;

/** The place where a request differed from the previous one, which made the provider's cache useless. */
const PrefixBreak = z.object({
  /** "tool read_file", "system prompt", "message 3" */
  where: z.string(),
  reason: z.string(),
  /** Characters before the difference, and in all. */
  kept: z.int(),
  sent: z.int(),
});
export type PrefixBreak = z.infer<typeof PrefixBreak>;

const SteerEnd = z.enum(["told", "taken_back", "ended", "stopped"]);
export type SteerEnd = z.infer<typeof SteerEnd>;

const nothing = z.object({});

/** Name → parameters and result. */
export const REQUESTS = {
  /** The tools of a session, and which are off. `toggle` switches one first. */
  tools: {
    params: z.object({ sessionId, toggle: z.string().optional() }),
    result: z.object({ tools: z.array(z.object({ name: z.string(), on: z.boolean() })) }),
  },
  /** The MCP servers of the project. `change` first starts, stops or restarts one. */
  mcp: {
    params: z.object({ sessionId, change: McpChange.optional() }),
    result: z.object({ servers: z.array(McpServerState) }),
  },
  /** The options of another agent, which is started if necessary. `change` first sets one for the session. */
  agent_options: {
    params: z.object({ sessionId, change: AgentOptionChange.optional() }),
    result: AgentOptionsResult,
  },
  /**
   * The logins of another agent, which is started if necessary. `method` first runs one of the type "agent"; after one
   * of another type the agent is started again.
   */
  agent_login: {
    params: z.object({ sessionId, method: z.string().max(100).optional() }),
    result: AgentLoginResult,
  },
  /** The index for searches by meaning. `change` first builds, rebuilds or deletes it. */
  index: { params: z.object({ sessionId, change: IndexChange.optional() }), result: IndexState },
  /** Sets the modes from files, for all sessions. */
  modes: { params: z.object({ modes: z.array(OwnMode) }), result: nothing },
  /** The content of the next request. `change` first drops or pins a part, or does neither any more. */
  context: {
    params: z.object({
      sessionId,
      change: z.object({ id: z.string().max(10_000), to: z.enum(["dropped", "pinned", "plain"]) }).optional(),
    }),
    result: z.object({
      parts: z.array(ContextPart),
      /** Estimated tokens of all parts. */
      tokens: z.int(),
      /** Tokens of the window; undefined if unknown. */
      window: z.int().optional(),
      /** The source of that number, as the end of a sentence. */
      window_from: z.string().optional(),
      /** Tokens above which old entries are folded; undefined if the window is unknown. */
      folds_above: z.int().optional(),
      /** This process's last request that missed the cache; the cost is in US dollars. */
      broken: PrefixBreak.extend({ cost: z.number().optional() }).optional(),
    }),
  },
  /** The text of a part as it is sent. `at`: its place in the answer of `context`, from 0. */
  context_part: {
    params: z.object({ sessionId, at: z.int().min(0), name: z.string() }),
    result: z.object({ text: z.string() }),
  },
  /**
   * The requests since the session's last turn began and their answers, as they were on the wire without secrets; "" if
   * there are none.
   */
  trace: { params: z.object({ sessionId }), result: z.object({ text: z.string() }) },
  /**
   * A question beside the turns, which is not stored; it works during a turn too. Without a question, stops the one
   * with this id, which is answered with the text so far.
   */
  aside: {
    params: z.object({
      sessionId,
      id: z.string().max(100),
      question: z.string().min(1).max(200_000).optional(),
    }),
    result: z.object({ text: z.string() }),
  },
  /**
   * Sends a message to the model before the turn's next step; without a prompt, withdraws the message with this id.
   * Answered once its fate is known: "ended" and "stopped" are the turn's.
   */
  steer: {
    params: z.object({ sessionId, id: MessageId, prompt: z.array(PromptBlock).min(1).optional() }),
    result: z.object({ end: SteerEnd }),
  },
  /** Withdraws messages from all engines. `logged`: these were already sent. */
  withdraw_messages: {
    params: z.object({ ids: z.array(MessageId).max(1_000) }),
    result: z.object({ logged: z.array(MessageId) }),
  },
  /** Pauses the turn before its next step, or continues it. Answered once it is paused, or will not be. */
  pause: {
    params: z.object({ sessionId, paused: z.boolean() }),
    result: z.object({ paused: z.boolean() }),
  },
  /** Rules files have changed; the next request has their new text. */
  reread_rules: { params: z.object({ sessionId }), result: nothing },
  session_list: {
    params: z.object({ archived: z.boolean() }),
    result: z.object({ sessions: z.array(SessionRow) }),
  },
  /**
   * The newest turns before the cursor, oldest first; `before` is the cursor for older ones. Each text and each call is
   * one update. `diffs`: with the texts of the calls' diffs, otherwise with their counts and with what was undone.
   */
  session_history: {
    params: z.object({
      sessionId,
      before: z.int().optional(),
      turns: z.int().min(1).max(200),
      diffs: z.boolean().optional(),
    }),
    result: z.object({
      entries: z.array(HistoryEntry),
      before: z.int().optional(),
      /** With the newest entries: the turns up to this one are complete, unless their engine has died. */
      complete: z.int().min(0).optional(),
    }),
  },
  /** The title is shortened to one line and returned as stored. */
  session_rename: {
    params: z.object({ sessionId, title: z.string().min(1).max(10_000) }),
    result: z.object({ title: z.string() }),
  },
  session_archive: { params: z.object({ sessionId, archived: z.boolean() }), result: nothing },
  session_delete: { params: z.object({ sessionId }), result: nothing },
  /** A new session with all turns up to `turn`, default: the last. */
  session_fork: {
    params: z.object({ sessionId, turn: turn.optional() }),
    result: z.object({ sessionId, title: z.string() }),
  },
  /** Folds the session, or undoes the last fold; a notice reports the result. `focus`: what a summary must keep. */
  compact: {
    params: z.object({ sessionId, focus: z.string().min(1).max(2_000).optional(), undo: z.boolean() }),
    result: nothing,
  },
  session_search: {
    params: z.object({ query: z.string().min(1), limit: z.int().min(1).max(500) }),
    result: z.object({
      hits: z.array(
        z.object({ sessionId, title: z.string(), turn, role: z.string(), text: z.string(), time }),
      ),
    }),
  },
  /**
   * A piece of the text; `next` is the start of the following one. Recordings can be replayed, see
   * engine/acp/recording.ts.
   */
  session_export: {
    params: z.object({
      sessionId,
      format: z.enum(["markdown", "json", "recording"]),
      from: z.int().min(0).optional(),
    }),
    result: z.object({ text: z.string(), next: z.int().optional() }),
  },
  /** A page of turns with changed files, newest first. `before`: the next page has turns before this one. */
  checkpoints: {
    params: z.object({ sessionId, before: turn.optional() }),
    result: z.object({ turns: z.array(CheckpointTurn), before: turn.optional() }),
  },
  /** All changes of the session that still stand. */
  changes: { params: z.object({ sessionId }), result: z.object({ files: z.array(TurnFile) }) },
  /** Undoes these calls, or a turn, or the newest turn that is not undone. */
  undo: {
    params: z.object({
      sessionId,
      turn: turn.optional(),
      calls: z.array(z.string().min(1).max(LONGEST_CALL_ID)).min(1).max(10_000).optional(),
    }),
    result: TakenBack,
  },
  /** Redoes the last undo. */
  redo: {
    params: z.object({ sessionId }),
    result: TakenBack,
  },
  /** A preview of `restore`. */
  restore_preview: {
    params: z.object({ sessionId, turn }),
    result: z.object({ files: z.array(PreviewFile) }),
  },
  /** Restores all files to their state before this turn. */
  restore: {
    params: z.object({ sessionId, turn }),
    result: TakenBack,
  },
  /** Unreviewed files of all sessions, or one of them. Both texts include the user's later changes. */
  review: {
    params: z.object({ path: z.string().optional(), texts: z.boolean() }),
    result: z.object({ files: z.array(ReviewFile) }),
  },
  /**
   * The user kept, undid or saved something: the new baseline of the file; undefined: no file. `settled`: the file is
   * fully reviewed.
   */
  review_update: {
    params: z.object({ path: z.string(), baseline: z.string().optional(), settled: z.boolean() }),
    result: nothing,
  },
  /** Reverts all unreviewed changes of files without hunks; those of a session at once. A result for each path. */
  review_revert: {
    params: z.object({ paths: z.array(z.string()).min(1) }),
    result: z.object({ files: z.array(RestoredFile) }),
  },
  /** The turn that wrote a line; an empty result if none did. */
  why: {
    params: z.object({ path: z.string(), line: z.int().min(1), text: z.string() }),
    result: z.object({
      found: z.object({ sessionId, title: z.string(), turn, message: z.string(), tool: z.string(), time })
        .optional(),
    }),
  },
  /** Sub-agents of the session, the newest first. `stop` ends one first. */
  agents: {
    params: z.object({ sessionId, stop: z.string().optional() }),
    result: z.object({
      agents: z.array(z.object({
        sessionId,
        title: z.string(),
        mode: z.string(),
        created: time,
        /** "waiting", "running", or how it ended. */
        state: z.string(),
        tokens: z.int(),
        cost: z.number().optional(),
      })),
    }),
  },
  usage: {
    params: z.object({ sessionId: sessionId.optional() }),
    result: UsageTables,
  },
  /** The user yanked or applied a code block of this turn's answer. */
  code_used: {
    params: z.object({ sessionId, turn, use: z.enum(["copied", "applied"]) }),
    result: nothing,
  },
} as const;

export type RequestName = keyof typeof REQUESTS;
export type RequestParams<Name extends RequestName> = z.infer<(typeof REQUESTS)[Name]["params"]>;
export type RequestResult<Name extends RequestName> = z.infer<(typeof REQUESTS)[Name]["result"]>;

export const REQUEST_NAMES = Object.keys(REQUESTS) as readonly RequestName[];
