/**
 * What agent.nvim adds to ACP version 1. Offered in `initialize` under
 * `clientCapabilities._meta["agent.nvim"]` and `agentCapabilities._meta["agent.nvim"]`, and used only if the
 * other side has offered it too.
 */
import { z } from "zod";
import { CommandAccess } from "./commands.ts";
import { EngineConfig, FileRules } from "./config.ts";
import { TURN_FILES } from "./requests.ts";
import { SEARCH } from "./search.ts";

/** The key of everything of ours in `_meta`. */
export const META = "agent.nvim";

/** Notification, engine to client: a file was changed by a tool. */
export const FILE_MODIFIED = "_agent/file_modified";
/** Notification, engine to client: a request to the model failed and is tried again. */
export const RETRY = "_agent/retry";
/** Request, engine to client: the text of an open buffer with unsaved changes. */
export const UNSAVED_TEXT = "_agent/unsaved_text";
/** Request, engine to client: merge a tool's write into an open buffer, which is written if it had no unsaved changes. */
export const WRITE_UNSAVED = "_agent/write_unsaved";
/** Request, engine to client: a question to the editor's language servers, see lsp.ts. */
export const LSP = "_agent/lsp";

/** Request, engine to client: which files may be read and written at this moment. */
export const FILE_RULES = "_agent/file_rules";

/** Request, client to engine: which tools there are, and which of them are off in a session. */
export const TOOLS = "_agent/tools";

/** Request, engine to client: make a symbolic link, which Deno lets no process do that may not write everywhere. */
export const MAKE_LINK = "_agent/make_link";

export const EXTENSIONS = [
  FILE_MODIFIED,
  RETRY,
  UNSAVED_TEXT,
  WRITE_UNSAVED,
  SEARCH,
  TOOLS,
  LSP,
  FILE_RULES,
  MAKE_LINK,
  TURN_FILES,
] as const;

/** `path` is absolute and in the workspace, where nothing is yet; so is what `target` leads to. */
export const MakeLinkRequest = z.object({ sessionId: z.string(), path: z.string(), target: z.string() });

export const FileRulesRequest = z.object({ sessionId: z.string() });
export const FileRulesResponse = FileRules;

/** `toggle` switches one tool; without it nothing changes. */
export const ToolsRequest = z.object({ sessionId: z.string(), toggle: z.string().optional() });
export const ToolsResponse = z.object({ tools: z.array(z.object({ name: z.string(), on: z.boolean() })) });
export type ToolsResponse = z.infer<typeof ToolsResponse>;

export const FileModified = z.object({
  sessionId: z.string(),
  toolCallId: z.string(),
  /** Absolute and real. */
  path: z.string(),
  kind: z.enum(["created", "modified", "deleted", "renamed"]),
  /** The earlier path of a renamed file. */
  from: z.string().optional(),
  /** Whole text before and after, as UTF-8 with the file's own line endings; absent for binaries. */
  before: z.string().optional(),
  after: z.string().optional(),
});
export type FileModified = z.infer<typeof FileModified>;

export const Retry = z.object({
  sessionId: z.string(),
  /** The try that failed, from 1. */
  attempt: z.int(),
  tries: z.int(),
  waitMs: z.number(),
  reason: z.string(),
});
export type Retry = z.infer<typeof Retry>;

export const UnsavedTextRequest = z.object({ sessionId: z.string(), path: z.string() });
/** `text` is absent if no buffer with unsaved changes shows the file. */
export const UnsavedTextResponse = z.object({ text: z.string().optional() });

export const WriteUnsavedRequest = z.object({
  sessionId: z.string(),
  path: z.string(),
  /** The text from which the tool made `text`. */
  base: z.string(),
  text: z.string(),
});
export type WriteUnsavedRequest = z.infer<typeof WriteUnsavedRequest>;
export const WriteUnsavedResponse = z.discriminatedUnion("status", [
  /** No buffer takes it: write the file. */
  z.object({ status: z.literal("not_open") }),
  /** The buffer held `before` and holds `text` now; it is on disk only if `saved`. */
  z.object({ status: z.literal("merged"), before: z.string(), text: z.string(), saved: z.boolean() }),
  /** The user has changed the same lines: nothing was written; `text` shows both sides. */
  z.object({ status: z.literal("conflict"), text: z.string() }),
]);
export type WriteUnsavedResponse = z.infer<typeof WriteUnsavedResponse>;

/** `_meta["agent.nvim"]` of the `initialize` request. */
export const InitializeMeta = z.object({
  extensions: z.array(z.string()),
  config: EngineConfig.optional(),
});
export type InitializeMeta = z.infer<typeof InitializeMeta>;

/**
 * `_meta["agent.nvim"]` of a stored user message, and of the session_info_update with which a turn begins: the turn's
 * number, from 1 within the session, and when it began (milliseconds since 1970).
 */
export const TurnMeta = z.object({ turn: z.int(), time: z.number() });
export type TurnMeta = z.infer<typeof TurnMeta>;

/** `_meta["agent.nvim"]` of a prompt, where the first one counts, and of the answer to session/resume. */
export const SessionMeta = z.object({
  /** The git branch that was made for the session. */
  branch: z.string().regex(/^[\x21-\x7e]{1,255}$/).optional(),
});
export type SessionMeta = z.infer<typeof SessionMeta>;

/** `_meta["agent.nvim"]` of a tool call or its update. */
export const ToolMeta = z.object({
  tool: z.string().optional(),
  /** Lines of the argument that streams in, while the call is pending. */
  lines: z.int().optional(),
  added: z.int().optional(),
  removed: z.int().optional(),
  /** One line about the result, or the first line of the error. */
  summary: z.string().optional(),
  /** What gave the call leave to run. */
  rule: z.string().optional(),
});
export type ToolMeta = z.infer<typeof ToolMeta>;

/** `_meta["agent.nvim"]` of a permission request: why a person is asked. */
export const ApprovalMeta = z.object({
  reason: z.string(),
  added: z.int().optional(),
  removed: z.int().optional(),
  /** A person must answer, whatever the rules say: the same call was made again and again. */
  force: z.boolean().optional(),
  /** The files that the call would read or write, relative to the root: by real path and as named. */
  touches: z.array(z.object({ access: z.enum(["read", "write"]), relative: z.string(), named: z.string() }))
    .optional(),
});
export type ApprovalMeta = z.infer<typeof ApprovalMeta>;

/** `_meta["agent.nvim"]` of the answer to a permission request. */
export const AnswerMeta = z.object({
  /** Why the user, or a rule, said no. */
  reason: z.string().optional(),
  /** The rule that answered in the user's place. */
  rule: z.string().optional(),
  /** The command as the user changed it; only this one may run. */
  command: z.string().optional(),
  /** What a command may change: at this it runs. */
  access: CommandAccess.optional(),
});

/** Ids of the options of a permission request. */
export const OPTION = {
  allowOnce: "allow_once",
  allowSession: "allow_session",
  allowAlways: "allow_always",
  reject: "reject",
} as const;

/** `_meta["agent.nvim"]` of a usage update: of the last request, where the update's own cost is the session's. */
export const UsageMeta = z.object({
  input: z.int(),
  output: z.int(),
  cachedRead: z.int(),
  cachedWrite: z.int(),
  /** US dollars. */
  cost: z.number().optional(),
});
export type UsageMeta = z.infer<typeof UsageMeta>;

/** `data` of a JSON-RPC error that ended a turn. */
export const TurnErrorData = z.object({ kind: z.string(), hint: z.string().optional() });

/** Reads our part of a `_meta` object; undefined if it is absent or not ours. */
export function ours<T extends z.ZodType>(
  schema: T,
  meta: Readonly<Record<string, unknown>> | null | undefined,
): z.infer<T> | undefined {
  const parsed = schema.safeParse(meta?.[META]);
  return parsed.success ? parsed.data : undefined;
}

/** `_meta["agent.nvim"]` of elicitation/create: answers to choose from, besides a free one. */
export const QuestionMeta = z.object({ options: z.array(z.string()) });
