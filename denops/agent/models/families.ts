import type { EditForm } from "../protocol/options/efforts.ts";

/** The first that matches: a distilled model is named after its teacher first. */
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

/** @param model as the provider calls it: "anthropic/claude-sonnet-4.5", "qwen3:32b" */
export function familyOf(model: string): Family {
  for (const [family, name] of Object.entries(NAMES)) {
    if (name.test(model) && isFamily(family)) return family;
  }
  return "default";
}

function isFamily(name: string): name is keyof typeof NAMES {
  return name in NAMES;
}

/** Models of fewer parameters, in billions, fail at copying text exactly. */
const SMALL = 30;
/** Those that do although they have more, as aider's benchmark of edit forms (polyglot) has it. */
const AS_SMALL = /qwen-?2\.5.*\b32b/i;

/** It is told of fewer tools, in fewer words, and writes whole files. */
export function isSmall(model: string): boolean {
  const size = billionsOf(model);
  return AS_SMALL.test(model) || (size !== undefined && size < SMALL);
}

/**
 * It makes one call after the other: Llama 3's template takes no more ("This model only supports single tool-calls at
 * once!"). Source: llama.com/docs, "Llama 3.1 prompt formats"; vLLM's docs on tool calling.
 */
export function isOneByOne(model: string): boolean {
  return /llama-?3/i.test(model);
}

/** The form of edits that a model is offered. */
export function editFormOf(model: string): EditForm {
  if (isSmall(model)) return "whole";
  return familyOf(model) === "gpt" ? "patch" : "replace";
}

/** The parameters that its name says: 30 of "qwen3-coder:30b-a3b", 56 of "mixtral:8x7b", 0.27 of "gemma3:270m". */
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

/** It is known to write down no thoughts of its own before it answers. Unknown models may. */
export function thinksNever(model: string): boolean {
  return /\bgpt-(?:3|4(?!\d))|claude-(?:2|3-[05]|3\.5|instant|3-(?:opus|sonnet|haiku))|gemini-(?:1|2\.0)/i
    .test(model);
}
