/**
 * Prompt templates: the user's, then the project's, then the built-in ones; the first of each name counts.
 */
import { join } from "node:path";
import { type PromptTemplate, readPromptFile } from "../../shared/user_files/prompt_file.ts";
import { BUILT_IN_PROMPTS } from "./built_in_prompts.ts";
import { type DescribedPlace, eachDescribed } from "./described_files.ts";

const FOLDERS = {
  own: join("agent", "commands"),
  projects: [join(".agents", "commands"), join(".claude", "commands")],
};

export interface PromptFiles {
  /** By name. */
  readonly prompts: ReadonlyMap<string, PromptTemplate>;
  /** Built-in prompts that a file of the project replaces: name → file. */
  readonly replaced: ReadonlyMap<string, string>;
  /** One line each. */
  readonly problems: readonly string[];
}

export async function promptFiles(place: DescribedPlace): Promise<PromptFiles> {
  const prompts = new Map<string, PromptTemplate>();
  const replaced = new Map<string, string>();
  const builtIn = new Map(BUILT_IN_PROMPTS.map((prompt) => [prompt.name, prompt]));
  const problems = await eachDescribed(place, FOLDERS, ({ text, name, isUsers, label }) => {
    const prompt = readPromptFile(text, name);
    if (prompts.has(name)) return;
    prompts.set(name, prompt);
    if (!isUsers && builtIn.has(name)) replaced.set(name, label);
  });
  return { prompts: new Map([...builtIn, ...prompts]), replaced, problems };
}
