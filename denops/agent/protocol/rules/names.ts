/**
 * Names of rules files for agents. Source: developers.openai.com/codex/guides/agents-md;
 * code.claude.com/docs/en/memory; cursor.com/docs/context/rules; docs.github.com, "Adding repository custom
 * instructions".
 */

/** All rows count in a folder, each with its first non-empty file. */
export const MAIN_RULES: readonly (readonly string[])[] = [["AGENTS.override.md", "AGENTS.md"], [
  "CLAUDE.md",
]];

/** If a folder has none of those, the first non-empty one of these counts. */
export const OTHER_RULES: readonly string[] = [
  ".github/copilot-instructions.md",
  ".cursorrules",
  ".windsurfrules",
];

/** The user's own additions to the project's rules, usually ignored by git. */
export const LOCAL_RULES: readonly string[] = ["AGENTS.local.md", "CLAUDE.local.md"];

/** Shared rules of a project, by precedence. */
export const SHARED_RULES: readonly string[] = [...MAIN_RULES.flat(), ...OTHER_RULES];
export const RULES_NAMES: readonly string[] = [...SHARED_RULES, ...LOCAL_RULES];

/** Rules files with conditions of their own. */
export type ConditionalKind = "copilot" | "cursor" | "claude";

const CONDITIONAL: Readonly<Record<ConditionalKind, RegExp>> = {
  copilot: /^(.*\/)?\.github\/instructions\/(?:.*\/)?[^/]+\.instructions\.md$/,
  cursor: /^(.*\/)?\.cursor\/rules\/(?:.*\/)?[^/]+\.mdc$/,
  claude: /^(.*\/)?\.claude\/rules\/(?:.*\/)?[^/]+\.md$/,
};

/**
 * @param path relative to a root, with forward slashes @returns `folder`: the rules' folder, "" for the root, or "src/"
 */
export function conditionalRules(
  path: string,
): { readonly kind: ConditionalKind; readonly folder: string } | undefined {
  for (const kind of ["copilot", "cursor", "claude"] as const) {
    const match = CONDITIONAL[kind].exec(path);
    if (match !== null) return { kind, folder: match[1] ?? "" };
  }
  return undefined;
}

/** Patterns of the names of rules files, without their folders: other files match too. */
export const RULES_PATTERNS: readonly string[] = [
  ...RULES_NAMES.map((name) => name.slice(name.lastIndexOf("/") + 1)),
  "*.mdc",
  "*.md",
];

/** Whether a path may be a rules file. @param path as above */
export function isRules(path: string): boolean {
  return RULES_NAMES.some((name) => path === name || path.endsWith(`/${name}`)) ||
    conditionalRules(path) !== undefined;
}
