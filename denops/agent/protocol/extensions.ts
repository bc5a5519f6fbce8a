/**
 * Our extensions of ACP version 1. Both sides offer them in `initialize`, under
 * `clientCapabilities._meta["agent.nvim"]` and `agentCapabilities._meta["agent.nvim"]`; each is used only if both offer
 * it.
 */
import type { PermissionOption } from "../deps/acp_sdk.ts";
import * as z from "../deps/zod.ts";
import { Access } from "./access.ts";
import { CommandAccess } from "./commands.ts";
import { EngineConfig, ListedModel } from "./config.ts";
import { MODE_ACCESSES } from "./modes.ts";
import { EditPlace } from "./edit_place.ts";
import { WebUrl } from "./results/web.ts";
import { Shown } from "./surroundings.ts";
import { Merge } from "./worktrees.ts";

/** The key of our fields in `_meta`. */
export const META = "agent.nvim";

/** The wire name of our request or notification. */
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
 * `_meta["agent.nvim"]` of a stored user message, and of the session_info_update that begins a turn: the turn's number
 * within the session, from 1, and its start in milliseconds since 1970. `given`: labels of the attachments.
 */
export const TurnMeta = z.object({
  turn: z.int(),
  time: z.number(),
  given: z.array(z.string()).readonly().optional(),
});
export type TurnMeta = z.infer<typeof TurnMeta>;

/** Neovim's id of a user message; the session remembers the ids of logged messages. */
export const MessageId = z.string().min(1).max(100);

/** `_meta["agent.nvim"]` of a prompt, and of the answer to session/resume. */
export const SessionMeta = z.object({
  /** The git branch created for the session; only the first prompt's counts. */
  branch: z.string().regex(/^[\x21-\x7e]{1,255}$/).optional(),
  messageId: MessageId.optional(),
  /** Sent with every prompt. */
  shown: Shown.optional(),
  /** Write this into the project's rules instead of running the model. */
  remember: z.string().min(1).optional(),
  /** Edit these lines instead of running a normal turn. */
  edit: EditPlace.optional(),
  /** Merge these files of a worktree into the project instead of running the model. */
  merge: Merge.optional(),
  /** Addresses of pages that the user attaches to the message; the client lets each be fetched once. */
  pages: z.array(WebUrl).readonly().optional(),
  /** Number of turns of the resumed session. */
  turns: z.int().min(0).optional(),
});
export type SessionMeta = z.infer<typeof SessionMeta>;

/** `_meta["agent.nvim"]` of the answer to a prompt: why the turn has no real answer. The user has been notified. */
export const TurnEndMeta = z.object({ problem: z.string().optional() });
export type TurnEndMeta = z.infer<typeof TurnEndMeta>;

/** `_meta["agent.nvim"]` of session/set_config_option for the model: the provider's facts about it. */
export const ModelMeta = z.object({ listed: ListedModel });
export type ModelMeta = z.infer<typeof ModelMeta>;
/** `_meta["agent.nvim"]` of a permission request: the reason for it. */
export const ApprovalMeta = z.object({
  reason: z.string(),
  /** The user must answer, whatever the rules say, because the same call was repeated, or a hook asks. */
  force: z.boolean(),
  /** A hook asks about each such call, so an answer is for this one alone. */
  isSingle: z.literal(true).optional(),
  access: Access,
  /** The requesting sub-agent: its title, and the most it may change. */
  agent: z.object({ title: z.string(), access: z.enum(MODE_ACCESSES) }).optional(),
  /** Names of the call's tool, current and old. Rules on tools only tighten, so they need no trust. */
  tools: z.array(z.string()).readonly().optional(),
  /** A hook has changed the call: which one, and what the model asked for. One line. */
  changed: z.string().optional(),
});
export type ApprovalMeta = z.infer<typeof ApprovalMeta>;

/** `_meta["agent.nvim"]` of the answer to a permission request. */
export const AnswerMeta = z.object({
  /** The reason for a rejection by the user or a rule. */
  reason: z.string().optional(),
  /** The rule that answered for the user. */
  rule: z.string().optional(),
  /** The command as the user edited it; only this one may run. */
  command: z.string().optional(),
  /** The access at which a command runs. */
  access: CommandAccess.optional(),
  /** It runs over an overlay. */
  rehearsed: z.boolean().optional(),
  /** The hosts that it reaches without the network. */
  hosts: z.array(z.string()).readonly().optional(),
});
export type AnswerMeta = z.infer<typeof AnswerMeta>;

/** Ids of the options of a permission request. */
export const OPTION = {
  allowOnce: "allow_once",
  allowSession: "allow_session",
  allowAlways: "allow_always",
  reject: "reject",
} as const;

/** The options that our engine offers with each request. */
export const PERMISSION_OPTIONS: readonly PermissionOption[] = [
  { optionId: OPTION.allowOnce, name: "Allow once", kind: "allow_once" },
  { optionId: OPTION.allowSession, name: "Allow for this session", kind: "allow_always" },
  { optionId: OPTION.reject, name: "Reject", kind: "reject_once" },
];

/** Reads our part of a `_meta` object; undefined if it is absent or not ours. */
export function ours<T extends z.ZodType>(
  schema: T,
  meta: Readonly<Record<string, unknown>> | null | undefined,
): z.infer<T> | undefined {
  const parsed = schema.safeParse(meta?.[META]);
  return parsed.success ? parsed.data : undefined;
}

/** `_meta["agent.nvim"]` of elicitation/create: suggested answers beside a free one. */
export const QuestionMeta = z.object({ options: z.array(z.string()) });
