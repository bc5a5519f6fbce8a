/**
 * What agent.nvim adds to ACP version 1. Offered in `initialize` under
 * `clientCapabilities._meta["agent.nvim"]` and `agentCapabilities._meta["agent.nvim"]`, and used only if the
 * other side has offered it too.
 */
import type { PermissionOption } from "../deps/acp_sdk.ts";
import { z } from "../deps/zod.ts";
import { Access } from "./access.ts";
import { CommandAccess } from "./commands.ts";
import { EngineConfig, ListedModel } from "./config.ts";
import { MODE_ACCESSES } from "./modes.ts";
import { EditPlace } from "./edit_place.ts";
import { Shown } from "./surroundings.ts";
import { Merge } from "./worktrees.ts";

/** The key of everything of ours in `_meta`. */
export const META = "agent.nvim";

/** The method on the wire of a request or notification of ours. */
export function method(name: string): string {
  return `_agent/${name}`;
}

/** `_meta["agent.nvim"]` of the `initialize` request. */
export const InitializeMeta = z.object({
  extensions: z.array(z.string()),
  config: EngineConfig.optional(),
});
export type InitializeMeta = z.infer<typeof InitializeMeta>;

/**
 * `_meta["agent.nvim"]` of a stored user message, and of the session_info_update with which a turn begins: the turn's
 * number, from 1 within the session, and when it began (milliseconds since 1970). `given`: what was handed over with the
 * message, by names for the screen.
 */
export const TurnMeta = z.object({
  turn: z.int(),
  time: z.number(),
  given: z.array(z.string()).readonly().optional(),
});
export type TurnMeta = z.infer<typeof TurnMeta>;

/** Neovim numbers the messages of the user: the session that logs one remembers its id. */
export const MessageId = z.string().min(1).max(100);

/** `_meta["agent.nvim"]` of a prompt, and of the answer to session/resume. */
export const SessionMeta = z.object({
  /** The git branch that was made for the session; of prompts the first one counts. */
  branch: z.string().regex(/^[\x21-\x7e]{1,255}$/).optional(),
  messageId: MessageId.optional(),
  /** Of every prompt. */
  shown: Shown.optional(),
  /** Instead of asking the model this is written into the project's rules. */
  remember: z.string().min(1).optional(),
  /** Instead of running a turn of its own the model says what these lines are to be. */
  edit: EditPlace.optional(),
  /** Instead of asking the model these files of a worktree are merged into the project. */
  merge: Merge.optional(),
});
export type SessionMeta = z.infer<typeof SessionMeta>;

/** `_meta["agent.nvim"]` of session/set_config_option for the model: what is known of one that the provider lists. */
export const ModelMeta = z.object({ listed: ListedModel });
export type ModelMeta = z.infer<typeof ModelMeta>;

/** `_meta["agent.nvim"]` of a piece of text or of a thought: id of the tool call under which it stands. */
export const ParentMeta = z.object({ parent: z.string().optional() });

/** `_meta["agent.nvim"]` of the last piece of a thought. */
export const ThoughtMeta = z.object({ milliseconds: z.number(), ...ParentMeta.shape });

/**
 * `_meta["agent.nvim"]` of an empty piece of a thought: the message's text so far was a thought, or its thought so far is told
 * again as text.
 */
export const RetoldMeta = z.object({ was: z.enum(["text", "thought"]), ...ParentMeta.shape });
export type RetoldMeta = z.infer<typeof RetoldMeta>;

/** `_meta["agent.nvim"]` of a tool call or its update. */
export const ToolMeta = z.object({
  tool: z.string().optional(),
  /** Lines of the argument that streams in, while the call is pending. */
  lines: z.int().optional(),
  /** The last lines of it. */
  draft: z.string().optional(),
  added: z.int().optional(),
  removed: z.int().optional(),
  /** One line about the result, or the first line of the error. */
  summary: z.string().optional(),
  /** What gave the call leave to run. */
  rule: z.string().optional(),
  /** It has not failed: the user, or the end of its process, has cut it off. */
  stopped: z.boolean().optional(),
  ...ParentMeta.shape,
});
export type ToolMeta = z.infer<typeof ToolMeta>;

/** `_meta["agent.nvim"]` of a permission request: why a person is asked. */
export const ApprovalMeta = z.object({
  reason: z.string(),
  /** A person must answer, whatever the rules say: the same call was made again and again. */
  force: z.boolean(),
  access: Access,
  /** The sub-agent that wants it: its title, and what it may change. */
  agent: z.object({ title: z.string(), access: z.enum(MODE_ACCESSES) }).optional(),
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
  /** It runs over an overlay. */
  rehearsed: z.boolean().optional(),
});
export type AnswerMeta = z.infer<typeof AnswerMeta>;

/** Ids of the options of a permission request. */
export const OPTION = {
  allowOnce: "allow_once",
  allowSession: "allow_session",
  allowAlways: "allow_always",
  reject: "reject",
} as const;

/** What our engine offers with each request. */
export const PERMISSION_OPTIONS: readonly PermissionOption[] = [
  { optionId: OPTION.allowOnce, name: "Allow once", kind: "allow_once" },
  { optionId: OPTION.allowSession, name: "Allow for this session", kind: "allow_always" },
  { optionId: OPTION.reject, name: "Reject", kind: "reject_once" },
];

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
