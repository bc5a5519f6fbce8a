/**
 * Guards the parts of a repository that make git run programs, while commands can write the rest: hooks, the
 * configuration, and the file `commondir`, which moves both elsewhere. Missing parts are created, so that
 * they can be mounted read-only, and removed afterwards. Source: gitrepository-layout(5), githooks(5).
 */
import { join, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { CommandLevel } from "../../protocol/commands.ts";
import { entriesOf, statOf, textOf } from "./folder_tree.ts";
import { gitFinds, gitFoldersBelow, namedBy, OBEYED } from "./folders.ts";
import { CommandNotes, type Made } from "./notes.ts";
import { sweepGit } from "./sweep.ts";

export interface GitGuard {
  /** Writable mounts, which cannot be moved away together with their guarded parts. */
  readonly bound: readonly string[];
  /** Read-only paths inside of those. */
  readonly guarded: readonly string[];
  /**
   * Call this once after the command, even if it never started. Removes what was created for the mounts, and
   * sets aside what git would run. Returns the undone changes, one line each.
   */
  sweep(): Promise<readonly string[]>;
}

/** Interval of scans while a command runs; longer in large projects. */
const PAUSE_MS = 2_000;
const MOST_SHARE = 20;
/** Characters of a `.git` file. */
const LARGEST_LINK = 10_000;

const nothing = () => Promise.resolve([]);

/**
 * @param root real path
 * @param state the supervisor's folder, which is hidden from commands
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
 * Paths of git that a command over an overlay can write. Its changes there are always dropped: level "try"
 * writes to a separate layer, if they are outside of the roots.
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

/** Undoes the changes of a command whose supervisor crashed. Returns the undone changes, one line each. */
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

/** One guard for each root; if one fails, the others are removed again. */
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

/** Scans repeatedly until it is stopped, and then once more. */
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
 * Follows no link, and no file that merely claims to belong elsewhere, because a command could have created
 * it. For a linked worktree or a submodule, the other side, which commands cannot write, must point back.
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
  // A worktree of a command would vanish with the sandbox, or be in a read-only place.
  const worktrees = join(common, "worktrees");
  guarded.push(worktrees);
  if (statOf(worktrees) === undefined) made.push({ path: worktrees, type: "folder" });
  for (const folder of open) {
    const names = isWorktree(folder) ? [...OBEYED.slice(1), "gitdir"] : [...OBEYED, "hooks"];
    for (const name of names) {
      const path = join(folder, name);
      guarded.push(path);
      if (statOf(path) !== undefined) continue;
      // Git rejects an empty file.
      const text = name === "commondir" ? "." : "";
      made.push(name === "hooks" ? { path, type: "folder" } : { path, type: "file", text });
    }
  }
  return { bound: [...new Set([...parents(common), ...open])], guarded, made };
}

/** The repository and its folders with further repositories: without a mount, one could be moved away. */
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
