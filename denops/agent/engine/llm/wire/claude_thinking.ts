import type { Effort } from "../../../protocol/options/efforts.ts";
import type { ModelRequest } from "../../log/model_request.ts";

interface Thinking {
  /** Fields of the request's body. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly maxTokens: number;
  /** The model accepts no temperature while it thinks. */
  readonly isOn: boolean;
  /** Value of the `anthropic-beta` header. */
  readonly beta?: string;
}

/** The API requires a limit for the answer; every current model accepts this one. */
const DEFAULT_MAX_TOKENS = 16_384;
/** Thoughts count as output, so higher efforts need more room. */
const ADAPTIVE_MAX_TOKENS: Partial<Record<Effort, number>> = { high: 32_768, max: 64_000 };

/** Tokens of thought for models with a budget. The API's minimum is 1024. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 15_000,
  max: 31_999,
};
const LEAST_BUDGET = 1_024;

/**
 * From 5.1 on the API refuses a thought if anything before it has changed, for example by compaction. This
 * option drops the thought instead.
 */
const BINDING = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
const BINDING_BETA = "thinking-binding-controls-2026-08-01";

export function thinkingOf(request: ModelRequest): Thinking {
  const { effort, thinking, model, maxOutputTokens } = request;
  const plain = { fields: {}, maxTokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS, isOn: false };
  if (thinking?.length === 0) return plain;
  const version = versionOf(model);
  if (version >= 406) return adaptive(request, version);
  if (effort === undefined) return plain;
  if (effort === "none") {
    return version > 0 ? plain : { ...plain, fields: { thinking: { type: "disabled" } } };
  }
  if (version > 0 && version < 307) return plain;
  const most = /opus-4-(?:[01]\b|2\d{3})/.test(model) ? BUDGETS.high : BUDGETS.max;
  const wanted = Math.min(BUDGETS[effort], most);
  // The user's limit covers thoughts and answer.
  const budget = Math.min(wanted, Math.floor((maxOutputTokens ?? Infinity) / 2));
  if (budget < LEAST_BUDGET) return plain;
  return {
    fields: { thinking: { type: "enabled", budget_tokens: budget } },
    maxTokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS + budget,
    isOn: true,
  };
}

/** From 4.6 on the model chooses how much to think, within an effort; from 5 on it does so by default. */
function adaptive({ model, effort, maxOutputTokens }: ModelRequest, version: number): Thinking {
  const maxTokens = maxOutputTokens ?? ADAPTIVE_MAX_TOKENS[effort ?? "low"] ?? DEFAULT_MAX_TOKENS;
  const cannotStop = version >= 501 || /fable|mythos/.test(model);
  if (effort === "none" && !cannotStop) {
    return { fields: { thinking: { type: "disabled" } }, maxTokens, isOn: false };
  }
  if (effort === undefined && version < 500) return { fields: {}, maxTokens, isOn: false };
  const binds = version >= 501 && !/mythos-5-1/.test(model);
  const thinking = {
    type: "adaptive",
    // Otherwise its thoughts are hidden.
    ...(version >= 407 ? { display: "summarized" } : {}),
    ...(binds ? BINDING : {}),
  };
  return {
    fields: {
      thinking,
      ...(effort === undefined ? {} : { output_config: { effort: effort === "none" ? "low" : effort } }),
    },
    maxTokens,
    isOn: true,
    ...(binds ? { beta: BINDING_BETA } : {}),
  };
}

/** 405 for "claude-opus-4-5-20251101" and "claude-4.5-opus"; 0 for a model that is not Anthropic's. */
function versionOf(model: string): number {
  const [, major = "0", minor = "0"] =
    /claude-(?:[a-z]+-)*(\d{1,2})(?:[.-](\d{1,2})(?!\d))?(?!\d)/.exec(model) ?? [];
  return Number(major) * 100 + Number(minor);
}
