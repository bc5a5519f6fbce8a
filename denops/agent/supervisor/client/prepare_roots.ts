/** Checks a project's folders before its engine gets them, and cleans up after a crash. */
import type { UserConfig } from "../../protocol/config.ts";
import { OptionsError } from "../../protocol/options/problems.ts";
import { patternProblems } from "../../policy/rules.ts";
import type { ProviderWorld } from "../agents/provider.ts";
import { otherRoots } from "../agents/root.ts";
import { sweepRunFolders } from "../commands/overlay/run_folder.ts";
import { sweepAfterCrash } from "../git/guard.ts";
import { visible } from "../screen/visible.ts";
import { repositoryProblem } from "../system/git/git_view.ts";
import { ensureStateFolder } from "../system/project_state.ts";

/** @param warn shows a line in the chat @returns the project's folder first @throws {Error} one line */
export async function prepareRoots(
  root: string,
  user: UserConfig,
  world: ProviderWorld,
  warn: (text: string) => void,
): Promise<readonly string[]> {
  const problems = patternProblems(user);
  if (problems.length > 0) throw new OptionsError(problems);
  await ensureStateFolder(user.state_dir);
  const roots = [root, ...await otherRoots(user, root, world.env("HOME"))];
  for (const one of roots) {
    for (const line of await sweepAfterCrash(one, user.state_dir)) {
      warn(`After a command that was cut off: ${visible(line)}`);
    }
  }
  sweepRunFolders(user.state_dir).catch(() => {});
  repositoryProblem(root, roots).then((problem) => {
    if (problem !== undefined) warn(visible(`Git is not used here: ${problem}.`));
  }, () => {});
  return roots;
}
