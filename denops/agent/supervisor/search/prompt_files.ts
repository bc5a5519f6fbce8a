/** Prompt templates: the user's, then the project's, then our own; of one name the first counts. */
import { join } from "node:path";
import { type PromptTemplate, readPromptFile } from "../../policy/prompt_file.ts";
import { BUILT_IN_PROMPTS } from "./built_in_prompts.ts";
import { type DescribedPlace, eachDescribed } from "./described_files.ts";

const FOLDERS = {
  own: join("agent", "commands"),
  projects: [join(".agents", "commands"), join(".claude", "commands")],
};

export interface PromptFiles {
  /** By name. */
  readonly prompts: ReadonlyMap<string, PromptTemplate>;
  /** One line each. */
  readonly problems: readonly string[];
}

export async function promptFiles(place: DescribedPlace): Promise<PromptFiles> {
  const prompts = new Map<string, PromptTemplate>();
  const problems = await eachDescribed(place, FOLDERS, ({ text, name }) => {
    const prompt = readPromptFile(text, name);
    if (!prompts.has(name)) prompts.set(name, prompt);
  });
  for (const prompt of BUILT_IN_PROMPTS) if (!prompts.has(prompt.name)) prompts.set(prompt.name, prompt);
  return { prompts, problems };
}
