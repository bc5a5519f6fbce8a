/**
 * Requests and notifications from the engine to the client beyond ACP. Each is one row here, one handler in the
 * supervisor (supervisor/client/answers/) and one caller in the engine; the wire name is `_agent/<name>`, with
 * `sessionId` beside the row's fields. Paths are absolute and real.
 */
import * as z from "../deps/zod.ts";
import { CommandEffects } from "./commands.ts";
import { FileRules } from "./config.ts";
import { LspQuestion, LspResponse } from "./lsp.ts";
import { changeKind, TurnFile } from "./requests.ts";
import { HookInput, HookOutcome } from "./results/hooks.ts";
import { FetchedContent, FoundPages, MOST_FOUND_PAGES, WebQuery, WebUrl } from "./results/web.ts";
import { Surroundings, SurroundingsWanted } from "./surroundings.ts";
import { TraceSpan } from "./trace.ts";
import { SearchRequest, SearchResponse } from "./search.ts";

const path = z.string();
/** The number of the change, and an offset in its content. */
const place = z.object({ change: z.int().min(0), offset: z.int().min(0) });

/** `path` and `from` are absolute with real folders; `from` is the deleted file that had the same content. */
export const KeptChange = z.object({
  path,
  /** The earlier entry; absent if there was none. */
  before: z.enum(["file", "folder", "link", "other"]).optional(),
  /** Absent if the entry and its content were deleted. `mode`: twelve bits. `hash`: SHA-256, hexadecimal. */
  after: z.discriminatedUnion("type", [
    z.object({ type: z.literal("file"), mode: z.int(), size: z.int(), hash: z.string() }),
    z.object({ type: z.literal("folder"), mode: z.int() }),
    z.object({ type: z.literal("link"), target: z.string() }),
  ]).optional(),
  from: path.optional(),
});
export type KeptChange = z.infer<typeof KeptChange>;

const nothing = z.object({});
/** The id that `pipe_open` returned. */
const pipe = z.string().max(100);
/** Characters of one write. */
const LONGEST_PIPE_TEXT = 16_000_000;

/** Name → parameters and result. */
export const SCREEN_REQUESTS = {
  /**
   * `text` is absent if no buffer with unsaved changes shows the file. `save_first`: the text would stay behind if the
   * file was moved or deleted.
   */
  unsaved_text: {
    params: z.object({ path }),
    result: z.object({ text: z.string().optional(), save_first: z.boolean().optional() }),
  },
  /**
   * Merges a tool's write into an open buffer, and saves it if it had no unsaved changes. `base`: the text that the
   * tool changed.
   */
  write_unsaved: {
    params: z.object({ path, base: z.string(), text: z.string() }),
    result: z.discriminatedUnion("status", [
      /** No buffer shows the file: write it to disk. */
      z.object({ status: z.literal("not_open") }),
      /** The buffer held `before` and now holds `text`; the disk has it only if `saved`. */
      z.object({ status: z.literal("merged"), before: z.string(), text: z.string(), saved: z.boolean() }),
      /** The user changed the same lines: nothing was written; `text` shows both sides. */
      z.object({ status: z.literal("conflict"), text: z.string() }),
    ]),
  },
  /** Files that Neovim has written since then (milliseconds since 1970), with their last text. */
  written_since: {
    params: z.object({ paths: z.array(path), since: z.number() }),
    result: z.object({ files: z.array(z.object({ path, text: z.string() })) }),
  },
  /**
   * The approved changes of a rehearsed command, in order, folders before their content. `next`: where the answer
   * continues. `left`: omitted changes and the reasons, half a sentence each.
   */
  kept_changes: {
    params: z.object({ terminalId: z.string(), from: z.int().min(0) }),
    result: z.object({
      changes: z.array(KeptChange),
      next: z.int().optional(),
      left: z.array(z.object({ path, why: z.string() })),
      /** Number of omitted changes beyond `left`. */
      leftMore: z.int(),
    }),
  },
  /** The contents of these files, one after another; `change` counts from 0. Long files come in several answers. */
  kept_contents: {
    params: z.object({ terminalId: z.string(), from: place }),
    result: z.object({
      parts: z.array(z.object({ change: z.int(), base64: z.string() })),
      next: place.optional(),
    }),
  },
  search: { params: SearchRequest, result: SearchResponse },
  /** Facts for the model; see protocol/surroundings.ts. */
  surroundings: { params: SurroundingsWanted, result: Surroundings },
  lsp: { params: LspQuestion, result: LspResponse },
  /**
   * The current state for a call: the file rules, and whether a language server runs. `rules` is absent if `version`
   * equals `known`.
   */
  before_call: {
    params: z.object({ known: z.int().optional() }),
    result: z.object({ version: z.int(), rules: FileRules.optional(), servers: z.boolean() }),
  },
  /**
   * Creates a symbolic link at a free path, because Deno forbids links in a process without full write access. Its
   * target is in the workspace too.
   */
  make_link: { params: z.object({ path, target: z.string() }), result: nothing },
  /** The current key of a provider whose keys expire. `refused`: the provider rejected the last one. */
  provider_key: {
    params: z.object({ refused: z.boolean() }),
    result: z.object({ api_key: z.string(), key_expires: z.number() }),
  },
  /**
   * Starts a program of the user's configuration in a sandbox, and returns an id for its standard streams. The name
   * is looked up in the configuration; the user is asked about an MCP server that is new or has changed. No pipe: the user
   * has stopped the turn instead of answering. An agent ("agent") starts over a read-only view of the workspace.
   */
  pipe_open: {
    params: z.object({ kind: z.enum(["mcp", "agent"]), name: z.string().max(100) }),
    result: z.object({ pipe: z.string().optional() }),
  },
  /** A turn of the agent begins: it can write to an overlay of the workspace as it is now. */
  agent_begin: { params: z.object({ pipe }), result: nothing },
  /**
   * The turn has ended: its overlay is read-only. `terminal` stands for it in the access "effects", in kept_changes and
   * in kept_contents, until the next turn begins or the pipe is closed. `effects` is absent if it changed nothing.
   * `complete`: false if the turn was stopped or failed; then the user is asked about everything. `notes`: for the model
   * and the user, a line each.
   */
  agent_end: {
    params: z.object({ pipe, complete: z.boolean() }),
    result: z.object({
      terminal: z.string(),
      effects: CommandEffects.optional(),
      notes: z.array(z.string()),
    }),
  },
  /** Writes to the program. A tool call of MCP needs an approval for exactly this session, tool and arguments. */
  pipe_write: { params: z.object({ pipe, text: z.string().max(LONGEST_PIPE_TEXT) }), result: nothing },
  /** More output, at least one character. `ended`: how the program ended; nothing follows. */
  pipe_read: {
    params: z.object({ pipe }),
    result: z.object({ text: z.string(), ended: z.string().optional() }),
  },
  /** Ends the program. */
  pipe_close: { params: z.object({ pipe }), result: nothing },
  /** The text of a skill. The user is asked about one of the project's that is new or has changed. */
  skill: { params: z.object({ name: z.string().max(100) }), result: z.object({ text: z.string() }) },
  /** A text file of a skill outside of the project. `text` is absent if it is none. */
  skill_file: { params: z.object({ path }), result: z.object({ text: z.string().optional() }) },
  /** The content at an address; needs an approval for exactly this session and address. */
  fetch: { params: z.object({ url: WebUrl }), result: FetchedContent },
  /** Searches with the user's search engine; needs an approval for exactly this session and query. */
  search_web: {
    params: z.object({ query: WebQuery, count: z.int().min(1).max(MOST_FOUND_PAGES) }),
    result: FoundPages,
  },
  /** Runs the user's hooks of an event, after the user has approved each. The turn has been stopped: an error. */
  hook: { params: z.object({ input: HookInput }), result: HookOutcome },
  /** Drops what was not kept of the files that hooks have changed. */
  hook_release: { params: z.object({ terminal: z.string() }), result: nothing },
  /** Embeddings by the user's model: signed bytes in base64, one for each text. */
  embed: {
    params: z.object({ texts: z.array(z.string().max(20_000)).min(1).max(64) }),
    result: z.object({ vectors: z.array(z.string()) }),
  },
} as const;

/** Name → parameters. */
export const SCREEN_NOTIFICATIONS = {
  /**
   * A tool changed a file. `from`: the earlier path of a renamed file. The texts are complete, with the file's line
   * endings; absent for binaries. `before` may lack text written after `since` (milliseconds since 1970).
   */
  file_modified: z.object({
    toolCallId: z.string(),
    path,
    kind: changeKind,
    from: path.optional(),
    before: z.string().optional(),
    after: z.string().optional(),
    since: z.number().optional(),
  }),
  /** A failed request is retried. `attempt`: the failed attempt, from 1. */
  retry: z.object({ attempt: z.int(), tries: z.int(), waitMs: z.number(), reason: z.string() }),
  /** The changed files of a turn so far, or of the whole turn at its end. */
  turn_files: z.object({ turn: z.int().min(1), files: z.array(TurnFile) }),
  /** Whether any tool call of the session's next turn may run: at its start, and after each change. */
  tools: z.object({ available: z.boolean() }),
  /** More of the answer to the `aside` of this id; the result has the final text. */
  aside: z.object({ id: z.string(), text: z.string() }),
  /** Time measurements, sent only while tracing. */
  trace: z.object({ spans: z.array(TraceSpan).max(10_000) }),
} as const;

export type ScreenRequest = keyof typeof SCREEN_REQUESTS;
export type ScreenParams<Name extends ScreenRequest> = z.infer<(typeof SCREEN_REQUESTS)[Name]["params"]>;
export type ScreenResult<Name extends ScreenRequest> = z.infer<(typeof SCREEN_REQUESTS)[Name]["result"]>;
export type ScreenNotification = keyof typeof SCREEN_NOTIFICATIONS;
export type NotificationParams<Name extends ScreenNotification> = z.infer<
  (typeof SCREEN_NOTIFICATIONS)[Name]
>;

export const SCREEN_REQUEST_NAMES = Object.keys(SCREEN_REQUESTS) as readonly ScreenRequest[];
export const SCREEN_NOTIFICATION_NAMES = Object.keys(SCREEN_NOTIFICATIONS) as readonly ScreenNotification[];
