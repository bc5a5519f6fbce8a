/** The configurations of the supervisor and the engine. Lua sends the first, the supervisor the second. */
import { z } from "../deps/zod.ts";
import { OwnMode } from "./modes.ts";
import { httpUrl, list, map, Price } from "./option_shapes.ts";
import { ENGINE_OPTIONS, MODEL_OPTIONS, OPTION_NAMES, RULE_OPTIONS, SUPERVISOR_OPTIONS } from "./options.ts";
import { WIRES } from "./providers.ts";

export type { Price, ProviderOptions, SafeToWrite } from "./option_shapes.ts";

/** Globs of the rules for reading. They add to `deny_read`; deny is stronger. */
const ReadRules = z.object({ deny: list(z.string()).default([]), ask: list(z.string()).default([]) });

/** The engine decides by these which files it may read and write. */
export const FileRules = z.object({
  safe_to_write: ENGINE_OPTIONS.safe_to_write,
  deny_read: ENGINE_OPTIONS.deny_read,
  read_rules: ReadRules.default({ deny: [], ask: [] }),
});
export type FileRules = z.infer<typeof FileRules>;

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
export const Budget = z.object(ENGINE_OPTIONS).pick({
  max_tokens_per_turn: true,
  max_cost_per_session: true,
  max_cost_per_day: true,
});
export type Budget = z.infer<typeof Budget>;

const { price: _, ...abilities } = MODEL_OPTIONS;

/** The text to replace, the whole file, or OpenAI's patch text. */
const EDIT_FORMS = MODEL_OPTIONS.edit_form.unwrap().options;
export type EditForm = (typeof EDIT_FORMS)[number];

/** How much a model is to think before it answers, from the least. */
const EFFORTS = ENGINE_OPTIONS.effort.unwrap().options;
export type Effort = (typeof EFFORTS)[number];
/** Efforts of a session. "default" is the provider's default, whatever the options say. */
export const CHOOSABLE_EFFORTS = ["default", ...EFFORTS] as const;
export type ChoosableEffort = (typeof CHOOSABLE_EFFORTS)[number];

export const ModelOptions = z.object(MODEL_OPTIONS);
export type ModelOptions = z.infer<typeof ModelOptions>;

const shared = {
  ...ENGINE_OPTIONS,
  /** For each model that `model_options` does not name. */
  ...abilities,
  /** By the model's name. */
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
  /** By the model's name; "*" stands for every model. */
  models: map(ModelOptions).default({}),
  state_dir: z.string().min(1),
  /** Neovim's own socket, which commands must not reach. */
  socket: z.string().optional(),
  /** Neovim's folder of settings, absolute. */
  config_dir: z.string().min(1).optional(),
  environment: map(z.string()).optional(),
});
export type UserConfig = z.infer<typeof UserConfig>;

/** The engine gets it in `initialize`, so only on stdin. */
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

/** A problem of the action `configure`, with the option's name as the user knows it. */
export function optionProblem(problem: string): string {
  return problem.replace(/^config\.(\w+)/, (_, key: string) => OPTION_NAMES[key] ?? key);
}
