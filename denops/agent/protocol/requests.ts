/**
 * What the screen asks the engine about stored sessions, checkpoints and reviews. One row here, one answer in
 * the engine (engine/acp/), and the supervisor passes both on: on the wire each is a request `_agent/<name>`.
 *
 * In results every field named `path` or `from` is an absolute, real path: the supervisor drops what lies outside of
 * the workspace. Times are milliseconds since 1970, turns are counted from 1 within their session.
 */
import { z } from "../deps/zod.ts";
import { MessageId } from "./extensions.ts";
import { PromptBlock } from "./attachments.ts";
import { OwnMode } from "./modes.ts";

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
  /** Files that its tools and commands have changed. */
  files: z.int(),
  /** Tokens of all its requests. */
  tokens: z.int(),
  /** Another Neovim has it open. */
  open: z.boolean(),
});
type SessionRow = z.infer<typeof SessionRow>;

export const TurnFile = z.object({
  path: z.string(),
  from: z.string().optional(),
  kind: changeKind,
  ...counts,
  /** Binary, or too large to compare line by line. */
  opaque: z.boolean(),
  /** `path` is a folder: so many files in it, of which no lines are counted. */
  count: z.int().optional(),
});
export type TurnFile = z.infer<typeof TurnFile>;

/**
 * A piece of a stored session: an ACP update as it was sent (of a user message with TurnMeta), the files that a
 * turn has changed, or its end: a stop reason of ACP, "error", or "interrupted" if its process ended in the middle of it.
 */
const HistoryEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("update"), update: z.looseObject({ sessionUpdate: z.string() }) }),
  z.object({ type: z.literal("turn_files"), turn, files: z.array(TurnFile) }),
  z.object({ type: z.literal("turn_done"), reason: z.string(), error: z.string().optional() }),
]);
export type HistoryEntry = z.infer<typeof HistoryEntry>;

const CheckpointTurn = z.object({
  sessionId,
  turn,
  /** First line of the user's message. */
  text: z.string(),
  time,
  undone: z.boolean(),
  /** How many it has changed. */
  files: z.int().min(1),
});
export type CheckpointTurn = z.infer<typeof CheckpointTurn>;

/** What taking back did to one file. */
const RestoredFile = z.object({
  path: z.string(),
  from: z.string().optional(),
  outcome: z.enum([
    /** As it was. */
    "restored",
    /** Later changes of the user's stand beside what was taken back. */
    "merged",
    /** The user has changed the same lines: nothing was written; `text` shows both. */
    "conflict",
    /** It already was as it should be. */
    "unchanged",
    /** Nothing was done; `text` says why. */
    "skipped",
  ]),
  text: z.string().optional(),
});
export type RestoredFile = z.infer<typeof RestoredFile>;

/** A preview of one file: undefined text where there is no file then. */
const PreviewFile = z.object({
  path: z.string(),
  kind: changeKind,
  now: z.string().optional(),
  then: z.string().optional(),
  opaque: z.boolean(),
  /** As in RestoredFile, as far as it can be foreseen. */
  outcome: RestoredFile.shape.outcome,
  from: z.string().optional(),
  text: z.string().optional(),
});
export type PreviewFile = z.infer<typeof PreviewFile>;

const ReviewFile = z.object({
  path: z.string(),
  kind: changeKind,
  from: z.string().optional(),
  /** The session and turn that wrote it last. */
  sessionId,
  turn,
  /** Text that the user has agreed to; undefined if the agent has created the file, or nobody asked. */
  baseline: z.string().optional(),
  /** Text as it is on disk; undefined if the agent has deleted the file, or nobody asked. */
  after: z.string().optional(),
  opaque: z.boolean(),
  ...counts,
});
export type ReviewFile = z.infer<typeof ReviewFile>;

/** Hunks that the user has gone through. */
const Hunks = z.object({
  kept: z.int(),
  /** Kept after the user has changed lines of them. */
  changed: z.int(),
  undone: z.int(),
});

/** How edits have gone: calls, and hunks. */
const Edits = Hunks.extend({
  tried: z.int(),
  /** Those that have written nothing. */
  failed: z.int(),
});

/** Of one model in one form. */
const EditRow = Edits.extend({
  /** "provider/model" */
  model: z.string(),
  /** Of edit_file how the call was written, else the tool's name. */
  form: z.string(),
});

const UsageRow = z.object({
  /** What the row is about: a turn's first line, a session's title, a date (of UTC), "provider/model". */
  name: z.string(),
  requests: z.int(),
  /** Those of which the provider has not told the tokens: they are not in the sums. */
  unreported: z.int(),
  input: z.int(),
  output: z.int(),
  cachedRead: z.int(),
  cachedWrite: z.int(),
  /** US dollars; undefined where no request had a price. */
  cost: z.number().optional(),
  /** Median milliseconds from a request to its first token. */
  firstToken: z.number().optional(),
  /** Tool calls by name. */
  tools: z.record(z.string(), z.int()),
  /** Calls of unknown tools, or with arguments that the tool does not take. */
  invalid: z.int(),
  turns: z.int(),
  /** Of the longest request; of the one that offered most. */
  messages: z.int(),
  offered: z.int(),
  /** What the requests were for. */
  modes: z.array(z.string()),
  /** Mean milliseconds to build the prompt of a step, and from what it answers to the request. */
  prompt: z.object({ build: z.number(), ready: z.number() }).optional(),
  /** Of a turn. */
  edits: Edits.optional(),
});
type UsageRow = z.infer<typeof UsageRow>;

/** A piece of what a request sends. */
const ContextPart = z.object({
  group: z.enum(["tools", "system", "rules", "files", "results", "messages"]),
  /** A tool's, a section's, a file's, a call's, or a kind of message. */
  name: z.string(),
  characters: z.int(),
  /** It can be dropped and pinned by this. */
  id: z.string().optional(),
  /** What the user wants of it. */
  state: z.enum(["dropped", "pinned"]).optional(),
  /** It becomes a line first when the window fills up. */
  next: z.boolean().optional(),
  /** Of the whole file, where it is one. */
  bytes: z.int().optional(),
});
export type ContextPart = z.infer<typeof ContextPart>;

/** Where a request was not what the one before was, so that the provider's cache did not hold. */
const PrefixBreak = z.object({
  /** "tool read_file", "system prompt", "message 3" */
  where: z.string(),
  reason: z.string(),
  /** Characters before the first that differed, and in all. */
  kept: z.int(),
  sent: z.int(),
});
export type PrefixBreak = z.infer<typeof PrefixBreak>;

const SteerEnd = z.enum(["told", "taken_back", "ended", "stopped"]);
export type SteerEnd = z.infer<typeof SteerEnd>;

const nothing = z.object({});

/** Name → what is asked, what is answered. */
export const REQUESTS = {
  /** Which tools there are, and which of them are off in a session. `toggle` switches one first. */
  tools: {
    params: z.object({ sessionId, toggle: z.string().optional() }),
    result: z.object({ tools: z.array(z.object({ name: z.string(), on: z.boolean() })) }),
  },
  /** Modes that files describe: from now on these, in all sessions. */
  modes: { params: z.object({ modes: z.array(OwnMode) }), result: nothing },
  /**
   * What a request would send at this moment. `change` first leaves a part out of it, keeps it from being folded away,
   * or does neither any more.
   */
  context: {
    params: z.object({
      sessionId,
      change: z.object({ id: z.string().max(10_000), to: z.enum(["dropped", "pinned", "plain"]) }).optional(),
    }),
    result: z.object({
      parts: z.array(ContextPart),
      /** Tokens that fit; undefined where that is not known. */
      window: z.int().optional(),
      /** Who says so, as the end of a sentence. */
      window_from: z.string().optional(),
      /** The last request of this process that was no continuation; the price is in US dollars. */
      broken: PrefixBreak.extend({ cost: z.number().optional() }).optional(),
    }),
  },
  /**
   * A question beside the turns, also while one runs: nothing of it is stored. Without a question the one of this id is
   * stopped, and answered with what has come.
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
   * Says something to the model before the next step of the turn that runs; without a prompt what was said by this id
   * is taken back. Answered when it is known what has become of it: "ended" and "stopped" are the turn's.
   */
  steer: {
    params: z.object({ sessionId, id: MessageId, prompt: z.array(PromptBlock).min(1).optional() }),
    result: z.object({ end: SteerEnd }),
  },
  /** These messages of the user's are sent no more, by any engine. `logged`: it is too late for these. */
  withdraw_messages: {
    params: z.object({ ids: z.array(MessageId).max(1_000) }),
    result: z.object({ logged: z.array(MessageId) }),
  },
  /** The turn that runs stands still before its next step, or goes on. Answered once it stands still, or will not. */
  pause: {
    params: z.object({ sessionId, paused: z.boolean() }),
    result: z.object({ paused: z.boolean() }),
  },
  /** Files of rules have changed: the next request tells what they say now. */
  reread_rules: { params: z.object({ sessionId }), result: nothing },
  session_list: {
    params: z.object({ archived: z.boolean() }),
    result: z.object({ sessions: z.array(SessionRow) }),
  },
  /**
   * The newest turns before the cursor, oldest first; `before` is the cursor for what is older still. Each text and
   * each call is one update, and a call's diff has counts only.
   */
  session_history: {
    params: z.object({ sessionId, before: z.int().optional(), turns: z.int().min(1).max(200) }),
    result: z.object({ entries: z.array(HistoryEntry), before: z.int().optional() }),
  },
  /** The title is made one short line; it comes back as it is stored. */
  session_rename: {
    params: z.object({ sessionId, title: z.string().min(1).max(10_000) }),
    result: z.object({ title: z.string() }),
  },
  session_archive: { params: z.object({ sessionId, archived: z.boolean() }), result: nothing },
  session_delete: { params: z.object({ sessionId }), result: nothing },
  /** A new session with everything up to the end of `turn`, or up to now. */
  session_fork: {
    params: z.object({ sessionId, turn: turn.optional() }),
    result: z.object({ sessionId, title: z.string() }),
  },
  /**
   * Makes room in the model's window, or takes back what was folded last; a notice of the session says what was done.
   * `focus`: what a summary is to keep.
   */
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
   * A piece of the text; `next` is where the one after it begins. A recording can be played again, see
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
  /** A page of the turns that have changed files, newest first. `before`: the next page has turns before this one. */
  checkpoints: {
    params: z.object({ sessionId, before: turn.optional() }),
    result: z.object({ turns: z.array(CheckpointTurn), before: turn.optional() }),
  },
  /** What the session has changed in all, without what was taken back. */
  changes: { params: z.object({ sessionId }), result: z.object({ files: z.array(TurnFile) }) },
  /** Takes back a turn, or the newest that was not yet. */
  undo: {
    params: z.object({ sessionId, turn: turn.optional() }),
    result: z.object({ turn, files: z.array(RestoredFile) }),
  },
  /** Does again what was taken back last. */
  redo: {
    params: z.object({ sessionId }),
    result: z.object({ turn, files: z.array(RestoredFile) }),
  },
  /** What `restore` would do. */
  restore_preview: {
    params: z.object({ sessionId, turn }),
    result: z.object({ files: z.array(PreviewFile) }),
  },
  /** Files as they were before this turn. */
  restore: {
    params: z.object({ sessionId, turn }),
    result: z.object({ files: z.array(RestoredFile) }),
  },
  /**
   * Files of the project with changes that the user has not looked at, of all sessions, or this one of them.
   * What the user has changed since is in both texts.
   */
  review: {
    params: z.object({ path: z.string().optional(), texts: z.boolean() }),
    result: z.object({ files: z.array(ReviewFile) }),
  },
  /**
   * The user has kept, undone or saved something: this is what the file on disk is to be compared with now;
   * undefined: with no file. `settled`: there is nothing to look at any more.
   */
  review_update: {
    params: z.object({ path: z.string(), baseline: z.string().optional(), settled: z.boolean() }),
    result: nothing,
  },
  /** Takes back everything in this file that is not kept yet: for what has no hunks. */
  review_revert: { params: z.object({ path: z.string() }), result: z.object({ file: RestoredFile }) },
  /** Which turn wrote a line of the text; an empty result if none did. */
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
        /** "waiting", "running", or how it has ended. */
        state: z.string(),
        tokens: z.int(),
        cost: z.number().optional(),
      })),
    }),
  },
  usage: {
    params: z.object({ sessionId: sessionId.optional() }),
    result: z.object({
      /** The day (YYYY-MM-DD) of which the prices are that the user did not set. */
      pricesOf: z.string(),
      /** Each the newest first. */
      turns: z.array(UsageRow),
      /** Sub-agents of the session, which are in the sums of their turns too. */
      agents: z.array(UsageRow),
      sessions: z.array(UsageRow),
      days: z.array(UsageRow),
      models: z.array(UsageRow),
      /** The one that was used last first. */
      edits: z.array(EditRow),
    }),
  },
} as const;

export type RequestName = keyof typeof REQUESTS;
export type RequestParams<Name extends RequestName> = z.infer<(typeof REQUESTS)[Name]["params"]>;
export type RequestResult<Name extends RequestName> = z.infer<(typeof REQUESTS)[Name]["result"]>;

export const REQUEST_NAMES = Object.keys(REQUESTS) as readonly RequestName[];
