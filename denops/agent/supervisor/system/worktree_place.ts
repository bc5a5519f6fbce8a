/** Where worktrees of sessions lie: `<state>/worktrees/<project>/<name>`, and beside them the project's folder in `.origin`. */
import { basename, dirname, join } from "node:path";
import { projectStateName } from "./project_state.ts";

const ORIGIN = ".origin";

/** The real path of the folder of a project's worktrees, which need not be there. */
export async function worktreesOf(origin: string, stateDir: string): Promise<string> {
  return join(
    await Deno.realPath(stateDir).catch(() => stateDir),
    "worktrees",
    await projectStateName(origin),
  );
}

/** Makes it. */
export async function makeWorktreesFolder(origin: string, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(join(folder, ORIGIN), origin);
}

/**
 * The project of which a folder is a worktree, by its place alone; undefined if it is none.
 * @param root a real path @throws {Error} one line if that project is gone
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
