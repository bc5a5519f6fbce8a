// Generated from options.json by `deno task docs`. Edit options.json instead.
import * as z from "../../deps/zod.ts";
import {
  AgentOptions,
  BranchPrefix,
  Embeddings,
  HookGroup,
  list,
  map,
  McpEntry,
  Price,
  ProviderOptions,
  SafeToWrite,
  WebSearch,
} from "./shapes.ts";

/** Options that the supervisor passes on to the engine. */
export const ENGINE_OPTIONS = {
  /** The model's name, as the provider spells it. */
  model: z.string().min(1).optional(),
  /** A model of the same provider that summarizes long sessions. Default: the session's model. */
  summary_model: z.string().min(1).optional(),
  /** A model of the same provider for mode explore, for example a small and fast one. Default: the session's model. */
  explore_model: z.string().min(1).optional(),
  /** The sampling temperature. Never sent to models that reject it. */
  temperature: z.number().min(0).max(2).default(0.1),
  /** How much the model thinks before it answers, unless |:Agent-effort| overrides it. Default: the provider's default. */
  effort: z.enum(["none", "low", "medium", "high", "max"]).optional(),
  /** Mode of new sessions: agent, ask, plan, auto or another one of |agent-modes|. */
  mode: z.string().min(1).default("agent"),
  /** Model requests in one turn. Then the agent asks whether to continue. */
  max_iterations: z.int().min(1).max(1000).default(25),
  /** Maximum tokens of one answer. */
  max_output_tokens: z.int().min(1).optional(),
  /** Maximum tokens of the session. */
  context_window: z.int().min(1).optional(),
  /** Seconds of silence before a request fails. */
  request_timeout: z.number().min(1).default(300),
  /** Maximum tokens of one turn. Beyond it, the agent waits and asks. */
  max_tokens_per_turn: z.int().min(1).optional(),
  /** Maximum dollars of a session. Beyond it, the agent waits and asks. Needs prices. */
  max_cost_per_session: z.number().min(0).optional(),
  /** Maximum dollars of all sessions of a project in a day. Beyond it, the agent waits and asks. */
  max_cost_per_day: z.number().min(0).optional(),
  /** Pairs { glob, boolean }, added to the built-in list. The last match wins. true: files are written without approval. */
  safe_to_write: list(SafeToWrite).default([]),
  /** Globs of files that the model cannot read. Replaces the default. */
  deny_read: list(z.string()).default([
    "**/.env",
    "**/.env.!(example|sample|template)",
    "**/*.pem",
    "**/*.key",
    "**/id_rsa*",
    "**/id_ed25519*",
    "**/id_ecdsa*",
    "**/.ssh/**",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/github-copilot/*.json",
  ]),
  /** Names of disabled tools. */
  tools_off: list(z.string()).default([]),
  /** Ask the model for a title after the first turn. */
  title: z.boolean().default(true),
  /** Days without a message after which a session is deleted. Default: never. */
  keep_sessions_days: z.int().min(1).optional(),
  /** When old parts of a session are compacted. A number: when it fills this share of the model's window. false: never automatically. */
  compaction: z.union([z.literal("auto"), z.literal(false), z.number().min(0.5).max(0.95)], {
    error: "must be one of auto, false, or a number from 0.5 to 0.95",
  }).default("auto"),
};

/** Options that only the supervisor uses. */
export const SUPERVISOR_OPTIONS = {
  /** The model's provider. Default: the only entry of providers, a local Ollama, or the first provider with a key. */
  provider: z.string().min(1).optional(),
  /** Your own providers, or changes to known ones: wire, base_url, api_key, headers. */
  providers: map(ProviderOptions).default({}),
  /** The agent that runs new sessions instead of a model: claude, codex, gemini, opencode, qwen, kimi, copilot or one of agents. Default: our own. See |agent-other-agents|. */
  agent: z.string().min(1).optional(),
  /** Your own agents that speak ACP, or changes to known ones: title, cmd, config, read_only, hosts, env, set, asking_mode, own_sandbox, login, install. See |agent-other-agents|. */
  agents: map(AgentOptions).default({}),
  /** Additional folders of the workspace, absolute or relative to the project. */
  roots: list(z.string()).default([]),
  /** look: commands run without approval, but only in a sandbox; you approve their changes. project: changes of ordinary files need no approval. ask: every command needs approval. */
  commands: z.enum(["look", "project", "ask"]).default("look"),
  /** Folders and files outside of the project that commands can read, such as "~/.config/mise". */
  command_read: list(z.string()).default([]),
  /** Folders outside of the project that commands can write. */
  command_write: list(z.string()).default([]),
  /** Environment variables for commands, in addition to PATH, HOME, USER, LANG, LC_* and TZ. */
  command_environment: list(z.string()).default([]),
  /** Whether a tool may start a language server that is not running. Servers run outside of the sandbox. */
  lsp_start: z.enum(["ask", "always", "never"]).default("ask"),
  /** MCP servers by name: { cmd = { "npx", "-y", "a-server" }, hosts = { "registry.npmjs.org" } } or { url = "https://…" }. See |agent-mcp|. */
  mcp_servers: map(McpEntry).default({}),
  /** Commands at events: { PreToolUse = { { matcher = "Bash", hooks = { { command = "~/guard.sh" } } } } }. See |agent-hooks|. */
  hooks: map(list(HookGroup)).default({}),
  /** The search engine of the tool search_web: { engine = "searxng", url = "https://…" } or { engine = "brave", api_key = "env:BRAVE_API_KEY" }. Default: none. See |agent-web-search|. */
  web_search: WebSearch.optional(),
  /** A model that improves searches by meaning: { provider = "mistral", model = "mistral-embed" }. The texts of indexed files are sent to that provider. Default: none. See |agent-index|. */
  embeddings: Embeddings.optional(),
  /** Prefix of the git branch that each new session gets, such as "agent/". Default: no branch. */
  git_branch: BranchPrefix.optional(),
  /** auto: bubblewrap if it works. off: only Deno's permissions. */
  sandbox: z.enum(["auto", "off"]).default("auto"),
  /** Command that starts Deno 2.8 or newer. */
  deno: list(z.string()).default(["deno"]),
  /** Folder for persistent data. Default: stdpath('state')/agent. */
  state_dir: z.string().min(1).optional(),
};

/** Options in `rules`. */
export const RULE_OPTIONS = {
  /** Rules that approve for you: "run(npm test *)", "write(docs/**)", "network(npm install *)", "host(registry.npmjs.org)". */
  allow: list(z.string()).default([]),
  /** Rules that require approval; stronger than allow. */
  ask: list(z.string()).default([]),
  /** Rules that forbid; stronger than ask and allow. */
  deny: list(z.string()).default([]),
};

/** Options of each model in `models`. */
export const MODEL_OPTIONS = {
  /** Whether the model accepts images. Default: as Ollama reports, or by the model's name. */
  vision: z.boolean().optional(),
  /** Whether the model supports tool calls. Default: as Ollama or the server reports, or as the model's answers show. */
  native_tools: z.boolean().optional(),
  /** How the model edits files. replace: it replaces text. whole: it rewrites the file. patch: it writes a patch. Default: by the model's name; whole for small models. */
  edit_form: z.enum(["replace", "whole", "patch"]).optional(),
  /** US dollars per million tokens: input, output, cached_read, cached_write. */
  price: Price.optional(),
};

/** Names of options by their keys in UserConfig, if they differ. */
export const OPTION_NAMES: Readonly<Record<string, string>> = {
  "max_iterations": "limits.max_iterations",
  "max_output_tokens": "limits.max_output_tokens",
  "context_window": "limits.context_window",
  "request_timeout": "limits.request_timeout",
  "max_tokens_per_turn": "limits.max_tokens_per_turn",
  "max_cost_per_session": "limits.max_cost_per_session",
  "max_cost_per_day": "limits.max_cost_per_day",
  "safe_to_write": "files.safe_to_write",
  "deny_read": "files.deny_read",
  "commands": "shell.commands",
  "command_read": "shell.read",
  "command_write": "shell.write",
  "command_environment": "shell.environment",
  "tools_off": "tools.off",
  "lsp_start": "tools.lsp_start",
  "mcp_servers": "mcp.servers",
  "web_search": "web.search",
  "embeddings": "search.embeddings",
  "title": "sessions.title",
  "keep_sessions_days": "sessions.keep_days",
  "compaction": "sessions.compaction",
  "git_branch": "sessions.git_branch",
};
