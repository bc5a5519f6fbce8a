/** Checks the folders of a project. Neovim finds the project's root (`lua/agent/projects.lua`). */
import { dirname, resolve } from "node:path";
import type { UserConfig } from "../../protocol/config.ts";
import { originOf } from "../system/worktree_place.ts";

/** The user's location. */
export interface RootQuery {
  /** Folder of the project. */
  readonly root: string;
}

/**
 * The real path of the project's folder.
 * @throws {Error} one line, if the folder does not exist, or is the home folder or the root of the file
 * system
 */
export async function findRoot({ root }: RootQuery, home: string | undefined): Promise<string> {
  return await usable(root, await realHomeOf(home), "root");
}

/** The real paths of the workspace's other folders; those of a worktree are its project's. @throws {Error} one line */
export async function otherRoots(
  { roots: folders, state_dir }: Pick<UserConfig, "roots" | "state_dir">,
  root: string,
  home: string | undefined,
): Promise<readonly string[]> {
  const realHome = await realHomeOf(home);
  const base = await originOf(root, state_dir) ?? root;
  const found = await Promise.all(folders.map((folder) => usable(resolve(base, folder), realHome, "roots")));
  return [...new Set(found)].filter((path) => path !== root);
}

async function realHomeOf(home: string | undefined): Promise<string | undefined> {
  return home === undefined ? undefined : await Deno.realPath(home).catch(() => undefined);
}

/** The home folder and "/" are too large for a project. @param path a real one */
function isTooMuch(path: string, realHome: string | undefined): boolean {
  return path === dirname(path) || path === realHome;
}

async function usable(chosen: string, realHome: string | undefined, option: string): Promise<string> {
  const real = await Deno.realPath(chosen).catch(() => {
    throw new Error(
      `Cannot use ${chosen} as the project: the folder does not exist. Set the option ${option}.`,
    );
  });
  if (!(await Deno.stat(real)).isDirectory) {
    throw new Error(`Cannot use ${real} as the project: it is not a folder. Set the option ${option}.`);
  }
  if (isTooMuch(real, realHome)) {
    const what = real === realHome ? "your home folder" : "the whole system";
    throw new Error(
      `Cannot use ${real} as the project: the agent could change ${what}. Go to a folder or a file of a project first.`,
    );
  }
  return real;
}
