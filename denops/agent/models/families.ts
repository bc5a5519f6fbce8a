import type { EditForm } from "../protocol/options/efforts.ts";

/** The first match counts: the name of a distilled model begins with its teacher. */
const NAMES = {
  mistral: /mistral|ministral|devstral|codestral|magistral|pixtral/i,
  claude: /claude/i,
  gpt: /\bgpt|\bo[134]\b|codex/i,
  gemini: /gemini/i,
  deepseek: /deepseek/i,
  qwen: /qwen|qwq/i,
  llama: /llama/i,
} as const;

export type Family = keyof typeof NAMES | "default";

/** @param model the provider's name: "anthropic/claude-sonnet-4.5", "qwen3:32b" */
export function familyOf(model: string): Family {
  for (const [family, name] of Object.entries(NAMES)) {
    if (name.test(model) && isFamily(family)) return family;
  }
  return "default";
}

function isFamily(name: string): name is keyof typeof NAMES {
  return name in NAMES;
}

/** Models with fewer parameters, in billions, cannot copy text exactly. */
const SMALL = 30;
/** Larger models with the same weakness, by aider's benchmark of edit formats (polyglot). */
const AS_SMALL = /qwen-?2\.5.*\b32b/i;

/** Small models get fewer tools and a shorter prompt, and write whole files. */
export function isSmall(model: string): boolean {
  const size = billionsOf(model);
  return AS_SMALL.test(model) || (size !== undefined && size < SMALL);
}

/**
 * Models that make one call at a time: Llama 3's template accepts no more ("This model only supports single
 * tool-calls at once!"). Source: llama.com/docs, "Llama 3.1 prompt formats"; vLLM's docs on tool calling.
 */
export function isOneByOne(model: string): boolean {
  return /llama-?3/i.test(model);
}

/** The edit format for a model. */
export function editFormOf(model: string): EditForm {
  if (isSmall(model)) return "whole";
  return familyOf(model) === "gpt" ? "patch" : "replace";
}

/**
 * The parameters in its name: 30 for "qwen3-coder:30b-a3b", 56 for "mixtral:8x7b", 0.27 for "gemma3:270m".
 */
function billionsOf(model: string): number | undefined {
  const found = [...model.matchAll(/(?<![\w.]|\d)[ae]?(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])/gi)];
  const sizes = found.flatMap(([, times = "1", count, unit]) => {
    const size = Number(times) * Number(count);
    // "1m" is a window of a million tokens.
    if (unit?.toLowerCase() === "m") return size < 50 ? [] : [size / 1_000];
    return [size];
  });
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

/** The model is known to write no thoughts before its answer. Unknown models may. */
export function thinksNever(model: string): boolean {
  return /\bgpt-(?:3|4(?!\d))|claude-(?:2|3-[05]|3\.5|instant|3-(?:opus|sonnet|haiku))|gemini-(?:1|2\.0)/i
    .test(model);
}
