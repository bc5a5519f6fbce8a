/**
 * The project of a file: the nearest folder with a .git, else with a manifest, else the working folder. What lies in
 * the home folder or in "/" itself makes neither a project: dotfiles are kept in repositories too.
 */
import { dirname, join, resolve } from "node:path";
import type { UserConfig } from "../../protocol/config.ts";
import { originOf } from "../system/worktree_place.ts";

const MANIFESTS = [
  "package.json",
  "deno.json",
  "deno.jsonc",
  "Cargo.toml",
  "go.mod",
  "pyproject.toml",
  "setup.py",
  "Makefile",
  "CMakeLists.txt",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "Gemfile",
  "composer.json",
  "mix.exs",
  "flake.nix",
];

export interface RootQuery {
  readonly folder: string;
  readonly cwd: string;
  readonly root?: string | undefined;
}

/**
 * The real path of the project's folder.
 * @throws {Error} one line, if there is no such folder or if it would be the whole home folder or system.
 */
export async function findRoot({ folder, cwd, root }: RootQuery, home: string | undefined): Promise<string> {
  const realHome = await realHomeOf(home);
  const find = (start: string, names: readonly string[]) => nearest(start, names, realHome);
  const chosen = root ??
    await find(folder, [".git"]) ?? await find(cwd, [".git"]) ??
    await find(folder, MANIFESTS) ?? await find(cwd, MANIFESTS) ?? cwd;
  return await usable(chosen, realHome, "root");
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

/** The home folder and "/" are too much for a project. @param path a real one */
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
      `Cannot use ${real} as the project: the agent could change ${what}. Open a file of a project first.`,
    );
  }
  return real;
}

async function nearest(
  start: string,
  names: readonly string[],
  realHome: string | undefined,
): Promise<string | undefined> {
  for (let folder = resolve(start);; folder = dirname(folder)) {
    for (const name of names) {
      if (!await exists(join(folder, name))) continue;
      if (!isTooMuch(await Deno.realPath(folder), realHome)) return folder;
    }
    if (folder === dirname(folder)) return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch {
    return false;
  }
}
