/** What crosses from the user's Lua options to the supervisor, and from there to the engine. */
import { z } from "../deps/zod.ts";
import { OwnMode } from "./modes.ts";
import { WIRES } from "./providers.ts";

/** Lua has one table type: an empty list arrives as an empty map, and the other way round. */
const list = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => isEmptyRecord(value) ? [] : value,
    z.array(item),
  );
const map = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => Array.isArray(value) && value.length === 0 ? {} : value,
    z.record(z.string(), item),
  );

function isEmptyRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    Object.keys(value).length === 0;
}

const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

/** A provider of the user's own, or changes to a known one. */
export const ProviderOptions = z.object({
  wire: z.enum(WIRES).optional(),
  base_url: httpUrl.optional(),
  /** "env:NAME" or "cmd:a command that prints the key". */
  api_key: z.string().regex(/^(env|cmd):.+/s, 'must be "env:NAME" or "cmd:COMMAND"').optional(),
  headers: map(z.string()).optional(),
  /** Of copilot: a GitHub of a company's own, and its API if that is not beside it at "api.". */
  github_url: httpUrl.optional(),
  github_api_url: httpUrl.optional(),
});
export type ProviderOptions = z.infer<typeof ProviderOptions>;

/** One entry of `safe_to_write`: true may be written without asking, false asks. */
export const SafeToWrite = z.object({
  glob: z.string().min(1),
  safe: z.boolean(),
  /** Why it asks, as the end of a sentence: "git runs it automatically". */
  reason: z.string().optional(),
  /** Package managers write it: what a command changes of it is listed, and stays. */
  packages: z.boolean().optional(),
  /** Of a manifest: it asks only if one of these keys changes, or what is in it. Parts are joined by "/"; "*" is any. */
  keys: list(z.string()).optional(),
});
export type SafeToWrite = z.infer<typeof SafeToWrite>;

/** What the rules in force say of reading: globs. Both count beside `deny_read`; deny is stronger. */
export const ReadRules = z.object({ deny: list(z.string()).default([]), ask: list(z.string()).default([]) });

/** Which files may be read and written, as the engine judges them. */
export const FileRules = z.object({
  safe_to_write: list(SafeToWrite),
  deny_read: list(z.string()),
  read_rules: ReadRules.default({ deny: [], ask: [] }),
});
export type FileRules = z.infer<typeof FileRules>;

const rules = z.preprocess(
  (value) => Array.isArray(value) && value.length === 0 ? {} : value,
  z.object({
    allow: list(z.string()).default([]),
    ask: list(z.string()).default([]),
    deny: list(z.string()).default([]),
  }),
);

/** US dollars per million tokens. */
export const Price = z.object({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_read: z.number().min(0).optional(),
  cached_write: z.number().min(0).optional(),
  /**
   * Tokens of input over which a request costs more: what is sent twice as much, what is answered one and a half
   * times. It is how OpenAI and Google count.
   */
  long_context: z.number().min(1).optional(),
});
export type Price = z.infer<typeof Price>;

/** A model as its provider's list, and the user's options, tell of it; what neither says is absent. */
export const ListedModel = z.object({
  name: z.string().min(1),
  price: Price.optional(),
  /** Tokens. */
  context_window: z.int().min(1).optional(),
  vision: z.boolean().optional(),
  /** Requests of an allowance that one of the user's counts as (Copilot: premium requests). */
  counts_as: z.number().min(0).optional(),
  /** It calls tools in a way of the provider's. */
  tools: z.boolean().optional(),
});
export type ListedModel = z.infer<typeof ListedModel>;

/** Caps over which the user is asked before anything more is sent. */
export const Budget = z.object({
  max_tokens_per_turn: z.number().min(1).optional(),
  max_cost_per_session: z.number().min(0).optional(),
  max_cost_per_day: z.number().min(0).optional(),
});
export type Budget = z.infer<typeof Budget>;

/** The text to replace, the whole file, or OpenAI's patch text. */
export const EDIT_FORMS = ["replace", "whole", "patch"] as const;
export type EditForm = (typeof EDIT_FORMS)[number];

/** How much a model is to think before it answers, from the least. */
const EFFORTS = ["none", "low", "medium", "high", "max"] as const;
export type Effort = (typeof EFFORTS)[number];
/** What may be chosen for a session: "default" leaves it to the provider, whatever the options say. */
export const CHOOSABLE_EFFORTS = ["default", ...EFFORTS] as const;
export type ChoosableEffort = (typeof CHOOSABLE_EFFORTS)[number];

const shared = {
  model: z.string().optional(),
  max_iterations: z.int().min(1).max(1000),
  max_output_tokens: z.int().min(1).optional(),
  context_window: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  request_timeout: z.number().min(1),
  /** Whether the model sees images; undefined: by its name, or as Ollama says. */
  vision: z.boolean().optional(),
  /** Whether the model calls tools in a way of the provider's; undefined: as the provider and its answers tell. */
  native_tools: z.boolean().optional(),
  safe_to_write: FileRules.shape.safe_to_write,
  deny_read: FileRules.shape.deny_read,
  ...Budget.shape,
  /** Names of tools that are not offered to the model. */
  tools_off: list(z.string()).default([]),
  /** How the model writes edits; undefined: by its name. */
  edit_form: z.enum(EDIT_FORMS).optional(),
  /** Undefined leaves it to the provider. */
  effort: z.enum(EFFORTS).optional(),
  /** After the first turn the model is asked for a title. */
  title: z.boolean().default(true),
  /** A model of the same provider that writes summaries of sessions; undefined: the session's own. */
  summary_model: z.string().min(1).optional(),
  /** A model of the same provider for mode explore; undefined: the session's own. */
  explore_model: z.string().min(1).optional(),
  /** Name of the mode that new sessions begin in. */
  mode: z.string().min(1).default("agent"),
  /** Days after which a session that is not archived is deleted; undefined: never. */
  keep_sessions_days: z.int().min(1).optional(),
};

/** What the supervisor passes on to the engine as it is. */
export const SharedConfig = z.object(shared);

/** A name that begins so is one that git takes, and no option. Source: git-check-ref-format(1), with ASCII alone. */
const BRANCH_PREFIX = /^(?!.*(?:\.\.|\/\/|\/\.|\.\/|\.lock\/))[A-Za-z0-9][\w.\/-]{0,99}$/;

/** The user's options as lua/agent/config.lua sends them; only what the supervisor and the engine use. */
export const UserConfig = z.object({
  ...shared,
  provider: z.string().optional(),
  providers: map(ProviderOptions),
  /** By the model's name. */
  prices: map(Price).default({}),
  sandbox: z.enum(["auto", "off"]),
  /** Other folders of the workspace, absolute or relative to the project. */
  roots: list(z.string()).default([]),
  /** Patterns such as "run(git diff *)". */
  rules,
  /**
   * "look": commands that can only look run unasked, and over an overlay all that have no network; what they change is
   * asked about. "project": the same, and what touches nothing sensitive is kept unasked. "ask": every command asks.
   */
  commands: z.enum(["look", "project", "ask"]),
  /** Folders and files outside of the project that commands see; those of the home folder may begin with "~/". */
  command_read: list(z.string()).default([]),
  /** Folders outside of the project that commands may write. */
  command_write: list(z.string()),
  /** Whether a tool may start a language server that does not run. */
  lsp_start: z.enum(["ask", "always", "never"]).default("ask"),
  /** Names of variables that commands get beside the usual ones. */
  command_environment: list(z.string()),
  /** Each session gets a branch whose name begins so; undefined: none does. */
  git_branch: z.string().regex(BRANCH_PREFIX, 'must be the beginning of a branch\'s name, such as "agent/"')
    .optional(),
  /** Neovim's own socket, which commands must not reach. */
  socket: z.string().optional(),
  /** Neovim's folder of settings, absolute. */
  config_dir: z.string().min(1).optional(),
  deno: list(z.string()),
  state_dir: z.string().min(1),
  environment: map(z.string()).optional(),
});
export type UserConfig = z.infer<typeof UserConfig>;

/** What the engine is told when it is started; travels in `initialize`, thus on stdin only. */
export const EngineConfig = z.object({
  ...shared,
  read_rules: FileRules.shape.read_rules,
  /** Whether a sandbox holds commands; undefined: unknown. */
  sandboxed: z.boolean().optional(),
  price: Price.optional(),
  /** Of `summary_model`. */
  summary_price: Price.optional(),
  /** Modes that files describe. */
  modes: list(OwnMode).default([]),
  /** Other models that the user knows. */
  models: list(ListedModel).default([]),
  /** Money that this project's sessions have cost on `date` (YYYY-MM-DD) so far. */
  spent: z.object({ date: z.string(), amount: z.number() }).optional(),
  model: z.string().min(1).optional(),
  /** Without it, or without a model, sessions can be read and changes taken back, and a turn fails. */
  provider: z.object({
    name: z.string(),
    wire: z.enum(WIRES),
    /** Models that are asked in another. */
    wires: list(z.object({ models: z.string(), wire: z.enum(WIRES) })).optional(),
    base_url: httpUrl,
    headers: z.record(z.string(), z.string()),
    api_key: z.string().optional(),
    /** The key is a bearer token that ends then, in milliseconds since 1970: the client is asked for another. */
    key_expires: z.number().optional(),
    request_headers: z.object({ initiator: z.string().optional(), images: z.string().optional() }).optional(),
    /** Where the key comes from, for messages: "ANTHROPIC_API_KEY" or the option's name. */
    key_source: z.string(),
    /** "host:port" of the proxy that is asked for base_url, for messages. */
    proxy: z.string().optional(),
  }).optional(),
});
export type EngineConfig = z.infer<typeof EngineConfig>;

/** Of an engine that has a model to ask. */
export const ModelConfig = EngineConfig.required({ model: true, provider: true });
export type ModelConfig = z.infer<typeof ModelConfig>;

export function hasModel(config: EngineConfig): config is ModelConfig {
  return config.model !== undefined && config.provider !== undefined;
}

/** The first problem of a failed parse as "option: what is wrong". */
export function firstProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return "it is not valid";
  const where = issue.path.map(String).join(".");
  return where === "" ? issue.message : `${where}: ${issue.message}`;
}
