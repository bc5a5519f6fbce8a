/** Finds the project of a folder. lua/agent/projects.lua finds the same one, so that both share its sessions. */
import { dirname, join } from "node:path";
import { isInside } from "../policy/path.ts";
import facts from "../protocol/options.json" with { type: "json" };

interface ProjectPlace {
  /** Absolute. */
  readonly cwd: string;
  /** The option `root`, absolute. */
  readonly chosen: string | undefined;
  readonly stateDir: string;
  readonly home: string | undefined;
}

/** The project's folder; the folder itself if it belongs to none. @throws {Error} one line, if it does not exist */
export async function projectRoot({ cwd, chosen, stateDir, home }: ProjectPlace): Promise<string> {
  const real = await Deno.realPath(cwd).catch(() => {
    throw new Error(`Cannot work in ${cwd}: the folder does not exist.`);
  });
  const worktree = worktreeOf(real, await Deno.realPath(stateDir).catch(() => stateDir));
  if (worktree !== undefined || chosen !== undefined) return worktree ?? chosen ?? real;
  const realHome = home && await Deno.realPath(home).catch(() => home);
  for (const markers of facts.root_markers) {
    for (let folder = real; folder !== dirname(folder); folder = dirname(folder)) {
      // The home folder is no project, even if it contains a repository: dotfiles often do.
      if (folder !== realHome && await hasAny(folder, markers)) return folder;
    }
  }
  return real;
}

/** See worktree_place.ts. */
function worktreeOf(folder: string, stateDir: string): string | undefined {
  const all = join(stateDir, "worktrees");
  if (folder === all || !isInside(folder, all)) return undefined;
  const [project, name] = folder.slice(all.length + 1).split("/");
  return project !== undefined && name !== undefined ? join(all, project, name) : undefined;
}

async function hasAny(folder: string, names: readonly string[]): Promise<boolean> {
  const found = await Promise.all(
    names.map((name) => Deno.lstat(join(folder, name)).then(() => true, () => false)),
  );
  return found.includes(true);
}
