/**
 * What of a repository makes git run programs, guarded while commands may write the rest: hooks, the configuration,
 * and the file `commondir`, which moves both elsewhere. Source: gitrepository-layout(5), githooks(5).
 */
import { join } from "node:path";
import type { CommandLevel } from "../protocol/commands.ts";

export interface GitGuard {
  /** Mounted on themselves, so that nobody can move them away from under their guarded parts. */
  readonly bound: readonly string[];
  /** Read-only. */
  readonly guarded: readonly string[];
  /** Removes what was made beside the guarded parts; what it was, one line each. Call it after the command. */
  sweep(): Promise<readonly string[]>;
}

const NOTHING: GitGuard = { bound: [], guarded: [], sweep: () => Promise.resolve([]) };

export async function gitGuard(root: string, level: CommandLevel, _state: string): Promise<GitGuard> {
  const git = join(root, ".git");
  const info = await Deno.lstat(git).catch(() => undefined);
  if (info === undefined || info.isSymlink) return NOTHING;
  if (level !== "git") return { ...NOTHING, guarded: [git] };
  // A worktree or submodule: the file says where its repository is.
  if (!info.isDirectory) return { ...NOTHING, guarded: [git] };
  // Only what is there can be mounted read-only.
  await Deno.mkdir(join(git, "hooks"), { recursive: true }).catch(() => {});
  const guarded: string[] = [];
  for (
    const path of [
      ...["hooks", "config"].map((name) => join(git, name)),
      ...await below(join(git, "modules")),
    ]
  ) {
    if (await exists(path)) guarded.push(path);
  }
  const unwanted = ["commondir", "config.worktree"].map((name) => join(git, name));
  const before = new Set<string>();
  for (const path of unwanted) if (await exists(path)) before.add(path);
  return {
    bound: [git],
    guarded: [...guarded, ...before],
    async sweep() {
      const removed: string[] = [];
      for (const path of unwanted) {
        if (before.has(path) || !await exists(path)) continue;
        await Deno.remove(path, { recursive: true }).catch(() => {});
        removed.push(
          `${path.slice(root.length + 1)} was removed: it would move git's hooks and configuration`,
        );
      }
      return removed;
    },
  };
}

export function mergeGuards(guards: readonly GitGuard[]): GitGuard {
  return {
    bound: guards.flatMap(({ bound }) => bound),
    guarded: guards.flatMap(({ guarded }) => guarded),
    sweep: async () => (await Promise.all(guards.map((guard) => guard.sweep()))).flat(),
  };
}

/** Hooks and configurations of submodules, whose repositories are kept below. */
async function below(folder: string, depth = 4): Promise<readonly string[]> {
  const found: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      const path = join(folder, entry.name);
      if (entry.name === "hooks" || entry.name === "config") found.push(path);
      else if (entry.isDirectory && depth > 0 && !["objects", "refs", "logs"].includes(entry.name)) {
        found.push(...await below(path, depth - 1));
      }
    }
  } catch {
    // There are none.
  }
  return found;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
