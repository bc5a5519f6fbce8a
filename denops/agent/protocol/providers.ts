/**
 * Known providers. An OpenAI-compatible service is one entry here. The supervisor grants the engine exactly the host of
 * `base_url`.
 */
import { VERSION } from "./version.ts";

/** A request and answer format; one file each in engine/llm/wire. */
export const WIRES = ["openai_chat", "openai_responses", "anthropic_messages", "ollama"] as const;
export type WireName = (typeof WIRES)[number];

/** Differences between wires: the paths for requests and for lists of models. */
interface WireFacts {
  /** Path of requests, relative to `base_url`. */
  readonly path: string;
  /** Paths of the list of models and of one model, relative to `base_url`. */
  readonly models: string;
  /** Path for embeddings, if it has them. */
  readonly embeddings?: string;
  model?(name: string): string;
  key(key: string): Readonly<Record<string, string>>;
  /** The list begins with the newest model, which is the default. */
  readonly newestFirst?: boolean;
  /** The command that installs a first model. */
  readonly install?: string;
  /** The list contains names only; `/api/show` describes each model. */
  readonly shows?: boolean;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const openai = {
  models: "/models",
  embeddings: "/embeddings",
  model: (name: string) => `/models/${name}`,
  key: bearer,
};

export const WIRE_FACTS: Readonly<Record<WireName, WireFacts>> = {
  openai_chat: { path: "/chat/completions", ...openai },
  openai_responses: { path: "/responses", ...openai },
  anthropic_messages: {
    path: "/v1/messages",
    models: "/v1/models?limit=1000",
    model: (name) => `/v1/models/${name}`,
    key: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  },
  ollama: {
    path: "/api/chat",
    models: "/api/tags",
    embeddings: "/api/embed",
    key: bearer,
    newestFirst: true,
    install: "ollama pull qwen3-coder",
    shows: true,
  },
};

/** Models with another wire format than the provider's others. */
export interface ModelWire {
  /** A regular expression for the name. */
  readonly models: string;
  readonly wire: WireName;
}

/** The wire for a model of a provider. */
export function wireFor(
  { wire, wires = [] }: { readonly wire: WireName; readonly wires?: readonly ModelWire[] | undefined },
  model: string,
): WireName {
  return wires.find(({ models }) => new RegExp(models).test(model))?.wire ?? wire;
}

export interface ProviderPreset {
  readonly wire: WireName;
  /** A user's own wire applies to all models. */
  readonly wires?: readonly ModelWire[];
  /** Root of the API; the wire adds its own path. */
  readonly base_url: string;
  /** Environment variables that hold the API key by convention, first match wins. */
  readonly key_env: readonly string[];
  /** Used when the user names no model. */
  readonly default_model?: string;
  /** Answers 401 to a wrong key, for providers whose list of models is public. Relative to `base_url`. */
  readonly key_check?: string;
  /** A more detailed list of models, if the server has it. Relative to `base_url`. */
  readonly richer?: string;
  /** Serves its loaded model under any name. */
  readonly any_model?: boolean;
  /** For local servers: the command that starts it. */
  readonly start?: string;
  /** A path that answers if the server runs on this machine. */
  readonly probe?: string;
  /** It accepts no permanent key: the supervisor exchanges a login for a temporary one. */
  readonly login?: true;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly request_headers?: RequestHeaders;
}

/** Names of headers that describe a request. */
export interface RequestHeaders {
  /** "user" for the first request of a turn that a person began, otherwise "agent". */
  readonly initiator?: string | undefined;
  /** "true" if the request contains images. */
  readonly images?: string | undefined;
}

export const PRESETS: Readonly<Record<string, ProviderPreset>> = {
  ollama: {
    wire: "ollama",
    base_url: "http://127.0.0.1:11434",
    key_env: [],
    start: "ollama serve",
    probe: "/api/version",
  },
  anthropic: {
    wire: "anthropic_messages",
    base_url: "https://api.anthropic.com",
    key_env: ["ANTHROPIC_API_KEY"],
    default_model: "claude-sonnet-5",
  },
  openai: {
    wire: "openai_chat",
    // Reasoning models. Some are served nowhere else ("This model is only supported in v1/responses"), some accept no
    // tools elsewhere ("To use function tools, use /v1/responses"), and all lose their reasoning between calls.
    wires: [{
      models: "^(?:ft:)?(?:gpt-(?:[5-9]|\\d\\d)(?!.*-search)|o\\d|codex|computer-use|gpt-daybreak)",
      wire: "openai_responses",
    }],
    base_url: "https://api.openai.com/v1",
    key_env: ["OPENAI_API_KEY"],
    default_model: "gpt-5",
  },
  openrouter: {
    wire: "openai_chat",
    base_url: "https://openrouter.ai/api/v1",
    key_env: ["OPENROUTER_API_KEY"],
    key_check: "/key",
  },
  groq: { wire: "openai_chat", base_url: "https://api.groq.com/openai/v1", key_env: ["GROQ_API_KEY"] },
  deepseek: {
    wire: "openai_chat",
    base_url: "https://api.deepseek.com/v1",
    key_env: ["DEEPSEEK_API_KEY"],
    default_model: "deepseek-v4-flash",
  },
  mistral: {
    wire: "openai_chat",
    base_url: "https://api.mistral.ai/v1",
    key_env: ["MISTRAL_API_KEY"],
    default_model: "mistral-large-latest",
  },
  xai: { wire: "openai_chat", base_url: "https://api.x.ai/v1", key_env: ["XAI_API_KEY"] },
  gemini: {
    wire: "openai_chat",
    base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    key_env: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    default_model: "gemini-2.5-pro",
  },
  /**
   * Its headers are those of its open clients, see supervisor/agents/copilot/github.ts; it rejects unknown
   * integrations.
   */
  copilot: {
    wire: "openai_chat",
    base_url: "https://api.githubcopilot.com",
    key_env: [],
    login: true,
    headers: {
      "copilot-integration-id": "vscode-chat",
      "editor-version": `agent.nvim/${VERSION}`,
      "editor-plugin-version": `agent.nvim/${VERSION}`,
      "openai-intent": "conversation-edits",
      "x-github-api-version": "2025-10-01",
    },
    request_headers: { initiator: "x-initiator", images: "copilot-vision-request" },
  },
  "llama.cpp": {
    wire: "openai_chat",
    base_url: "http://127.0.0.1:8080/v1",
    key_env: [],
    any_model: true,
    start: "llama-server --jinja -m MODEL.gguf",
  },
  lmstudio: {
    wire: "openai_chat",
    base_url: "http://127.0.0.1:1234/v1",
    key_env: [],
    richer: "/../api/v0/models",
    start: "lms server start",
  },
  vllm: {
    wire: "openai_chat",
    base_url: "http://127.0.0.1:8000/v1",
    key_env: [],
    start: "vllm serve MODEL --enable-auto-tool-choice --tool-call-parser PARSER",
  },
};

/** The host and port to grant for a base URL, as Deno's --allow-net takes it: "api.openai.com:443". */
export function hostAndPort(baseUrl: string): string {
  const url = new URL(baseUrl);
  const port = url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
  return `${url.hostname}:${port}`;
}

/** A login on screen; `text`: the result, one line. */
export type LoginState =
  | { readonly code: string; readonly url: string }
  | { readonly ended: "ok" | "failed" | "stopped"; readonly text: string };
