/** What a session's prompt says of its project: gathered once, and kept with the session, so that the bytes stay. */
import { z } from "../../deps/zod.ts";
import { type Chosen, rulesId } from "./chosen.ts";
import type { ReadonlyDeep } from "../core/readonly.ts";

/** A file of instructions for agents, as the model is shown it. */
const RulesFile = z.object({
  /** As the model knows it: relative to the project, or "(global)". */
  path: z.string(),
  /** What is shown of it. */
  text: z.string(),
  /** Of the whole file. */
  bytes: z.number(),
});
export type RulesFile = ReadonlyDeep<z.infer<typeof RulesFile>>;

export const Project = z.object({
  /** Lines about what the project is built and run with: "package.json (scripts: build, test)". */
  manifests: z.array(z.string()),
  /** Files and folders, indented; empty if they are not known. */
  tree: z.string(),
  rules: z.array(RulesFile),
});
export type Project = ReadonlyDeep<z.infer<typeof Project>>;

export const NO_PROJECT: Project = { manifests: [], tree: "", rules: [] };

/** Each file labelled, the nearest to the code last. */
export function rulesText(files: readonly RulesFile[]): string {
  return files.map(({ path, text }) => `<rules file="${path}">\n${text.trim()}\n</rules>`).join("\n");
}

export function withoutDroppedRules(project: Project | undefined, { dropped }: Chosen): Project | undefined {
  if (project === undefined || dropped.size === 0) return project;
  return { ...project, rules: project.rules.filter(({ path }) => !dropped.has(rulesId(path))) };
}
