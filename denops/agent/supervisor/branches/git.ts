/**
 * A branch of its own for each session. git gets fixed arguments, a clean environment and no hooks, and the sandbox
 * lets it write nothing but the repository's own folder: a new branch where HEAD is changes no file.
 */
import { basename, dirname, join, resolve } from "node:path";
import { visible } from "../screen/visible.ts";
import { findProgram } from "../system/sandbox.ts";
import { complaint, PLAIN_GIT, run, type Writes } from "../system/run.ts";

export interface BranchOptions {
  /** Real paths, the project first: only its repository gets a branch. */
  readonly roots: readonly string[];
  /** False runs git without bubblewrap. */
  readonly sandboxed: boolean;
}

export type MadeBranch =
  | { readonly type: "made"; readonly branch: string }
  /** Half a sentence. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "no_repository" };

/** Words and characters of the message in a branch's name. */
const MOST_WORDS = 5;
const MOST_CHARACTERS = 32;

/** What lies in the repository's folder while something goes on that owns HEAD. Source: gitrepository-layout(5). */
const GOES_ON: Readonly<Record<string, string>> = {
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
  MERGE_HEAD: "a merge",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  BISECT_LOG: "a bisect",
  // Else the branch would be made, and not checked out.
  "HEAD.lock": "another git command",
};

/** `<prefix><date>-<first words>-<4 characters>`; the words are left out where they have no ASCII letter or digit. */
export function branchName(prefix: string, text: string, now: Date, mark: string): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const [line = ""] = text.trim().split("\n");
  const plain = line.normalize("NFKD").replaceAll(/[\p{M}'’]/gu, "").toLowerCase();
  let slug = "";
  for (const word of (plain.match(/[a-z0-9]+/g) ?? []).slice(0, MOST_WORDS)) {
    if (slug !== "" && slug.length + word.length >= MOST_CHARACTERS) break;
    slug += `${word.slice(0, MOST_CHARACTERS)}-`;
  }
  return `${prefix}${date}-${slug}${mark}`;
}

/** Makes the branch and switches to it; what has changed in the work tree stays as it is. Never throws. */
export async function makeBranch(name: string, options: BranchOptions): Promise<MadeBranch> {
  try {
    return await make(name, new Git(options));
  } catch (error) {
    return { type: "refused", why: `git failed: ${error instanceof Error ? error.message : error}` };
  }
}

/** The branch that is checked out; undefined with a detached HEAD, or where git does not say. Never throws. */
export async function checkedOut(options: BranchOptions): Promise<string | undefined> {
  const { text } = await new Git(options).run(["symbolic-ref", "--quiet", "--short", "HEAD"])
    .catch(() => ({ text: "" }));
  return text === "" ? undefined : text;
}

async function make(name: string, git: Git): Promise<MadeBranch> {
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
  if (repository === undefined || top.text !== root) {
    return { type: "refused", why: "its .git leads to a repository elsewhere, or is a submodule's" };
  }
  for (const [file, what] of Object.entries(GOES_ON)) {
    if (await exists(join(repository.own, file))) return { type: "refused", why: `${what} is in progress` };
  }
  if ((await git.run(["symbolic-ref", "--quiet", "HEAD"])).code !== 0) {
    return { type: "refused", why: "HEAD is detached" };
  }
  if ((await git.run(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])).code !== 0) {
    return { type: "refused", why: "the repository has no commit yet" };
  }
  const switched = await git.run(SWITCH(name), await writesOf(repository));
  if (switched.code !== 0) return { type: "refused", why: `git says: ${switched.complaint}` };
  return { type: "made", branch: name };
}

/** Where HEAD is: nothing is checked out, and nothing written into the configuration. */
const SWITCH = (name: string) => ["switch", "--quiet", "--no-guess", "--no-track", "-c", name];

interface Repository {
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
async function writesOf({ common }: Repository): Promise<Writes> {
  const guarded: string[] = [];
  for (const name of ["hooks", "config"]) {
    if (await exists(join(common, name))) guarded.push(join(common, name));
  }
  return { bound: [common], guarded };
}

class Git {
  readonly root: string;
  readonly roots: readonly string[];
  readonly #sandboxed: boolean;

  constructor({ roots, sandboxed }: BranchOptions) {
    const [root = ""] = roots;
    this.root = root;
    this.roots = roots;
    this.#sandboxed = sandboxed;
  }

  async run(
    args: readonly string[],
    writes?: Writes,
  ): Promise<{ code: number; text: string; complaint: string }> {
    const lines: string[] = [];
    const place = {
      root: this.root,
      roots: this.roots,
      sandboxed: this.#sandboxed,
      ...(writes === undefined ? {} : { writes }),
    };
    const { signal } = new AbortController();
    const { code, stderr } = await run("git", [...PLAIN_GIT, ...args], place, signal, (line) => {
      lines.push(line);
      return true;
    });
    return { code, text: lines.join("\n"), complaint: visible(complaint(stderr)) };
  }
}

async function textOf(path: string): Promise<string> {
  return await Deno.readTextFile(path).catch(() => "");
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
