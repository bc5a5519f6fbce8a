/**
 * OpenAI-compatible services that require the thoughts of earlier answers, with the field for them. Pure.
 * Sources: api-docs.deepseek.com, "Thinking Mode" (of turns with calls, in all later requests);
 * platform.kimi.ai/docs, "Use Kimi K2 Thinking Model"; docs.z.ai, "Thinking Mode"; docs.mistral.ai,
 * "Reasoning"; openrouter.ai/docs, "Reasoning Tokens". Templates of local models (Qwen, GLM, gpt-oss, Gemma)
 * read the thoughts of the current turn.
 */
import type { AssistantMessage, KeptFor } from "../../log/messages.ts";
import type { ModelRequest } from "../../log/model_request.ts";
import { plainThought } from "../reasoning.ts";
import { type Fields, isLocal } from "./effort.ts";

interface Service {
  readonly host: RegExp;
  /** Undefined: only signed thoughts. */
  readonly keeps?: KeptFor;
  /** The service refuses an answer with calls but without a thought. */
  readonly demands?: true;
}

const DEMANDING = { keeps: "session", demands: true } as const;

const SERVICES: readonly Service[] = [
  { host: /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn)|kimi\.com)$/, ...DEMANDING },
  { host: /(?:^|\.)(?:z\.ai|bigmodel\.cn)$/, keeps: "turn" },
  { host: /(?:^|\.)mistral\.ai$/, keeps: "session" },
  {
    host:
      /(?:^|\.)(?:openrouter\.ai|openai\.com|githubcopilot\.com|googleapis\.com|groq\.com|x\.ai|aliyuncs\.com)$/,
  },
];

/** Models that behave the same on other hosts. */
const FAMILIES: readonly (Omit<Service, "host"> & { readonly model: RegExp })[] = [
  { model: /deepseek-?v[4-9]|kimi-?k[2-9]/i, ...DEMANDING },
  { model: /\bglm-|minimax-?m[2-9]/i, keeps: "turn" },
];

function serviceOf(model: string, hostname: string): Omit<Service, "host"> {
  if (isLocal(hostname)) return { keeps: "turn" };
  return SERVICES.find(({ host }) => host.test(hostname)) ??
    FAMILIES.find((family) => family.model.test(model)) ?? {};
}

export function keptFor(model: string, baseUrl: string): KeptFor | undefined {
  return serviceOf(model, new URL(baseUrl).hostname).keeps;
}

/** The fields that an answer's thought adds to its message, or that replace its content. */
export function thoughtFields(
  message: AssistantMessage,
  { model, without }: ModelRequest,
  baseUrl: string,
): Fields {
  const { hostname } = new URL(baseUrl);
  const details = message.reasoning.flatMap((one) => one.type === "details" ? one.details : []);
  if (details.length > 0) return { reasoning_details: details };
  const thought = plainThought(message);
  if (thought === undefined) {
    const demands = serviceOf(model, hostname).demands === true && message.calls.length > 0;
    // Kimi accepts a single space.
    return demands && without?.includes("earlier_reasoning") !== true ? { reasoning_content: " " } : {};
  }
  if (!/(?:^|\.)mistral\.ai$/.test(hostname)) return { reasoning_content: thought };
  const part = { type: "thinking", thinking: [{ type: "text", text: thought }], closed: true };
  const text = message.text.trim() === "" ? [] : [{ type: "text", text: message.text }];
  return { content: [part, ...text] };
}
