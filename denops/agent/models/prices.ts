/**
 * Published prices of models, from the providers' price pages, in US dollars per million tokens. A model that
 * is missing here has no price: none is better than a wrong one.
 */
import type { Price } from "../protocol/config.ts";
import { PRESETS } from "../protocol/providers.ts";

/** The day on which the prices were verified; later models were verified when they were added. */
export const PRICES_DATE = "2026-08-21";

type Row = readonly [
  input: number,
  output: number,
  cachedRead?: number | undefined,
  cachedWrite?: number | undefined,
  longContext?: number,
];

const GEMINI_LONG = 200_000;
const OPENAI_LONG = 272_000;

/** By the names of presets. */
const TABLE: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  anthropic: {
    "claude-fable-5-1": [10, 50, 0.25, 12.5],
    "claude-fable-5": [10, 50, 1, 12.5],
    "claude-opus-5-5": [4, 20, 0.2, 5],
    "claude-opus-5": [5, 25, 0.5, 6.25],
    "claude-opus-4-8": [5, 25, 0.5, 6.25],
    "claude-opus-4-7": [5, 25, 0.5, 6.25],
    "claude-opus-4-6": [5, 25, 0.5, 6.25],
    "claude-opus-4-5": [5, 25, 0.5, 6.25],
    "claude-opus-4-1": [15, 75, 1.5, 18.75],
    "claude-opus-4": [15, 75, 1.5, 18.75],
    "claude-sonnet-5-5": [2, 10, 0.2, 2.5],
    "claude-sonnet-5": [2, 10, 0.2, 2.5],
    "claude-sonnet-4-6": [3, 15, 0.3, 3.75],
    "claude-sonnet-4-5": [3, 15, 0.3, 3.75],
    "claude-sonnet-4": [3, 15, 0.3, 3.75],
    "claude-haiku-4-5": [1, 5, 0.1, 1.25],
    "claude-3-7-sonnet": [3, 15, 0.3, 3.75],
    "claude-3-5-haiku": [0.8, 4, 0.08, 1],
  },
  openai: {
    "gpt-6-astra": [10, 50, 1, undefined, OPENAI_LONG],
    "gpt-6-sol": [2, 10, 0.2, 2.5, OPENAI_LONG],
    "gpt-6-luna": [0.1, 0.5, 0.01, 0.125, OPENAI_LONG],
    "gpt-5.6": [5, 30, 0.5, 6.25, OPENAI_LONG],
    "gpt-5.6-sol": [5, 30, 0.5, 6.25, OPENAI_LONG],
    "gpt-5.6-terra": [2, 12, 0.2, 2.5, OPENAI_LONG],
    "gpt-5.6-luna": [0.2, 1.2, 0.02, 0.25, OPENAI_LONG],
    "gpt-5.5": [5, 30, 0.5, undefined, OPENAI_LONG],
    "gpt-5.5-pro": [30, 180],
    "gpt-5.4": [2.5, 15, 0.25, undefined, OPENAI_LONG],
    "gpt-5.4-mini": [0.75, 4.5, 0.075],
    "gpt-5.4-nano": [0.2, 1.25, 0.02],
    "gpt-5.3-codex": [1.75, 14, 0.175],
    "gpt-5.3-chat": [1.75, 14, 0.175],
    "gpt-5.2": [1.75, 14, 0.175],
    "gpt-5.2-codex": [1.75, 14, 0.175],
    "gpt-5.2-chat": [1.75, 14, 0.175],
    "gpt-5.1": [1.25, 10, 0.125],
    "gpt-5.1-codex": [1.25, 10, 0.125],
    "gpt-5.1-codex-max": [1.25, 10, 0.125],
    "gpt-5.1-codex-mini": [0.25, 2, 0.025],
    "gpt-5.1-chat": [1.25, 10, 0.125],
    "gpt-5": [1.25, 10, 0.125],
    "gpt-5-codex": [1.25, 10, 0.125],
    "gpt-5-chat": [1.25, 10, 0.125],
    "gpt-5-mini": [0.25, 2, 0.025],
    "gpt-5-nano": [0.05, 0.4, 0.005],
    "gpt-4.1": [2, 8, 0.5],
    "gpt-4.1-mini": [0.4, 1.6, 0.1],
    "gpt-4.1-nano": [0.1, 0.4, 0.025],
    "gpt-4o-2024-05-13": [5, 15],
    "gpt-4o": [2.5, 10, 1.25],
    "gpt-4o-mini": [0.15, 0.6, 0.075],
    "o4-mini": [1.1, 4.4, 0.275],
    "o3": [2, 8, 0.5],
    "o3-mini": [1.1, 4.4, 0.55],
    "o1": [15, 60, 7.5],
  },
  gemini: {
    "gemini-3.6-flash": [1.5, 7.5, 0.15],
    "gemini-3.5-flash": [1.5, 9, 0.15],
    "gemini-3.5-flash-lite": [0.3, 2.5, 0.03],
    "gemini-3.1-pro": [2, 12, 0.2, undefined, GEMINI_LONG],
    "gemini-3.1-flash-lite": [0.25, 1.5, 0.025],
    "gemini-3-pro": [2, 12, 0.2, undefined, GEMINI_LONG],
    "gemini-3-flash": [0.5, 3, 0.05],
    "gemini-2.5-pro": [1.25, 10, 0.125, undefined, GEMINI_LONG],
    "gemini-2.5-flash": [0.3, 2.5, 0.03],
    "gemini-2.5-flash-lite": [0.1, 0.4, 0.01],
  },
  deepseek: {
    "deepseek-v4-pro": [0.435, 0.87, 0.003625],
    "deepseek-v4-flash": [0.14, 0.28, 0.0028],
    "deepseek-chat": [0.14, 0.28, 0.0028],
    "deepseek-reasoner": [0.14, 0.28, 0.0028],
  },
  mistral: {
    "mistral-large": [0.5, 1.5, 0.05],
    "mistral-large-2411": [2, 6],
    "mistral-medium-3": [0.4, 2],
    "mistral-small-2603": [0.15, 0.6, 0.015],
    "devstral-2512": [0.4, 2, 0.04],
    "codestral": [0.3, 0.9, 0.03],
    "magistral-medium": [2, 5],
    "magistral-small": [0.5, 1.5],
    "ministral-14b": [0.2, 0.2, 0.02],
  },
  xai: {
    "grok-4.5": [2, 6, 0.5],
    "grok-4.3": [1.25, 2.5, 0.2],
    "grok-4": [3, 15, 0.75],
    "grok-4-fast-reasoning": [0.2, 0.5, 0.05],
    "grok-4-fast-non-reasoning": [0.2, 0.5, 0.05],
    "grok-4-1-fast-reasoning": [0.2, 0.5, 0.05],
    "grok-4-1-fast-non-reasoning": [0.2, 0.5, 0.05],
    "grok-code-fast-1": [0.2, 1.5, 0.02],
    "grok-build-0.1": [1, 2, 0.2],
    "grok-3": [3, 15, 0.75],
    "grok-3-mini": [0.3, 0.5, 0.075],
  },
  groq: {
    "openai/gpt-oss-120b": [0.15, 0.6, 0.075],
    "openai/gpt-oss-20b": [0.075, 0.3, 0.0375],
    "moonshotai/kimi-k2-instruct": [1, 3, 0.5],
    "qwen/qwen3-32b": [0.29, 0.59],
    "meta-llama/llama-4-maverick-17b-128e-instruct": [0.2, 0.6],
    "meta-llama/llama-4-scout-17b-16e-instruct": [0.11, 0.34],
    "llama-3.3-70b-versatile": [0.59, 0.79],
    "llama-3.1-8b-instant": [0.05, 0.08],
  },
};

/**
 * The published price of a model at this address; undefined if it has none, as for local models.
 * @param baseUrl decides instead of the provider's name, because another address means another bill
 */
export function publishedPrice(baseUrl: string, model: string): Price | undefined {
  const host = new URL(baseUrl).host;
  const provider = Object.keys(TABLE).find((name) => new URL(PRESETS[name]?.base_url ?? "").host === host);
  const models = TABLE[provider ?? ""] ?? {};
  const name = model.replace(/^models\//, "");
  const row = Object.entries(models)
    .filter(([known]) => name.startsWith(known) && isVersion(name.slice(known.length)))
    .reduce<[string, Row] | undefined>(
      (best, next) => best && best[0].length >= next[0].length ? best : next,
      undefined,
    );
  return row === undefined ? undefined : priceOf(row[1]);
}

/** "-20250929", "-2024-08-06", "-0709", "-latest", "-preview-09-2025": the same model, where "-mini" is another one. */
function isVersion(rest: string): boolean {
  return /^(?:-latest|-preview|[-@]\d{3,8}|(?:-\d{2,4}){2,3})*$/.test(rest);
}

function priceOf([input, output, cachedRead, cachedWrite, longContext]: Row): Price {
  return {
    input,
    output,
    ...(cachedRead === undefined ? {} : { cached_read: cachedRead }),
    ...(cachedWrite === undefined ? {} : { cached_write: cachedWrite }),
    ...(longContext === undefined ? {} : { long_context: longContext }),
  };
}
