/** The result of the request `usage`: tokens, costs, times and edits of turns, sessions, days and models. */
import * as z from "../../deps/zod.ts";

/** Reviewed hunks. */
const Hunks = z.object({
  kept: z.int(),
  /** Kept, with the user's changes. */
  changed: z.int(),
  undone: z.int(),
});

/** Outcomes of edits: calls and hunks. */
const Edits = Hunks.extend({
  tried: z.int(),
  /** Calls that wrote nothing. */
  failed: z.int(),
});

/** One model and one form of edits. */
const EditRow = Edits.extend({
  /** "provider/model" */
  model: z.string(),
  /** How the call of edit_file was written, otherwise the tool's name. */
  form: z.string(),
});

/** Files of one language that edits wrote, and their lines. */
const LanguageRow = z.object({
  /** The end of their names after the last dot, or names without a dot; in lower case. */
  extension: z.string(),
  files: z.int(),
  edits: z.int(),
  added: z.int(),
  removed: z.int(),
});

/** Milliseconds. */
const Times = z.object({
  median: z.number(),
  /** Nine of ten take at most this. */
  most: z.number(),
});

const UsageRow = z.object({
  /** The subject of the row: a turn's first line, a session's title, a local date, or "provider/model". */
  name: z.string(),
  requests: z.int(),
  /** Requests without reported tokens, which are missing in the sums. */
  unreported: z.int(),
  input: z.int(),
  output: z.int(),
  cachedRead: z.int(),
  cachedWrite: z.int(),
  /** US dollars; undefined if no request had a price. */
  cost: z.number().optional(),
  /** Median milliseconds from a request to its first token. */
  firstToken: z.number().optional(),
  /** Tool calls by name. No record: an empty one has a key in Lua. */
  tools: z.array(z.object({ name: z.string(), count: z.int() })),
  /** Calls of unknown tools, or with invalid arguments. */
  invalid: z.int(),
  turns: z.int(),
  /** Maxima over all requests. */
  messages: z.int(),
  offered: z.int(),
  /** The purposes of the requests. */
  modes: z.array(z.string()),
  /** Mean milliseconds to build a step's prompt, and from its input to the request. */
  prompt: z.object({ build: z.number(), ready: z.number() }).optional(),
  /** Milliseconds from messages to the ends of their turns, summed; undefined without a turn. */
  time: z.number().optional(),
  /** Tokens a second from the first to the last of an answer; undefined without a streamed answer. */
  speed: z.number().optional(),
  /** Code blocks of answers that the user yanked, and applied; edits in place are included. */
  copied: z.int(),
  applied: z.int(),
  /** For turns only. */
  edits: Edits.optional(),
  /** For models only: of their turns and requests. */
  turnTimes: Times.optional(),
  requestTimes: Times.optional(),
});

/** Usage of one model on one day. */
const DailyUsage = z.object({
  /** YYYY-MM-DD in the user's time zone. */
  day: z.string(),
  /** "provider/model" */
  model: z.string(),
  input: z.int(),
  cachedRead: z.int(),
  output: z.int(),
  /** US dollars; undefined if a request with tokens has no price. */
  cost: z.number().optional(),
});

export const UsageTables = z.object({
  /** The day (YYYY-MM-DD) of the built-in prices. */
  pricesOf: z.string(),
  /** Newest first. */
  turns: z.array(UsageRow),
  /** Sub-agents of the session, which the sums of its turns include. */
  agents: z.array(UsageRow),
  sessions: z.array(UsageRow),
  days: z.array(UsageRow),
  models: z.array(UsageRow),
  /** The newest 30 days with requests, newest first. */
  daily: z.array(DailyUsage),
  /** Last used first. */
  edits: z.array(EditRow),
  /** Most changed lines first. */
  languages: z.array(LanguageRow),
});
