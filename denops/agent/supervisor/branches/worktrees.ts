/**
 * Worktrees of sessions, in the state folder, where only their own engine can access them. Git runs no hooks
 * or filters and has no network: files are checked out as stored in the repository, with the line endings and
 * encodings of their attributes.
 */
import { basename, join } from "node:path";
import * as z from "../../deps/zod.ts";
import type { ReadOptions } from "../../policy/file_access.ts";
import type { Merge, ShownWorktree } from "../../protocol/worktrees.ts";
import { visible } from "../screen/visible.ts";
import { makeWorktreesFolder, originOf, worktreesOf } from "../system/worktree_place.ts";
import type { Repository } from "../system/git/repository.ts";
import { messageOf } from "../../shared/errors.ts";
import { type BranchOptions, exists, Git, ownRepository, writesOf } from "./repository.ts";
import { baseOf, lossOf, mergeOf, type WorktreeLoss } from "./worktree_changes.ts";
import { digestOf, type DiskListing, listDisk, recoverWorktrees, removeListed } from "./worktree_disk.ts";
import { fillWorktree, LONGEST_CHECKOUT_MS } from "./worktree_fill.ts";

export interface WorktreeOptions extends BranchOptions {
  readonly stateDir: string;
  /** Prefix of branches; "agent/" by default. */
  readonly prefix: string | undefined;
}

interface MadeWorktree {
  readonly name: string;
  readonly path: string;
  /** The project's folder. */
  readonly origin: string;
  readonly branch: string;
  /** Whether it already existed. */
  readonly known: boolean;
  /** Files of the project with uncommitted changes, which the worktree does not contain. */
  readonly uncommitted: number;
  /** Names of filters in the attributes of some files, which were not applied. */
  readonly filters: readonly string[];
  /** Paths of submodules, which are empty folders. */
  readonly submodules: readonly string[];
}

type Removed =
  /** `branch`: was kept, because it has these commits. */
  | { readonly removed: true; readonly branch?: string; readonly commits: number }
  /** Files would be lost. `listing`: passed to the next call, it permits the loss of exactly these. */
  | { readonly removed: false; readonly listing: string } & WorktreeLoss & Pick<ShownWorktree, "commits">;

/** The state of a worktree at one time. */
interface WorktreeLook {
  readonly view: ShownWorktree;
  /** Created before the files were compared. */
  readonly listing: DiskListing;
}

/** Texts by path. */
const LastMerged = z.record(z.string(), z.string());

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,59}$/;
const MOST_NAMES = 1_000;
/** Attempts, because a process may write until it has stopped. */
const MOST_TRIES = 3;
/** Paths in one call of git. */
const MOST_ARGUMENTS = 500;

/** A project with its worktrees. */
export class Worktrees {
  readonly #origin: string;
  readonly #here: string | undefined;
  /** The folder of all worktrees. */
  readonly #folder: string;
  readonly #git: Git;
  readonly #repository: Repository;
  readonly #options: WorktreeOptions;

  private constructor(
    at: { readonly origin: string; readonly here: string | undefined; readonly folder: string },
    git: { readonly git: Git; readonly repository: Repository },
    options: WorktreeOptions,
  ) {
    this.#origin = at.origin;
    this.#here = at.here;
    this.#folder = at.folder;
    this.#git = git.git;
    this.#repository = git.repository;
    this.#options = options;
  }

  /** @param input a project, or one of its worktrees @throws {Error} one line */
  static async of(input: WorktreeOptions): Promise<Worktrees> {
    const [root = ""] = input.roots;
    const origin = await originOf(root, input.stateDir) ?? root;
    const here = origin === root ? undefined : basename(root);
    const folder = await worktreesOf(origin, input.stateDir);
    const options = { ...input, roots: [origin, ...input.roots.slice(1)] };
    const git = new Git(options);
    const found = await ownRepository(git);
    if (found.type !== "repository") {
      const why = found.type === "refused" ? found.why : "the project is not in a git repository";
      throw new Error(`Cannot use worktrees: ${why}.`);
    }
    return new Worktrees({ origin, here, folder }, { git, repository: found.repository }, options);
  }

  get origin(): string {
    return this.#origin;
  }

  /** Name of the current worktree. */
  get here(): string | undefined {
    return this.#here;
  }

  /** @throws {Error} one line */
  async make(wanted: string | undefined): Promise<MadeWorktree> {
    const name = wanted ?? await this.#free();
    if (!isName(name)) {
      throw new Error(`Cannot make the worktree ${visible(name)}: use letters, digits, ".", "_", "-".`);
    }
    const path = join(this.#folder, name);
    const branch = this.#branch(name);
    const made = { name, path, origin: this.#origin, branch, filters: [], submodules: [] };
    if (await exists(path)) {
      const { view } = await this.#look(name);
      return { ...made, branch: view.branch ?? "no branch", known: true, uncommitted: 0 };
    }
    const cannot = (why: string) => new Error(`Cannot make the worktree ${name}: ${why}.`);
    if (await this.#commit(this.#git, "HEAD") === undefined) throw cannot("the repository has no commit yet");
    if (await this.#commit(this.#git, `refs/heads/${branch}`) !== undefined) {
      throw cannot(`the branch ${branch} is there already. Choose another name`);
    }
    await makeWorktreesFolder(this.#origin, this.#folder);
    const add = ["worktree", "add", "--quiet", "--no-checkout", "--no-track", "-b", branch, path, "HEAD"];
    const added = await this.#git.run(add, { writes: await this.#writes(), direct: true });
    const filled = added.code === 0
      ? await fillWorktree(await this.#in(name), this.#repository.common, await this.#writes())
      : added;
    if ("complaint" in filled) {
      await this.#discard(path).catch(() => {});
      await this.#dropBranch(branch, await this.#commit(this.#git, "HEAD") ?? "");
      throw cannot(`git says: ${filled.complaint}`);
    }
    const status = ["status", "--porcelain=v1", "--untracked-files=normal", "--no-renames"];
    const { text } = await this.#git.run([...status, "--ignore-submodules=all"]);
    const uncommitted = text === "" ? 0 : text.split("\n").length;
    return { ...made, ...filled, known: false, uncommitted };
  }

  /** The existing worktrees, by name. @throws {Error} one line */
  async list(): Promise<readonly ShownWorktree[]> {
    const rows: ShownWorktree[] = [];
    for (const name of await this.#names()) {
      const unknown = { name, path: this.path(name), files: 0, ignored: 0, size: 0, commits: 0 };
      rows.push(await this.#look(name).then(({ view }) => view, () => unknown));
    }
    return rows;
  }

  /** Git in a worktree, and the commit where it branched off the project. @throws {Error} one line */
  async #base(name: string): Promise<{ readonly git: Git; readonly commit: string }> {
    const git = await this.#in(name);
    return { git, commit: await baseOf(git, await this.#commit(this.#git, "HEAD"), name) };
  }

  /**
   * Removes a worktree, and its branch if that has no commits of its own. Files that are created or changed
   * meanwhile stay.
   * @param consent the listing of files that may be lost @param stop ends the processes in it @throws {Error}
   * one line
   */
  async remove(name: string, consent: string | undefined, stop: () => Promise<void>): Promise<Removed> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const git = await this.#in(name);
      const head = await this.#commit(git, "HEAD") ?? "";
      const { view, listing } = await this.#look(name);
      const digest = await digestOf(listing);
      const { files, ignored, size, commits, branch } = view;
      if (files + ignored > 0 && digest !== consent) {
        return { removed: false, listing: digest, files, ignored, size, commits };
      }
      await stop();
      await this.#checkRemovable(name, git);
      if (!await this.#removeFiles(name, listing)) continue;
      await this.#forget(git.root);
      await Deno.remove(this.#merged(name)).catch(() => {});
      const own = this.#branch(name);
      if (branch === own && commits === 0) await this.#dropBranch(own, head);
      return { removed: true, commits, ...(branch === undefined || commits === 0 ? {} : { branch }) };
    }
    throw new Error(`Cannot remove the worktree ${name}: files keep changing there. Stop what writes them.`);
  }

  /** @throws {Error} one line if commits would be lost, or if the user has locked it */
  async #checkRemovable(name: string, git: Git): Promise<void> {
    const cannot = (why: string) => new Error(`Cannot remove the worktree ${name}: ${why}`);
    const found = await ownRepository(git);
    if (found.type === "repository" && await exists(join(found.repository.own, "locked"))) {
      throw cannot(`it is locked. Unlock it: git worktree unlock ${git.root}.`);
    }
    const branch = await git.run(["symbolic-ref", "--quiet", "HEAD"]);
    const lost = await git.run(["rev-list", "--count", "HEAD", "--not", "--branches", "--remotes", "--tags"]);
    if (branch.code === 0 || lost.text === "0") return;
    throw cannot(`it has commits that no branch has. Make one: git -C ${git.root} switch -c BRANCH.`);
  }

  /** @returns false if the files have changed since the listing @throws {Error} one line */
  async #removeFiles(name: string, listing: DiskListing): Promise<boolean> {
    try {
      if (await removeListed(this.path(name), listing)) return true;
    } catch (error) {
      await this.#refill(name, listing);
      const why = messageOf(error);
      throw new Error(`Cannot remove the worktree ${name}: ${why}.`);
    }
    await this.#refill(name, listing);
    return false;
  }

  /** Checks out the files that an aborted removal had deleted. */
  async #refill(name: string, listing: DiskListing): Promise<void> {
    const now = await listDisk(this.path(name));
    const missing = [...listing.keys()].filter((path) => !now.has(path));
    const options = { writes: await this.#writes(), longest: LONGEST_CHECKOUT_MS };
    for (let at = 0; at < missing.length; at += MOST_ARGUMENTS) {
      const paths = missing.slice(at, at + MOST_ARGUMENTS);
      await (await this.#in(name)).run(["checkout-index", "--quiet", "--", ...paths], options);
    }
  }

  /**
   * Stores what is merged, so that the same lines can be merged again later.
   * @throws {Error} one line
   */
  async merge(wanted: string, rules: ReadOptions): Promise<Merge> {
    const name = await this.name(wanted);
    const known = await Deno.readTextFile(this.#merged(name)).then(JSON.parse).catch(() => undefined);
    const last = new Map(Object.entries(LastMerged.safeParse(known).data ?? {}));
    const merge = await mergeOf(name, await this.#base(name), rules, last);
    const texts = merge.files.flatMap(({ path, theirs }) => theirs === undefined ? [] : [[path, theirs]]);
    await Deno.writeTextFile(this.#merged(name), JSON.stringify(Object.fromEntries(texts)), { mode: 0o600 });
    return merge;
  }

  #merged(name: string): string {
    return join(this.#folder, `.${name}.merged`);
  }

  /** The folder of a worktree, which may not exist. @throws {Error} one line */
  path(name: string): string {
    if (!isName(name)) throw new Error(`No worktree has the name ${visible(name)}.`);
    return join(this.#folder, name);
  }

  /** Finds a worktree by name. @throws {Error} one line: the existing ones */
  async name(wanted: string | undefined): Promise<string> {
    const names = await this.#names();
    const only = names.length === 1 ? names[0] : undefined;
    const name = wanted ?? this.#here ?? only;
    if (name !== undefined && names.includes(name)) return name;
    if (names.length === 0) {
      throw new Error("This project has no worktrees: `:Agent new --worktree` makes one.");
    }
    const which = name === undefined ? "Which worktree" : `No worktree has the name ${visible(name)}`;
    throw new Error(`${which}${name === undefined ? "?" : "."} There are: ${names.join(", ")}.`);
  }

  #branch(name: string): string {
    return `${this.#options.prefix ?? "agent/"}${name}`;
  }

  async #names(): Promise<readonly string[]> {
    await recoverWorktrees(this.#folder);
    const entries = await Array.fromAsync(Deno.readDir(this.#folder)).catch(() => []);
    return entries.filter(({ name, isDirectory }) => isDirectory && isName(name)).map(({ name }) => name)
      .sort();
  }

  /** A name that neither a worktree nor a branch has. */
  async #free(): Promise<string> {
    for (let number = 1; number < MOST_NAMES; number++) {
      const name = `worktree-${number}`;
      const isTaken = await exists(join(this.#folder, name)) ||
        await this.#commit(this.#git, `refs/heads/${this.#branch(name)}`) !== undefined;
      if (!isTaken) return name;
    }
    throw new Error(`Cannot make a worktree: there are ${MOST_NAMES} already. Remove some.`);
  }

  /** Git in a worktree, if it belongs to this repository. @throws {Error} one line */
  async #in(name: string): Promise<Git> {
    const path = this.path(name);
    const git = new Git({ ...this.#options, roots: [path] });
    const found = await ownRepository(git);
    if (found.type === "repository" && found.repository.common === this.#repository.common) return git;
    throw new Error(`${path} is not a worktree of this project.`);
  }

  async #look(name: string): Promise<WorktreeLook> {
    const { git, commit } = await this.#base(name);
    const listing = await listDisk(git.root);
    const loss = await lossOf(git, commit, this.#origin, listing);
    const branch = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
    const head = await this.#commit(this.#git, "HEAD");
    const ahead = await git.run(["rev-list", "--count", `${head}..HEAD`]);
    const view = {
      name,
      path: git.root,
      ...(branch.code === 0 ? { branch: visible(branch.text) } : {}),
      ...loss,
      commits: Number(ahead.text) || 0,
    };
    return { view, listing };
  }

  async #commit(git: Git, name: string): Promise<string | undefined> {
    const { code, text } = await git.run(["rev-parse", "--quiet", "--verify", `${name}^{commit}`]);
    return code === 0 ? text : undefined;
  }

  async #writes() {
    const { bound, guarded } = await writesOf(this.#repository);
    return { bound: [...bound, this.#folder], guarded };
  }

  /** Also removes the files, for a worktree that is not in use yet. @throws {Error} one line */
  async #discard(path: string): Promise<void> {
    await this.#forget(path, "--force");
  }

  /** Makes git forget a worktree whose folder is gone. @throws {Error} one line */
  async #forget(path: string, ...flags: readonly string[]): Promise<void> {
    const options = { writes: await this.#writes(), direct: true, longest: LONGEST_CHECKOUT_MS };
    const { code, complaint } = await this.#git.run(["worktree", "remove", ...flags, path], options);
    if (code !== 0) throw new Error(`Cannot remove ${path}: git says: ${complaint}.`);
  }

  /** Deletes the branch only while it is at this commit; its configuration stays. */
  async #dropBranch(branch: string, commit: string): Promise<void> {
    const options = { writes: await this.#writes(), direct: true };
    await this.#git.run(["update-ref", "-d", `refs/heads/${branch}`, commit], options);
  }
}

function isName(name: string): boolean {
  return NAME.test(name) && !name.endsWith(".") && !name.endsWith(".lock");
}
