/**
 * What files of rules for agents are called. Source: developers.openai.com/codex/guides/agents-md;
 * code.claude.com/docs/en/memory; cursor.com/docs/context/rules; docs.github.com, "Adding repository custom instructions".
 */

/** All of them count in a folder: of those on one line the first that is not empty. */
export const MAIN_RULES: readonly (readonly string[])[] = [["AGENTS.override.md", "AGENTS.md"], [
  "CLAUDE.md",
]];

/** The first of these that is not empty counts in a folder without those. */
export const OTHER_RULES: readonly string[] = [
  ".github/copilot-instructions.md",
  ".cursorrules",
  ".windsurfrules",
];

/** The user's own beside those of the project; git ignores them as a rule. */
export const LOCAL_RULES: readonly string[] = ["AGENTS.local.md", "CLAUDE.local.md"];

/** Those that a project shares, the one that counts most first. */
export const SHARED_RULES: readonly string[] = [...MAIN_RULES.flat(), ...OTHER_RULES];
export const RULES_NAMES: readonly string[] = [...SHARED_RULES, ...LOCAL_RULES];

/** Rules that say themselves which files they are for. */
export type ConditionalKind = "copilot" | "cursor" | "claude";

const CONDITIONAL: Readonly<Record<ConditionalKind, RegExp>> = {
  copilot: /^(.*\/)?\.github\/instructions\/(?:.*\/)?[^/]+\.instructions\.md$/,
  cursor: /^(.*\/)?\.cursor\/rules\/(?:.*\/)?[^/]+\.mdc$/,
  claude: /^(.*\/)?\.claude\/rules\/(?:.*\/)?[^/]+\.md$/,
};

/** @param path relative to a root, with forward slashes @returns `folder` holds the rules: "" for the root, or "src/" */
export function conditionalRules(
  path: string,
): { readonly kind: ConditionalKind; readonly folder: string } | undefined {
  for (const kind of ["copilot", "cursor", "claude"] as const) {
    const match = CONDITIONAL[kind].exec(path);
    if (match !== null) return { kind, folder: match[1] ?? "" };
  }
  return undefined;
}

/** May this be a file of rules? @param path as above */
export function isRules(path: string): boolean {
  return RULES_NAMES.some((name) => path === name || path.endsWith(`/${name}`)) ||
    conditionalRules(path) !== undefined;
}
