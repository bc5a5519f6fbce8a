import type { Effort } from "../../../protocol/options/efforts.ts";
import type { ModelRequest } from "../../log/model_request.ts";

export type Fields = Readonly<Record<string, unknown>>;

interface Service {
  readonly host: RegExp;
  /** @param model in lower case */
  fields(effort: Effort, model: string): Fields;
}

const SERVICES: readonly Service[] = [
  {
    // openrouter.ai/docs, "Reasoning Tokens": it adapts the effort to the model.
    host: /(?:^|\.)openrouter\.ai$/,
    fields: (effort) => ({ reasoning: { effort: effort === "max" ? "xhigh" : effort } }),
  },
  {
    // api-docs.deepseek.com, "Thinking Mode": "medium" is read as "high".
    host: /(?:^|\.)deepseek\.com$/,
    fields: (effort) =>
      effort === "none" ? switchedTo(false) : { ...switchedTo(true), reasoning_effort: effort },
  },
  {
    // platform.kimi.ai/docs, "Use Thinking Effort", "Use Kimi K2 Thinking Model".
    host: /(?:^|\.)(?:moonshot\.(?:ai|cn)|kimi\.com)$/,
    fields(effort, model) {
      if (versionOf(model, "k") >= 300) return { reasoning_effort: threeLevels(effort) };
      // These models always think.
      if (/thinking|k2\.7/.test(model)) return {};
      return switchedTo(effort !== "none");
    },
  },
  {
    // docs.z.ai, "Thinking Mode", "Chat Completion": levels came with GLM-5.2, and GLM-5.3 always thinks.
    host: /(?:^|\.)(?:z\.ai|bigmodel\.cn)$/,
    fields(effort, model) {
      const version = versionOf(model, "glm-");
      if (effort === "none" && version < 503) return switchedTo(false);
      return { ...switchedTo(true), ...(version < 502 ? {} : { reasoning_effort: threeLevels(effort) }) };
    },
  },
  {
    // ai.google.dev, "OpenAI compatibility": 2.5 Pro and all of 3 always think.
    host: /(?:^|\.)googleapis\.com$/,
    fields(effort, model) {
      const always = /2\.5-pro/.test(model) || versionOf(model, "gemini-") >= 300;
      return { reasoning_effort: effort === "none" && always ? "low" : upToHigh(effort) };
    },
  },
  {
    // console.groq.com/docs/reasoning.
    host: /(?:^|\.)groq\.com$/,
    fields(effort, model) {
      if (/qwen/.test(model)) return { reasoning_effort: effort === "none" ? "none" : "default" };
      return /gpt-oss/.test(model) ? { reasoning_effort: fromLow(upToHigh(effort)) } : {};
    },
  },
  {
    // docs.x.ai, "Reasoning": other models refuse the field.
    host: /(?:^|\.)x\.ai$/,
    fields(effort, model) {
      if (/grok-3-mini/.test(model)) {
        return { reasoning_effort: effort === "none" || effort === "low" ? "low" : "high" };
      }
      const takes = versionOf(model, "grok-") >= 403 && !/grok-4\.\d\d|non-reasoning/.test(model);
      return takes || /grok-latest/.test(model) ? { reasoning_effort: upToHigh(effort) } : {};
    },
  },
  {
    // docs.mistral.ai, "Reasoning": Large accepts levels; the others think or do not.
    host: /(?:^|\.)mistral\.ai$/,
    fields(effort, model) {
      if (/magistral/.test(model)) return {};
      const level = /large/.test(model) ? upToHigh(effort) : effort === "none" ? "none" : "high";
      return { reasoning_effort: level };
    },
  },
  {
    // help.aliyun.com/zh/model-studio, "Deep thinking".
    host: /(?:^|\.)aliyuncs\.com$/,
    fields: (effort) => ({ enable_thinking: effort !== "none" }),
  },
];

/** The body fields for the request's effort. */
export function effortFields(request: ModelRequest, baseUrl: string): Fields {
  const { effort, thinking } = request;
  if (effort === undefined || thinking?.length === 0) return {};
  const { hostname } = new URL(baseUrl);
  const model = request.model.toLowerCase();
  const service = SERVICES.find(({ host }) => host.test(hostname));
  if (service !== undefined) return service.fields(effort, model);
  if (isLocal(hostname)) return template(effort, model);
  const level = openai(effort, model);
  return level === undefined ? {} : { reasoning_effort: level };
}

/**
 * The effort as a word, for OpenAI's Responses. Local servers accept only these words: Ollama,
 * openai/responses.go.
 */
export function effortWord({ effort, thinking, model }: ModelRequest, baseUrl: string): string | undefined {
  if (effort === undefined || thinking?.length === 0) return undefined;
  const name = model.toLowerCase();
  if (/gpt-?oss/.test(name)) return fromLow(upToHigh(effort));
  return isLocal(new URL(baseUrl).hostname) ? upToHigh(effort) : openai(effort, name);
}

/** Whether the host is this machine or in its network. */
export function isLocal(hostname: string): boolean {
  return hostname === "localhost" || hostname.startsWith("[") || !/\.[a-z]/i.test(hostname) ||
    /\.(?:local|lan|internal|home\.arpa)$/i.test(hostname);
}

/** 206 for "kimi-k2.6", given the text before the number. Zero if the name has none. */
function versionOf(model: string, before: string): number {
  const name = new RegExp(`(?:^|[/-])${before}(\\d{1,2})(?:[.-](\\d{1,2})(?!\\d))?`);
  const [, major = "0", minor = "0"] = name.exec(model) ?? [];
  return Number(major) * 100 + Number(minor);
}

function switchedTo(on: boolean): Fields {
  return { thinking: { type: on ? "enabled" : "disabled" } };
}

function threeLevels(effort: Effort): string {
  if (effort === "none" || effort === "low") return "low";
  return effort === "max" ? "max" : "high";
}

function upToHigh(effort: Effort): string {
  return effort === "max" ? "high" : effort;
}

function fromLow(effort: string): string {
  return effort === "none" ? "low" : effort;
}

/**
 * llama.cpp, vLLM and SGLang pass these to the model's template. Qwen, GLM and others read `enable_thinking`;
 * DeepSeek, Kimi and Granite read `thinking`. Source: qwen.readthedocs.io, "vLLM", docs.vllm.ai, "Reasoning
 * Outputs".
 */
function template(effort: Effort, model: string): Fields {
  if (/gpt-?oss/.test(model)) {
    const level = fromLow(upToHigh(effort));
    return { reasoning_effort: level, chat_template_kwargs: { reasoning_effort: level } };
  }
  const on = effort !== "none";
  return { chat_template_kwargs: { enable_thinking: on, thinking: on } };
}

/**
 * OpenAI's models and all unknown ones. Source: platform.openai.com/docs, "Reasoning models", and the page of
 * each model.
 */
function openai(effort: Effort, model: string): string | undefined {
  if (/gpt-[34]|gpt-.*-(?:chat|pro)\b|chatgpt/.test(model)) return undefined;
  if (!/gpt-\d/.test(model)) {
    return /(?:^|\/)o\d/.test(model) ? fromLow(upToHigh(effort)) : upToHigh(effort);
  }
  const version = versionOf(model, "gpt-");
  if (effort === "none") return least(model, version);
  return effort === "max" ? most(model, version) : effort;
}

function least(model: string, version: number): string {
  if (/codex/.test(model) || version >= 600) return "low";
  return version < 501 ? "minimal" : "none";
}

function most(model: string, version: number): string {
  if (version >= 506) return "max";
  return version >= 502 || /codex-max/.test(model) ? "xhigh" : "high";
}
