/**
 * The repository of which a project is the work tree, and git in it: fixed arguments, a clean environment and no hooks,
 * and the sandbox lets it write nothing but what it is told.
 */
import { basename, dirname, join, resolve } from "node:path";
import { visible } from "../screen/visible.ts";
import { findProgram } from "../system/sandbox.ts";
import { complaint, PLAIN_GIT, printed, run, type RunPlace, type Writes } from "../system/run.ts";

export interface BranchOptions {
  /** Real paths, the project first: only its repository is looked at. */
  readonly roots: readonly string[];
  /** False runs git without bubblewrap. */
  readonly sandboxed: boolean;
}

export type Found =
  | { readonly type: "repository"; readonly repository: Repository }
  /** Half a sentence. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "no_repository" };

/** The repository whose work tree the project's folder is. */
export async function ownRepository(git: Git): Promise<Found> {
  const { root, roots } = git;
  const info = await Deno.lstat(join(root, ".git")).catch(() => undefined);
  const isThere = info !== undefined;
  if (await findProgram("git", roots) === undefined) {
    return isThere ? { type: "refused", why: "git is not installed" } : { type: "no_repository" };
  }
  const top = await git.run(["rev-parse", "--show-toplevel"]);
  if (!isThere) {
    const why = `the project is a folder of the repository ${top.text}, all of which would be switched`;
    return top.code === 0 && top.text !== "" ? { type: "refused", why } : { type: "no_repository" };
  }
  if (top.code !== 0) return { type: "refused", why: `git says: ${top.complaint}` };
  const repository = await repositoryOf(root, info);
  return repository === undefined || top.text !== root
    ? { type: "refused", why: "its .git leads to a repository elsewhere, or is a submodule's" }
    : { type: "repository", repository };
}

export interface Repository {
  /** Folder of HEAD and of what goes on. */
  readonly own: string;
  /** Folder of branches, hooks and the configuration; the same but for a worktree. */
  readonly common: string;
}

/**
 * The repository of which this folder is the work tree. A `.git` that somebody has put there counts for nothing: of a
 * worktree, the repository itself has to say that it is one. Source: gitrepository-layout(5).
 */
async function repositoryOf(root: string, info: Deno.FileInfo): Promise<Repository | undefined> {
  const git = join(root, ".git");
  if (info.isDirectory) {
    return await exists(join(git, "commondir")) ? undefined : { own: git, common: git };
  }
  if (!info.isFile) return undefined;
  const [, named] = /^gitdir: (.+)\n?$/.exec(await textOf(git)) ?? [];
  const own = named === undefined
    ? undefined
    : await Deno.realPath(resolve(root, named)).catch(() => undefined);
  if (own === undefined) return undefined;
  const line = async (file: string) => resolve(own, (await textOf(join(own, file))).trimEnd());
  const common = await Deno.realPath(await line("commondir")).catch(() => undefined);
  const back = await Deno.realPath(await line("gitdir")).catch(() => undefined);
  const isIts = dirname(dirname(own)) === common && basename(dirname(own)) === "worktrees" && back === git;
  return isIts ? { own, common } : undefined;
}

/** What makes git run programs stays as it is. */
export async function writesOf({ common }: Repository): Promise<Writes> {
  const guarded: string[] = [];
  for (const name of ["hooks", "config"]) {
    if (await exists(join(common, name))) guarded.push(join(common, name));
  }
  return { bound: [common], guarded };
}

export interface Ran {
  readonly code: number;
  readonly text: string;
  readonly complaint: string;
}

export class Git {
  readonly root: string;
  readonly roots: readonly string[];
  readonly #place: RunPlace;
  readonly #plain: readonly string[];

  /** @param more arguments in front of every command */
  constructor({ roots, sandboxed }: BranchOptions, more: readonly string[] = []) {
    const [root = ""] = roots;
    this.root = root;
    this.roots = roots;
    this.#place = { root, roots, sandboxed };
    this.#plain = [...PLAIN_GIT, ...more];
  }

  /** Lines that it prints, joined. @param longest milliseconds */
  async run(args: readonly string[], writes?: Writes, longest?: number): Promise<Ran> {
    const lines: string[] = [];
    const place = {
      ...this.#place,
      ...(writes === undefined ? {} : { writes }),
      ...(longest === undefined ? {} : { longest }),
    };
    const { signal } = new AbortController();
    const { code, stderr } = await run("git", [...this.#plain, ...args], place, signal, (line) => {
      lines.push(line);
      return true;
    });
    return { code, text: lines.join("\n"), complaint: visible(complaint(stderr)) };
  }

  /** Undefined if it fails, or prints more. */
  async bytes(args: readonly string[], most: number): Promise<Uint8Array | undefined> {
    return await printed("git", [...this.#plain, ...args], this.#place, most);
  }
}

async function textOf(path: string): Promise<string> {
  return await Deno.readTextFile(path).catch(() => "");
}

export async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
