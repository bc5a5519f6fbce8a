/**
 * Creates a branch for each session. git gets fixed arguments, a clean environment and no hooks, and the
 * sandbox lets it write only the repository's own folder: a new branch at HEAD changes no file.
 */
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { type BranchOptions, exists, Git, ownRepository, writesOf } from "./repository.ts";

type MadeBranch =
  | { readonly type: "made"; readonly branch: string }
  /** Half a sentence. */
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "no_repository" };

/** Words and characters of the message in a branch's name. */
const MOST_WORDS = 5;
const MOST_CHARACTERS = 32;

/** Files in the repository's folder during an operation that owns HEAD. Source: gitrepository-layout(5). */
const GOES_ON: Readonly<Record<string, string>> = {
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
  MERGE_HEAD: "a merge",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  BISECT_LOG: "a bisect",
  // Otherwise the branch would be created but not checked out.
  "HEAD.lock": "another git command",
};

/**
 * `<prefix><date>-<first words>-<4 characters>`; without the words if the text has no ASCII letters or
 * digits.
 */
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

/** Creates the branch and switches to it; changes in the work tree stay. Never throws. */
export async function makeBranch(name: string, options: BranchOptions): Promise<MadeBranch> {
  try {
    return await make(name, new Git(options));
  } catch (error) {
    return { type: "refused", why: `git failed: ${messageOf(error)}` };
  }
}

/** The current branch; undefined with a detached HEAD, or if git fails. Never throws. */
export async function checkedOut(options: BranchOptions): Promise<string | undefined> {
  const { text } = await new Git(options).run(["symbolic-ref", "--quiet", "--short", "HEAD"])
    .catch(() => ({ text: "" }));
  return text === "" ? undefined : text;
}

async function make(name: string, git: Git): Promise<MadeBranch> {
  const found = await ownRepository(git);
  if (found.type !== "repository") return found;
  const { repository } = found;
  for (const [file, what] of Object.entries(GOES_ON)) {
    if (await exists(join(repository.own, file))) return { type: "refused", why: `${what} is in progress` };
  }
  const before = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  if (before.code !== 0) return { type: "refused", why: "HEAD is detached" };
  if ((await git.run(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])).code !== 0) {
    return { type: "refused", why: "the repository has no commit yet" };
  }
  const direct = { writes: await writesOf(repository), direct: true };
  // Git reads no file, so no filter runs. The branch must be new.
  const branch = `refs/heads/${name}`;
  // `git switch -` reads this.
  const moved = `checkout: moving from ${before.text} to ${name}`;
  const steps = [["update-ref", branch, "HEAD", ""], ["symbolic-ref", "-m", moved, "HEAD", branch]];
  for (const args of steps) {
    const { code, complaint } = await git.run(args, direct);
    if (code !== 0) return { type: "refused", why: `git says: ${complaint}` };
  }
  return { type: "made", branch: name };
}
