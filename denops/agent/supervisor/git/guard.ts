/**
 * What of a repository makes git run programs, guarded while commands may write the rest: hooks, the configuration,
 * and the file `commondir`, which moves both elsewhere. What is missing of them is created, so that it can be mounted
 * read-only, and removed afterwards. Source: gitrepository-layout(5), githooks(5).
 */
import { join, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { CommandLevel } from "../../protocol/commands.ts";
import { entriesOf, statOf, textOf } from "./folder_tree.ts";
import { gitFinds, gitFoldersBelow, namedBy, OBEYED } from "./folders.ts";
import { CommandNotes, type Made } from "./notes.ts";
import { sweepGit } from "./sweep.ts";

export interface GitGuard {
  /** Writable, mounted on themselves: nobody can move them away from under their guarded parts. */
  readonly bound: readonly string[];
  /** Read-only, inside of those. */
  readonly guarded: readonly string[];
  /**
   * To be called once, after the command, also if it was never started: removes what was made for the mounts, and puts
   * aside what the command has left for git to run. Changes that were undone, one line each.
   */
  sweep(): Promise<readonly string[]>;
}

/** While a command runs, the project is looked at so often; in large ones less. */
const PAUSE_MS = 2_000;
const MOST_SHARE = 20;
/** Characters of a file `.git`. */
const LARGEST_LINK = 10_000;

const nothing = () => Promise.resolve([]);

/**
 * @param root real path
 * @param state the supervisor's folder, which commands do not see
 * @param roots all of the workspace
 */
async function gitGuard(
  root: string,
  level: CommandLevel,
  state: string,
  roots: readonly string[] = [root],
): Promise<GitGuard> {
  const place = gitPlace(root);
  const common = place.type === "linked" ? [place.common] : [];
  if (level === "look") return { bound: [], guarded: common, sweep: nothing };
  const messages = await sweepAfterCrash(root, state, roots);
  const { bound, guarded, made } = level === "git"
    ? gitMounts(place)
    : { bound: [], guarded: readOnly(place), made: [] };
  const own = place.type === "none" ? [] : [place.common];
  const before = await gitFinds(root, own);
  const commandNotes = await CommandNotes.of(root, state);
  const note = await commandNotes.begin({ root, own: [...own], before, made: [...made] }, guarded);
  const watch = new Watch(async () => {
    messages.push(...await sweepGit(before, { root, roots, own, state }));
  });
  return {
    bound,
    guarded: guarded.filter((path) => statOf(path) !== undefined),
    async sweep() {
      await watch.end().catch((error) => {
        messages.push(`the project could not be looked through for what git would run: ${error.message}`);
      });
      await note[Symbol.asyncDispose]();
      return [...new Set(messages)];
    },
  };
}

/**
 * Of a command over an overlay nothing stays in `.git`: level "try" writes it, as a layer of its own where it lies
 * outside of the roots.
 */
export function gitOverlaid(
  roots: readonly string[],
  level: CommandLevel,
): Pick<GitGuard, "bound" | "guarded"> {
  const places = roots.map((root) => gitPlace(root));
  if (level !== "try") return { bound: [], guarded: places.flatMap((place) => readOnly(place)) };
  const common = places.flatMap((place) => place.type === "linked" ? [place.common] : []);
  return {
    bound: [...new Set(common)].filter((path) => !roots.some((root) => isInside(path, root))),
    guarded: [],
  };
}

/** What a command that the end of its supervisor has cut off has left behind. Changes that were undone, one line each. */
export async function sweepAfterCrash(
  root: string,
  state: string,
  roots: readonly string[] = [root],
): Promise<string[]> {
  const notes: string[] = [];
  await (await CommandNotes.of(root, state)).takeLeft(async ({ root, own, before }) => {
    notes.push(...await sweepGit(before, { root, roots, own, state }));
  });
  return notes;
}

/** One for each root; if one cannot be, what the others have made is removed again. */
export async function gitGuards(
  roots: readonly string[],
  level: CommandLevel,
  state: string,
): Promise<GitGuard> {
  const made = await Promise.allSettled(roots.map((root) => gitGuard(root, level, state, roots)));
  const guard = mergeGuards(made.flatMap((one) => one.status === "fulfilled" ? [one.value] : []));
  const failed = made.find((one) => one.status === "rejected");
  if (failed === undefined) return guard;
  await guard.sweep();
  throw failed.reason;
}

function mergeGuards(guards: readonly GitGuard[]): GitGuard {
  return {
    bound: guards.flatMap(({ bound }) => bound),
    guarded: guards.flatMap(({ guarded }) => guarded),
    sweep: async () => (await Promise.all(guards.map((guard) => guard.sweep()))).flat(),
  };
}

/** Looks again and again until it is ended, and then once more. */
class Watch {
  readonly #look: () => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(look: () => Promise<void>) {
    this.#look = look;
    this.#wait(PAUSE_MS);
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
    clearTimeout(this.#timer);
    await this.#look();
  }

  #wait(pause: number): void {
    this.#timer = setTimeout(() => {
      const since = performance.now();
      this.#looking = this.#look().catch(() => {}).finally(() =>
        this.#wait(Math.max(PAUSE_MS, (performance.now() - since) * MOST_SHARE))
      );
    }, pause);
    Deno.unrefTimer(Number(this.#timer));
  }
}

type GitPlace =
  | { readonly type: "none" }
  | { readonly type: "folder"; readonly common: string }
  /** A linked worktree or a submodule: `file` names `own`, which shares `common` with others. */
  | { readonly type: "linked"; readonly file: string; readonly own: string; readonly common: string };

/**
 * A link is not followed, nor a file that only says that it belongs elsewhere: a command could have made it. Of a
 * linked worktree or a submodule the other side, which commands cannot write, must name it too.
 */
function gitPlace(root: string): GitPlace {
  const git = join(root, ".git");
  const info = statOf(git);
  if (info?.isDirectory) return { type: "folder", common: git };
  const own = info?.isFile ? namedBy(git, textOf(git, LARGEST_LINK)) : undefined;
  if (own === undefined) return { type: "none" };
  const back = textOf(join(own, "gitdir"), LARGEST_LINK)?.trim();
  const shared = textOf(join(own, "commondir"), LARGEST_LINK)?.trim();
  if (back !== undefined && shared !== undefined) {
    const common = real(resolve(own, shared));
    const isWorktree = common !== undefined && own.startsWith(join(common, "worktrees") + "/");
    return isWorktree && real(resolve(own, back)) === git
      ? { type: "linked", file: git, own, common }
      : { type: "none" };
  }
  const [, tree] = /^[ \t]*worktree[ \t]*=(.*)$/mi.exec(textOf(join(own, "config"), 1_000_000) ?? "") ?? [];
  const isModule = tree !== undefined && real(resolve(own, tree.trim().replace(/^"|"$/g, ""))) === root;
  return isModule ? { type: "linked", file: git, own, common: own } : { type: "none" };
}

function real(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}

function readOnly(place: GitPlace): readonly string[] {
  if (place.type === "none") return [];
  return place.type === "folder" ? [place.common] : [place.file, place.common];
}

interface Mounts {
  readonly bound: readonly string[];
  readonly guarded: readonly string[];
  readonly made: readonly Made[];
}

function gitMounts(place: GitPlace): Mounts {
  if (place.type === "none") return { bound: [], guarded: [], made: [] };
  const { common } = place;
  const own = place.type === "linked" ? place.own : common;
  const below = gitFoldersBelow(common);
  const isWorktree = (folder: string) => /[\\/]worktrees[\\/][^\\/]+$/.test(folder);
  // A command must not change the data of other worktrees.
  const others = below.filter((folder) => isWorktree(folder) && folder !== own);
  const open = [common, ...below.filter((folder) => !others.includes(folder))];
  const guarded = [...(place.type === "linked" ? [place.file] : []), ...others];
  const made: Made[] = [];
  // A work tree that a command makes would be lost with the sandbox, or stand where commands may not write.
  const worktrees = join(common, "worktrees");
  guarded.push(worktrees);
  if (statOf(worktrees) === undefined) made.push({ path: worktrees, type: "folder" });
  for (const folder of open) {
    const names = isWorktree(folder) ? [...OBEYED.slice(1), "gitdir"] : [...OBEYED, "hooks"];
    for (const name of names) {
      const path = join(folder, name);
      guarded.push(path);
      if (statOf(path) !== undefined) continue;
      // Git refuses an empty one.
      const text = name === "commondir" ? "." : "";
      made.push(name === "hooks" ? { path, type: "folder" } : { path, type: "file", text });
    }
  }
  return { bound: [...new Set([...parents(common), ...open])], guarded, made };
}

/** The repository and the folders that hold others: one that is not mounted could be moved away. */
function parents(common: string): readonly string[] {
  const found = [common];
  for (const name of ["modules", "worktrees"]) {
    const top = join(common, name);
    if (statOf(top)?.isDirectory) found.push(top);
  }
  // A submodule's name may have slashes.
  for (const folder of found.slice(1)) {
    if (folder.endsWith("worktrees")) continue;
    for (const { name, isDirectory } of entriesOf(folder)) {
      const path = join(folder, name);
      if (isDirectory && statOf(join(path, "HEAD")) === undefined) found.push(path);
    }
  }
  return found;
}
