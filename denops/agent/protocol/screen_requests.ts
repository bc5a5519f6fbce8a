/**
 * What the engine asks and tells the client beyond ACP. One row here, one handler in the supervisor
 * (supervisor/client/answers/), one caller in the engine: on the wire each is `_agent/<name>`, with `sessionId` beside the
 * fields of its row. Paths are absolute and real.
 */
import { z } from "../deps/zod.ts";
import { FileRules } from "./config.ts";
import { LspQuestion, LspResponse } from "./lsp.ts";
import { changeKind, TurnFile } from "./requests.ts";
import { Surroundings, SurroundingsWanted } from "./surroundings.ts";
import { TraceSpan } from "./trace.ts";
import { SearchRequest, SearchResponse } from "./search.ts";

const path = z.string();
/** The change's number, and bytes of its content. */
const place = z.object({ change: z.int().min(0), offset: z.int().min(0) });

/** `path` and `from` are absolute, their folders real; `from` is where a new file of the same content was deleted. */
export const KeptChange = z.object({
  path,
  /** What was there before; absent if nothing. */
  before: z.enum(["file", "folder", "link", "other"]).optional(),
  /** Absent if it was deleted, with all that was in it. `mode`: twelve bits. `hash`: SHA-256, hexadecimal. */
  after: z.discriminatedUnion("type", [
    z.object({ type: z.literal("file"), mode: z.int(), size: z.int(), hash: z.string() }),
    z.object({ type: z.literal("folder"), mode: z.int() }),
    z.object({ type: z.literal("link"), target: z.string() }),
  ]).optional(),
  from: path.optional(),
});
export type KeptChange = z.infer<typeof KeptChange>;

/** Name → what is asked, what is answered. */
export const SCREEN_REQUESTS = {
  /** `text` is absent if no buffer with unsaved changes shows the file. */
  unsaved_text: { params: z.object({ path }), result: z.object({ text: z.string().optional() }) },
  /**
   * Merges a tool's write into an open buffer, which is written if it had no unsaved changes. `base`: what the tool made
   * `text` from.
   */
  write_unsaved: {
    params: z.object({ path, base: z.string(), text: z.string() }),
    result: z.discriminatedUnion("status", [
      /** No buffer takes it: write the file. */
      z.object({ status: z.literal("not_open") }),
      /** The buffer held `before` and holds `text` now; it is on disk only if `saved`. */
      z.object({ status: z.literal("merged"), before: z.string(), text: z.string(), saved: z.boolean() }),
      /** The user has changed the same lines: nothing was written; `text` shows both sides. */
      z.object({ status: z.literal("conflict"), text: z.string() }),
    ]),
  },
  /** Which of these files Neovim has written since then (milliseconds since 1970), and what it wrote last. */
  written_since: {
    params: z.object({ paths: z.array(path), since: z.number() }),
    result: z.object({ files: z.array(z.object({ path, text: z.string() })) }),
  },
  /**
   * Of a command that ran over an overlay: the changes that were agreed to, in order, folders before what is in them.
   * `next` is where the answer goes on. `left`: what is not among them, and why, half a sentence each.
   */
  kept_changes: {
    params: z.object({ terminalId: z.string(), from: z.int().min(0) }),
    result: z.object({
      changes: z.array(KeptChange),
      next: z.int().optional(),
      left: z.array(z.object({ path, why: z.string() })),
      /** More than are in `left`. */
      leftMore: z.int(),
    }),
  },
  /**
   * The contents of the files among them, one after the other; `change` counts from 0. A file that is longer than an
   * answer comes in parts.
   */
  kept_contents: {
    params: z.object({ terminalId: z.string(), from: place }),
    result: z.object({
      parts: z.array(z.object({ change: z.int(), base64: z.string() })),
      next: place.optional(),
    }),
  },
  search: { params: SearchRequest, result: SearchResponse },
  /** What the model is told before it is asked; see protocol/surroundings.ts. */
  surroundings: { params: SurroundingsWanted, result: Surroundings },
  lsp: { params: LspQuestion, result: LspResponse },
  /**
   * What a call goes by at this moment: which files may be read and written, and whether a language server runs. `rules`
   * is absent if `version` is the `known` one.
   */
  before_call: {
    params: z.object({ known: z.int().optional() }),
    result: z.object({ version: z.int(), rules: FileRules.optional(), servers: z.boolean() }),
  },
  /**
   * A symbolic link where nothing is yet, which Deno lets no process make that may not write everywhere. What it leads
   * to is in the workspace too.
   */
  make_link: { params: z.object({ path, target: z.string() }), result: z.object({}) },
  /** The key of this moment, of a provider whose keys end. `refused`: it did not take the last one. */
  provider_key: {
    params: z.object({ refused: z.boolean() }),
    result: z.object({ api_key: z.string(), key_expires: z.number() }),
  },
} as const;

/** Name → what is told. */
export const SCREEN_NOTIFICATIONS = {
  /**
   * A file was changed by a tool. `from`: the earlier path of a renamed one. The texts are whole, with the file's own
   * line endings; absent for binaries. What was written after `since` (milliseconds since 1970) may not be in `before`.
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
  /** A request to the model failed and is tried again. `attempt`: the try that failed, from 1. */
  retry: z.object({ attempt: z.int(), tries: z.int(), waitMs: z.number(), reason: z.string() }),
  /** What a turn has changed so far, and at its end in all: what the list of files shows. */
  turn_files: z.object({ turn: z.int().min(1), files: z.array(TurnFile) }),
  /** More of the answer to an `aside` of this id; what it has become in the end the answer itself says. */
  aside: z.object({ id: z.string(), text: z.string() }),
  /** Where the time went; wanted only while somebody traces. */
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
