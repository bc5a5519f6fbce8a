/** What a session's prompt says of its project: gathered once, and kept with the session, so that the bytes stay. */
import { z } from "../../deps/zod.ts";
import { type Chosen, rulesId } from "./chosen.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

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
  /**
   * Ends the names of the tags around rules and facts of the moment. It is random: no text of the project, and no name of
   * a file in it, can imitate them.
   */
  mark: z.string().regex(/^\w+$/),
  /** Lines about what the project is built and run with: "package.json (scripts: build, test)". */
  manifests: z.array(z.string()),
  /** Files and folders, indented; empty if they are not known. */
  tree: z.string(),
  rules: z.array(RulesFile),
});
export type Project = ReadonlyDeep<z.infer<typeof Project>>;

/** Of this process: sessions that it begins share what the provider keeps of their prompts. */
export const MARK = [...crypto.getRandomValues(new Uint8Array(6))]
  .map((byte) => (byte % 26 + 10).toString(36)).join("");

export const NO_PROJECT: Project = { mark: MARK, manifests: [], tree: "", rules: [] };

/** Each file labelled, the nearest to the code last. */
export function rulesText(files: readonly RulesFile[], { mark }: Pick<Project, "mark">): string {
  return files.map(({ path, text }) =>
    `<rules_${mark} file="${attribute(path)}">\n${text.trim()}\n</rules_${mark}>`
  ).join("\n");
}

/** @param text lines */
export function contextText(text: string, { mark }: Pick<Project, "mark">): string {
  return `<context_${mark}>\n${text}\n</context_${mark}>`;
}

/** A name of a file may hold anything. */
function attribute(name: string): string {
  return name.replace(/["<>]|\p{Cc}/gu, "?");
}

export function withoutDroppedRules(project: Project | undefined, { dropped }: Chosen): Project | undefined {
  if (project === undefined || dropped.size === 0) return project;
  return { ...project, rules: project.rules.filter(({ path }) => !dropped.has(rulesId(path))) };
}
