/**
 * The known agents that speak ACP. None is ever installed by us: it is found on the PATH, outside of the project. Their
 * sandbox decides what they can do, so a row only says what they need.
 */
import type { AgentOptions } from "./shapes.ts";

/** A complete row. */
export interface ForeignAgent extends AgentOptions {
  readonly name: string;
  readonly title: string;
  readonly cmd: string[];
  readonly config: string[];
  readonly hosts: string[];
  readonly env: string[];
}

type KnownAgent = Omit<ForeignAgent, "name">;

export const FOREIGN_AGENTS: Readonly<Record<string, KnownAgent>> = {
  claude: {
    title: "Claude",
    cmd: ["claude-agent-acp"],
    config: ["~/.claude", "~/.claude.json"],
    read_only: ["~/.claude/settings.json"],
    hosts: ["api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"],
    env: [
      "ANTHROPIC_API_KEY",
      "ANTHROPIC_AUTH_TOKEN",
      "ANTHROPIC_BASE_URL",
      "ANTHROPIC_MODEL",
      "CLAUDE_CODE_OAUTH_TOKEN",
    ],
    set: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1" },
    asking_mode: "default",
    login: ["claude", "/login"],
    install: "npm install -g @agentclientprotocol/claude-agent-acp",
  },
  codex: {
    title: "Codex",
    cmd: ["codex-acp"],
    config: ["~/.codex"],
    read_only: ["~/.codex/config.toml"],
    hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
    env: ["OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"],
    set: { NO_BROWSER: "1" },
    asking_mode: "read-only",
    own_sandbox: true,
    login: ["codex", "login"],
    install: "npm install -g @agentclientprotocol/codex-acp",
  },
  gemini: {
    title: "Gemini",
    cmd: ["gemini", "--acp"],
    config: ["~/.gemini"],
    read_only: ["~/.gemini/settings.json"],
    hosts: [
      "generativelanguage.googleapis.com",
      "cloudcode-pa.googleapis.com",
      "oauth2.googleapis.com",
      "accounts.google.com",
      "www.googleapis.com",
    ],
    env: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GEMINI_BASE_URL"],
    set: { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" },
    asking_mode: "default",
    login: ["gemini"],
    install: "npm install -g @google/gemini-cli",
  },
  opencode: {
    title: "opencode",
    cmd: ["opencode", "acp"],
    config: ["~/.config/opencode", "~/.local/share/opencode", "~/.local/state/opencode", "~/.cache/opencode"],
    read_only: ["~/.config/opencode"],
    hosts: ["opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com", "openrouter.ai"],
    env: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"],
    set: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
    login: ["opencode", "auth", "login"],
    install: "npm install -g opencode-ai",
  },
  qwen: {
    title: "Qwen Code",
    cmd: ["qwen", "--acp"],
    config: ["~/.qwen"],
    read_only: ["~/.qwen/settings.json"],
    hosts: ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "chat.qwen.ai", "portal.qwen.ai"],
    env: ["DASHSCOPE_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
    asking_mode: "default",
    login: ["qwen"],
    install: "npm install -g @qwen-code/qwen-code",
  },
  kimi: {
    title: "Kimi",
    cmd: ["kimi", "acp"],
    config: ["~/.kimi"],
    hosts: ["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com", "auth.kimi.com"],
    env: ["KIMI_API_KEY", "MOONSHOT_API_KEY"],
    login: ["kimi", "login"],
    install: "npm install -g @moonshot-ai/kimi-code",
  },
  copilot: {
    title: "Copilot",
    cmd: ["copilot", "--acp"],
    config: ["~/.copilot"],
    hosts: ["api.github.com", "github.com", "*.githubcopilot.com"],
    env: ["GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN"],
    login: ["copilot", "login"],
    install: "npm install -g @github/copilot",
  },
};

/** Paths of a sandbox with a forwarder, whose `/run` is an empty folder of its own. */
export const SANDBOX_PLACES = {
  deno: "/run/agent-deno",
  denoDir: "/run/agent-deno-dir",
  forwarder: "/run/agent-forwarder.ts",
  /** The socket of the editor's tools. */
  tools: "/run/agent-tools.sock",
} as const;

/** The MCP server of the editor's tools, as an agent starts it in its sandbox: a forwarder to the supervisor's socket. */
export const EDITOR_SERVER = {
  name: "neovim",
  command: SANDBOX_PLACES.deno,
  args: [
    ...["run", "-A", "--quiet", "--no-config", "--no-lock", "--no-remote"],
    ...[SANDBOX_PLACES.forwarder, SANDBOX_PLACES.tools],
  ],
  env: [
    { name: "DENO_DIR", value: SANDBOX_PLACES.denoDir },
    { name: "DENO_NO_UPDATE_CHECK", value: "1" },
  ],
} as const;

/** @param own the option `agents` @returns undefined for an unknown name, or an agent without a command */
export function foreignAgent(
  name: string,
  own: Readonly<Record<string, AgentOptions>>,
): ForeignAgent | undefined {
  const known = Object.hasOwn(FOREIGN_AGENTS, name) ? FOREIGN_AGENTS[name] : undefined;
  const changes = Object.hasOwn(own, name) ? own[name] : undefined;
  const row: AgentOptions = { ...known, ...changes };
  const { title = name, cmd = [], config = [], hosts = [], env = [] } = row;
  return cmd.length === 0 ? undefined : { ...row, name, title, cmd, config, hosts, env };
}

/** The names of all agents: the user's own first. */
export function foreignAgentNames(own: Readonly<Record<string, AgentOptions>>): readonly string[] {
  return [...new Set([...Object.keys(own), ...Object.keys(FOREIGN_AGENTS)])];
}
