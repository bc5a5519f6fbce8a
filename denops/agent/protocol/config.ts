/** The configurations of the supervisor and the engine. Lua sends the first, the supervisor the second. */
import * as z from "../deps/zod.ts";
import { OwnMode } from "./modes.ts";
import { httpUrl, list, map, McpName, Price, SEARCH_ENGINES } from "./options/shapes.ts";
import { ENGINE_OPTIONS, MODEL_OPTIONS, RULE_OPTIONS, SUPERVISOR_OPTIONS } from "./options/options.ts";
import { WIRES } from "./providers.ts";
import { HookEvent } from "./results/hooks.ts";

export type { Price, ProviderOptions, SafeToWrite, WebSearch } from "./options/shapes.ts";

/** Globs for reading, in addition to `deny_read`, or names of tools; deny wins. */
const Patterns = z.object({ deny: list(z.string()).default([]), ask: list(z.string()).default([]) });

/** The engine's rules for reading and writing files. */
export const FileRules = z.object({
  safe_to_write: ENGINE_OPTIONS.safe_to_write,
  deny_read: ENGINE_OPTIONS.deny_read,
  read_rules: Patterns.default({ deny: [], ask: [] }),
  /** Absent: none. */
  tool_rules: Patterns.optional(),
  /** Every write needs approval, also one that was approved for the session. */
  asks_writes: z.boolean().optional(),
  /** Every write of a sensitive file needs approval, also one that was approved for the session. */
  asks_again: z.boolean().optional(),
});
export type FileRules = z.infer<typeof FileRules>;

/** A model according to its provider's list and the user's options; unknown facts are absent. */
export const ListedModel = z.object({
  name: z.string().min(1),
  price: Price.optional(),
  /** Tokens. */
  context_window: z.int().min(1).optional(),
  vision: z.boolean().optional(),
  /** Requests that one request counts as in an allowance (Copilot: premium requests). */
  counts_as: z.number().min(0).optional(),
  /** It calls tools in its provider's own way. */
  tools: z.boolean().optional(),
});
export type ListedModel = z.infer<typeof ListedModel>;

/** Caps above which the user is asked before anything is sent. */
export const Budget = z.object(ENGINE_OPTIONS).pick({
  max_tokens_per_turn: true,
  max_cost_per_session: true,
  max_cost_per_day: true,
});
export type Budget = z.infer<typeof Budget>;

const { price: _, ...abilities } = MODEL_OPTIONS;
export const ModelOptions = z.object(MODEL_OPTIONS);
export type ModelOptions = z.infer<typeof ModelOptions>;

const shared = {
  ...ENGINE_OPTIONS,
  /** Defaults for models that `model_options` does not name. */
  ...abilities,
  /** By model name. */
  model_options: map(ModelOptions).default({}),
};

/** Configuration that the supervisor passes on to the engine unchanged. */
export const SharedConfig = z.object(shared);
export type SharedConfig = z.infer<typeof SharedConfig>;

/** The user's options as lua/agent/config.lua sends them; only what the supervisor and the engine use. */
export const UserConfig = z.object({
  ...ENGINE_OPTIONS,
  ...SUPERVISOR_OPTIONS,
  /** Patterns such as "run(git diff *)". */
  rules: z.object(RULE_OPTIONS).prefault({}),
  /** By model name; "*" is every model. */
  models: map(ModelOptions).default({}),
  state_dir: z.string().min(1),
  /** Neovim's own socket, which commands must not reach. */
  socket: z.string().optional(),
  /** Neovim's configuration folder, absolute. */
  config_dir: z.string().min(1).optional(),
  environment: map(z.string()).optional(),
  /** Rules for commands without a sandbox, where none is available. Only a command line sets them, for one run. */
  unsandboxed: list(z.string()).optional(),
  /** Names of approved MCP servers of the options. Only a command line sets them, for one run. */
  approved_mcp: list(z.string()).optional(),
  /** False: nobody is there to approve hooks. True: all are approved. Only a command line sets it, for one run. */
  approved_hooks: z.boolean().optional(),
});
export type UserConfig = z.infer<typeof UserConfig>;

/** Sent in `initialize`, and therefore only over stdin. */
export const EngineConfig = z.object({
  ...shared,
  read_rules: FileRules.shape.read_rules,
  /** Whether commands run in a sandbox; undefined: unknown. */
  sandboxed: z.boolean().optional(),
  /** The name of the shell that runs commands, with its version if that is known; undefined: bash. */
  shell: z.string().optional(),
  price: Price.optional(),
  /** Of `summary_model`. */
  summary_price: Price.optional(),
  /** Modes from files. */
  modes: list(OwnMode).default([]),
  /** Names of MCP servers. `off`: the user starts it. */
  mcp: list(z.object({ name: McpName, off: z.boolean().optional() })).default([]),
  /** Events with hooks: the client is asked only about these. */
  hook_events: list(HookEvent).default([]),
  /** The agent that runs this engine's turns, instead of a model. */
  agent: z.object({
    name: z.string().min(1),
    title: z.string().min(1),
    /** The id of its mode that asks before it acts; undefined: it has none. */
    asking_mode: z.string().optional(),
    /** The command that logs the user in, for messages. */
    login: z.string().optional(),
  }).optional(),
  /** The search engine of the tool search_web. */
  search_engine: z.enum(SEARCH_ENGINES).optional(),
  /** The model for embeddings, if the user has one: "provider/model". */
  embedding_model: z.string().optional(),
  /** Other models in the user's options. */
  models: list(ListedModel).default([]),
  /** Money that this project's sessions have spent on `date` (YYYY-MM-DD). */
  spent: z.object({ date: z.string(), amount: z.number() }).optional(),
  /** Without it, or without a model, sessions can be read and changes undone, but turns fail. */
  provider: z.object({
    name: z.string(),
    wire: z.enum(WIRES),
    /** Models with another wire format. */
    wires: list(z.object({ models: z.string(), wire: z.enum(WIRES) })).optional(),
    base_url: httpUrl,
    headers: z.record(z.string(), z.string()),
    api_key: z.string().optional(),
    /**
     * The key is a bearer token that expires at this time, in milliseconds since 1970; the client provides the next
     * one.
     */
    key_expires: z.number().optional(),
    request_headers: z.object({ initiator: z.string().optional(), images: z.string().optional() }).optional(),
    /** The source of the key, for messages: "ANTHROPIC_API_KEY" or the option's name. */
    key_source: z.string(),
    /** "host:port" of the proxy for base_url, for messages. */
    proxy: z.string().optional(),
  }).optional(),
});
export type EngineConfig = z.infer<typeof EngineConfig>;

/** An engine configuration with a model. */
export const ModelConfig = EngineConfig.required({ model: true, provider: true });
export type ModelConfig = z.infer<typeof ModelConfig>;

export function hasModel(config: EngineConfig): config is ModelConfig {
  return config.model !== undefined && config.provider !== undefined;
}
