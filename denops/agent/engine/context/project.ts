/**
 * The project facts in a session's prompt: gathered once and stored with the session, so that the prompt stays the
 * same.
 */
import * as z from "../../deps/zod.ts";
import { SkillFacts } from "../../protocol/results/skills.ts";
import { type Chosen, rulesId } from "./chosen.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

/** A rules file as the model sees it. */
const RulesFile = z.object({
  /** Relative to the project, or "(global)". */
  path: z.string(),
  /** The visible part. */
  text: z.string(),
  /** Size of the whole file. */
  bytes: z.number(),
});
export type RulesFile = ReadonlyDeep<z.infer<typeof RulesFile>>;

export const Project = z.object({
  /** A random suffix of the tags around rules and facts. No text or file name of the project can imitate it. */
  mark: z.string().regex(/^\w+$/),
  /** How the project is built and run: "package.json (scripts: build, test)". */
  manifests: z.array(z.string()),
  /** Files and folders, indented; empty if unknown. */
  tree: z.string(),
  rules: z.array(RulesFile),
  /** Those that the prompt lists; absent: none. */
  skills: z.array(SkillFacts).optional(),
  /** Names of skills that came later, to a prompt without any. */
  laterSkills: z.array(z.string()).optional(),
  /** The prompt was sent before the files were listed, so the rest comes with a later message. */
  late: z.literal(true).optional(),
});
export type Project = ReadonlyDeep<z.infer<typeof Project>>;

/** Constant for this process, so that its sessions share the provider's cache. */
export const MARK = [...crypto.getRandomValues(new Uint8Array(6))]
  .map((byte) => (byte % 26 + 10).toString(36)).join("");

export const NO_PROJECT: Project = { mark: MARK, manifests: [], tree: "", rules: [] };

/** How the project is built and run; empty if unknown. */
export function manifestsText({ manifests }: Pick<Project, "manifests">): string {
  return manifests.length === 0 ? "" : `Built with: ${manifests.join("; ")}`;
}

/** Empty if unknown. */
export function filesText({ tree }: Pick<Project, "tree">): string {
  return tree === "" ? "" : `Files when the session began, ignored ones left out:\n${tree}`;
}

/** The facts that missed the prompt; undefined without any. */
export function lateText(sent: Project, known: Project): string | undefined {
  const paths = new Set(sent.rules.map(({ path }) => path));
  const rules = rulesText(known.rules.filter(({ path }) => !paths.has(path)), sent);
  const facts = [manifestsText(known), filesText(known)].filter((text) => text !== "").join("\n");
  const texts = [rules, facts === "" ? "" : contextText(facts, sent)].filter((text) => text !== "");
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** Each file with its label, the one nearest to the code last. */
export function rulesText(files: readonly RulesFile[], { mark }: Pick<Project, "mark">): string {
  return files.map(({ path, text }) =>
    `<rules_${mark} file="${attribute(path)}">\n${text.trim()}\n</rules_${mark}>`
  ).join("\n");
}

/** @param text lines */
export function contextText(text: string, { mark }: Pick<Project, "mark">): string {
  return `<context_${mark}>\n${text}\n</context_${mark}>`;
}

/** A file name may contain anything. */
function attribute(name: string): string {
  return name.replace(/["<>]|\p{Cc}/gu, "?");
}

export function withoutDroppedRules(project: Project | undefined, { dropped }: Chosen): Project | undefined {
  if (project === undefined || dropped.size === 0) return project;
  return { ...project, rules: project.rules.filter(({ path }) => !dropped.has(rulesId(path))) };
}
