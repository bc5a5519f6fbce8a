/** The part of `:checkhealth agent` about files and about options that depend on more than their text. */
import { fileRules } from "../../policy/rules.ts";
import type { UserConfig } from "../../protocol/config.ts";
import type { ProviderWorld } from "../agents/provider.ts";
import { projectSkills } from "../client/answers/skills.ts";
import { Modes } from "../client/modes.ts";
import { searchProblem } from "../client/search_key.ts";
import { fileProblems } from "../project/file_problems.ts";

/** Problems with the options `mode` and `web.search`, and with files of modes, prompts, rules and skills. */
export async function filesReport(
  user: UserConfig,
  root: string,
  { env }: Pick<ProviderWorld, "env">,
): Promise<{ readonly options: readonly string[]; readonly problems: readonly string[] }> {
  const rules = fileRules(user, []);
  const modes = new Modes(user, () => ({ root, rules }));
  await modes.read();
  const unknown = modes.problem(modes.first);
  const mode = unknown && `mode: ${unknown} :Agent mode lists those that there are.`;
  const search = user.web_search && searchProblem(user.web_search, env);
  const skills = projectSkills({ roots: [root], user, files: () => rules });
  return {
    options: [mode, search].filter((problem) => problem !== undefined),
    problems: [
      ...modes.problems,
      ...await fileProblems({ root, configDir: user.config_dir, rules }),
      ...(await skills.list()).problems,
    ],
  };
}
