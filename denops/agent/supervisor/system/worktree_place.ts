/**
 * The folders of sessions' worktrees: `<state>/worktrees/<project>/<name>`, with the project's path in
 * `.origin`.
 */
import { basename, dirname, join } from "node:path";
import { projectStateName } from "./project_state.ts";

const ORIGIN = ".origin";

/** Real path of the folder for a project's worktrees, which may not exist. */
export async function worktreesOf(origin: string, stateDir: string): Promise<string> {
  return join(
    await Deno.realPath(stateDir).catch(() => stateDir),
    "worktrees",
    await projectStateName(origin),
  );
}

/** Creates the folder. */
export async function makeWorktreesFolder(origin: string, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(join(folder, ORIGIN), origin);
}

/**
 * The project of a worktree, by the folder's path alone; undefined for any other folder.
 * @param root a real path @throws {Error} one line if that project no longer exists
 */
export async function originOf(root: string, stateDir: string): Promise<string | undefined> {
  const folder = dirname(root);
  if (dirname(folder) !== join(await Deno.realPath(stateDir).catch(() => stateDir), "worktrees")) {
    return undefined;
  }
  const origin = await Deno.readTextFile(join(folder, ORIGIN)).catch(() => "");
  const isThere = origin !== "" && await Deno.stat(origin).then(() => true, () => false);
  if (isThere && basename(folder) === await projectStateName(origin)) return origin;
  throw new Error(`Cannot use worktrees: the project of ${folder} is gone.`);
}
