/** Families of models by name: they are told other things, and some providers treat theirs otherwise. */

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
