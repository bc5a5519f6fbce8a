/** Messages from Lua to the supervisor: actions. Updates of `ui.ts` answer them. */
import * as z from "../deps/zod.ts";
import { SESSION_PERMISSIONS } from "./access.ts";
import { UserConfig } from "./config.ts";
import { CHOOSABLE_EFFORTS } from "./options/efforts.ts";
import { EditPlace } from "./edit_place.ts";
import { MessageId, OPTION } from "./extensions.ts";
import { Attachment } from "./attachments.ts";
import { REQUEST_NAMES } from "./requests.ts";
import { AgentOptionChange } from "./results/agent_options.ts";
import { IndexChange } from "./results/index.ts";
import { McpChange } from "./results/mcp.ts";
import { SkillChange } from "./results/skills.ts";
import { ProposalChoice } from "./results/rule_proposals.ts";
import { Shown } from "./surroundings.ts";
import { WORKTREE_TASK } from "./worktrees.ts";

/** A chat is one session on the user's screen; Lua numbers them from 1. */
const chat = z.int().min(1);
const request = z.int().min(1);
/** A stored session for the chat; without it the chat gets a new one. */
const session = z.string().min(1).optional();
/** Folder of the project, found by `lua/agent/projects.lua`. */
const place = { root: z.string() };
/** A request about a chat's session. */
const sessionRequest = { request, chat, session, ...place };
/** A message and its attachments, in order. */
const message = {
  text: z.string().min(1),
  given: z.array(Attachment).max(1_000).default([]),
  /** The user has typed all of the text here: a page that it mentions is fetched without another approval. */
  typed: z.boolean().default(false),
};

export const Action = z.discriminatedUnion("type", [
  z.object({ type: z.literal("configure"), config: UserConfig }),
  /** The user opened a chat. The engine starts a session unless the chat shows one. The first message reports errors. */
  /** `preloads`: the user types a command and may not send anything, so no login is used. */
  z.object({ type: z.literal("open"), chat, session, ...place, preloads: z.boolean().default(false) }),
  /** Opens the chat's session, a new one if it has none; `ready` names it. */
  z.object({ type: z.literal("open_session"), chat, session, ...place }),
  z.object({
    type: z.literal("prompt"),
    chat,
    ...place,
    session,
    ...message,
    id: MessageId.optional(),
    /** With absolute paths. */
    shown: Shown.optional(),
    /** Write this into the project's rules, without asking a model. */
    remember: z.string().min(1).max(2_000).optional(),
    /** Edit only these lines. */
    edit: EditPlace.optional(),
    /** Write the differences of this worktree, without asking a model. */
    merge: z.string().min(1).max(100).optional(),
  }),
  /** Write the text into the user's rules for all projects. */
  z.object({ type: z.literal("remember"), chat, ...place, session, text: z.string().min(1).max(2_000) }),
  z.object({ type: z.literal("cancel"), chat }),
  /** Removes a queued message; `taken_back` confirms it. */
  z.object({ type: z.literal("take_back"), chat, text: z.string() }),
  /** The user closed a chat; its turn ends. */
  z.object({ type: z.literal("close"), chat }),
  z.object({
    type: z.literal("answer"),
    request,
    option: z.enum([OPTION.allowOnce, OPTION.allowSession, OPTION.allowAlways, OPTION.reject]),
    /** The reason for a rejection. */
    reason: z.string().optional(),
    /** With allow_always: the edited rule. With reject: what rejects it, if no user does. */
    rule: z.string().optional(),
    /** The edited command. */
    command: z.string().optional(),
    /** For effects: numbers of the rows to keep; default: the approval's own choice. */
    kept: z.array(z.int()).optional(),
  }),
  /** The user edited the command of an approval, which is judged and shown again. */
  z.object({ type: z.literal("edit_command"), request, command: z.string().min(1) }),
  /** Answers an `ask_editor`; `error` if Lua failed. */
  z.object({
    type: z.literal("reply"),
    request,
    result: z.unknown().optional(),
    error: z.string().optional(),
  }),
  /**
   * `files`: names of loaded buffers and of their link targets, without folders; absent: any file may be open.
   * `servers`: a language server runs. `slow_writes`: before it writes, the editor may ask the user.
   */
  z.object({
    type: z.literal("editor_state"),
    files: z.array(z.string()).optional(),
    servers: z.boolean(),
    slow_writes: z.boolean().optional(),
  }),
  /** Without an answer, the user declined. */
  z.object({ type: z.literal("answer_question"), request, answer: z.string().optional() }),
  z.object({ type: z.literal("rules"), request, chat, session, ...place }),
  /** `source`: see the update `rules`. Only this source's rule is removed. */
  z.object({ type: z.literal("remove_rule"), chat, rule: z.string(), source: z.string() }),
  /** Opens a host to the project's commands: one of the refused rules of `rules`. */
  z.object({ type: z.literal("allow_host"), chat, rule: z.string().startsWith("host(") }),
  /** Opens a host to another agent of the project: one of the refused ones of `rules`. */
  z.object({
    type: z.literal("allow_agent_host"),
    chat,
    agent: z.string().min(1).max(100),
    host: z.string().min(1).max(300),
  }),
  /** Proposes rules from the log, answered by an `engine_answer`. With a `choice`, first carries it out. */
  z.object({ type: z.literal("rule_proposals"), ...sessionRequest, choice: ProposalChoice.optional() }),
  z.object({ type: z.literal("log"), request, chat, session, ...place }),
  /** Lists the available modes. */
  z.object({ type: z.literal("modes"), request, chat, session, ...place }),
  /** Sets the mode from the next turn on; `agent_state` confirms it. */
  z.object({ type: z.literal("mode"), chat, session, ...place, mode: z.string().min(1).max(100) }),
  /** Sets the effort from the next turn on; the `options` of `agent_state` confirm it. */
  z.object({ type: z.literal("effort"), chat, session, ...place, effort: z.enum(CHOOSABLE_EFFORTS) }),
  /** Sets what the session may do unasked; `agent_state` confirms it. */
  z.object({
    type: z.literal("permission"),
    chat,
    session,
    ...place,
    permission: z.enum(SESSION_PERMISSIONS),
  }),
  /** Models of a provider, else of the session's. */
  z.object({
    type: z.literal("models"),
    ...sessionRequest,
    provider: z.string().min(1).max(100).optional(),
  }),
  /** Sets the model from the next turn on, "" for the options' model; `agent_state` confirms it. */
  z.object({ type: z.literal("model"), chat, session, ...place, model: z.string().max(200) }),
  /** The logins of another agent; `method` is run first, as in the request of this name. */
  z.object({ type: z.literal("agent_login"), ...sessionRequest, method: z.string().max(100).optional() }),
  /** The options of another agent; without `change` they are only listed. */
  z.object({ type: z.literal("agent_options"), ...sessionRequest, change: AgentOptionChange.optional() }),
  z.object({ type: z.literal("providers"), request, chat, session, ...place }),
  /** Sets the provider after the current turn, "" for the options' provider; `agent_state` confirms it. */
  z.object({
    type: z.literal("provider"),
    ...sessionRequest,
    provider: z.string().max(100),
    /** Another agent instead. */
    agent: z.string().min(1).max(100).optional(),
    model: z.string().min(1).max(200).optional(),
  }),
  z.object({ type: z.literal("files"), request, chat, session, ...place }),
  /** Whether the model may have this file freely. */
  z.object({ type: z.literal("readable"), ...sessionRequest, path: z.string() }),
  /** Prompt templates that a message may call. */
  z.object({ type: z.literal("prompts"), request, chat, session, ...place }),
  z.object({ type: z.literal("tools"), request, chat, toggle: z.string().optional(), session, ...place }),
  /** A request of requests.ts, answered by an `engine_answer`. */
  z.object({
    type: z.literal("engine_request"),
    request,
    chat,
    ...place,
    name: z.enum(REQUEST_NAMES),
    params: z.record(z.string(), z.unknown()),
  }),
  /** The stored sessions of all projects, without starting engines. */
  z.object({ type: z.literal("sessions"), request, chat, ...place }),
  /** A message for the running turn, answered by the `engine_answer` of the request `steer`. */
  z.object({ type: z.literal("steer"), request, chat, session, ...place, id: MessageId, ...message }),
  /** A question beside the turns, answered by an `engine_answer`. `staged`: includes the staged changes. */
  z.object({
    type: z.literal("aside"),
    ...sessionRequest,
    text: z.string(),
    staged: z.boolean(),
  }),
  /** Stops the `aside` of this number; it is answered with the text so far. */
  z.object({ type: z.literal("aside_stop"), request, chat }),
  /** About the project's worktrees, answered by an `engine_answer`. */
  z.object({ type: z.literal("worktree"), request, chat, ...place, ...WORKTREE_TASK }),
  /** Starts a login; answered by a `login` with a code or the result. */
  z.object({ type: z.literal("login"), request, chat, provider: z.string().max(100) }),
  /** Answered by a `login` when the started one has ended. */
  z.object({ type: z.literal("login_wait"), request, chat }),
  z.object({ type: z.literal("login_stop"), chat }),
  /** Forgets the login; answered by a `login`. */
  z.object({ type: z.literal("logout"), request, chat, provider: z.string().max(100) }),
  /** The session's background commands. `stop` ends one first. */
  /** Lists the project's MCP servers. `change` first starts or stops one, `host` first opens one more host to it. */
  z.object({
    type: z.literal("mcp"),
    request,
    chat,
    change: McpChange.optional(),
    host: z.object({ name: z.string(), host: z.string() }).optional(),
    /** Logs in at this server, and answers with the page for it. */
    login: z.string().optional(),
    session,
    ...place,
  }),
  /** Lists the skills. `change` first changes one. */
  z.object({ type: z.literal("skills"), request, chat, change: SkillChange.optional(), session, ...place }),
  /** Lists the hooks. `change` first approves or refuses one, by its id. */
  z.object({
    type: z.literal("hooks"),
    request,
    chat,
    change: z.object({ id: z.string(), approved: z.boolean() }).optional(),
    session,
    ...place,
  }),
  /** The state of the index for searches by meaning. `change` first builds, rebuilds or deletes it. */
  z.object({ type: z.literal("index"), request, chat, change: IndexChange.optional(), session, ...place }),
  z.object({ type: z.literal("jobs"), request, chat, stop: z.string().optional(), session, ...place }),
  /** The remaining quota of the account that pays for the chat's model. */
  z.object({ type: z.literal("quota"), request, chat, session, ...place }),
  z.object({
    type: z.literal("health"),
    request,
    ...place,
  }),
]);
export type Action = z.infer<typeof Action>;
export type ActionInput = z.input<typeof Action>;
