/**
 * Builds a git folder of our own with links to a repository's objects, branches and index, and with our own
 * settings. In it git reads nothing with which a repository can name a program: no filter, hook, pager,
 * signature check or helper runs, with or without a sandbox.
 * @see gitrepository-layout(5), and git's contrib/workdir/git-new-workdir, which links the same entries
 */
import { statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { encodeHex } from "../hex.ts";
import { configText, settingsIn } from "./git_settings.ts";
import { oneFile } from "../one_file.ts";
import { findRepository, type Repository, repositoryStamp } from "./repository.ts";
import { runFolder } from "../run_folder.ts";
import { type UserGit, userGit } from "./user_git.ts";
import { wholeFile } from "../whole_file.ts";

export interface GitView {
  /** Environment variables for git. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders and files that git reads through the view. */
  readonly reads: readonly string[];
  /** The text of HEAD. */
  readonly head: string;
}

const COMMON = ["objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow"];
/** Repository settings that define how its files and branches are read. */
const KEPT = [
  /^core\.(repositoryformatversion|filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf)$/,
  /^core\.(sparsecheckout|sparsecheckoutcone|quotepath|bigfilethreshold|checkstat|trustctime|whitespace|abbrev)$/,
  /^extensions\.(objectformat|compatobjectformat|refstorage|preciousobjects|relativeworktrees|noop)$/,
  /^branch\..*\.(remote|merge)$/,
  /^remote\..*\.fetch$/,
];
const LONGEST_HEAD = 4_096;
const LONGEST_ALTERNATES = 65_536;
/** Maximum depth of objects/info/alternates, as in git. */
const MOST_ALTERNATES = 5;

interface KnownView {
  readonly view: GitView;
  readonly repository: Repository;
  readonly stamp: string;
  readonly user: UserGit;
  readonly runs: string;
}

/** Cached, because making a view takes longer than most look-ups. */
const known = new Map<string, KnownView>();

/** @param folder real path in a work tree @throws {Error} one line if no repository can be used */
export async function gitView(folder: string, roots: readonly string[]): Promise<GitView> {
  const [user, runs] = await Promise.all([userGit(roots), runFolder()]);
  const before = known.get(folder);
  const isSame = before !== undefined && before.user === user && before.runs === runs &&
    repositoryStamp(folder, before.repository) === before.stamp;
  if (isSame) return before.view;
  const repository = await usedRepository(folder, roots, user);
  // Taken before the view is made, so that changes during that time differ from it.
  const stamp = repositoryStamp(folder, repository);
  const view = await makeView(repository, roots, user, runs);
  known.set(folder, { view, repository, stamp, user, runs });
  return view;
}

async function usedRepository(
  folder: string,
  roots: readonly string[],
  user: UserGit,
): Promise<Repository> {
  const found = await findRepository(folder, roots);
  if (found.type === "none") throw new Error("the project is not in a git repository");
  if (found.type === "refused") throw new Error(found.why);
  assertOwned(found.repository, user.safeFolders);
  return found.repository;
}

async function makeView(
  repository: Repository,
  roots: readonly string[],
  user: UserGit,
  runs: string,
): Promise<GitView> {
  const { top, own, common } = repository;
  const view = join(runs, `git-${await digest(own)}`);
  await Deno.mkdir(view, { recursive: true, mode: 0o700 });
  for (const name of COMMON) await link(join(common, name), join(view, name));
  for await (const { name } of Deno.readDir(own)) {
    if (name.startsWith("sharedindex.")) await link(join(own, name), join(view, name));
  }
  // Git accepts no link for HEAD.
  const head = await headOf(own);
  const files = {
    HEAD: head,
    config: await settings(repository, roots),
    user: user.lookUpText,
  };
  for (const [name, text] of Object.entries(files)) {
    await wholeFile(join(view, name), new TextEncoder().encode(text));
  }
  return {
    env: {
      GIT_DIR: view,
      GIT_WORK_TREE: top,
      GIT_INDEX_FILE: join(own, "index"),
      GIT_CONFIG_GLOBAL: join(view, "user"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_ATTR_NOSYSTEM: "1",
    },
    reads: [
      ...[view, top, own, common],
      ...await alternates(join(common, "objects")),
    ],
    head,
  };
}

/** @throws {Error} one line */
async function headOf(own: string): Promise<string> {
  const path = join(own, "HEAD");
  return await oneFile(path, LONGEST_HEAD).then(({ text }) => text, (error) => {
    throw new Error(`${path} cannot be read: ${error.message}`);
  });
}

/**
 * Why git is not used in a repository, in one line; undefined if it is used, or if there is no repository.
 */
export async function repositoryProblem(
  folder: string,
  roots: readonly string[],
): Promise<string | undefined> {
  if ((await findRepository(folder, roots)).type === "none") return undefined;
  return await gitView(folder, roots).then(() => undefined, (error) => String(error.message));
}

/** Another user's repository may contain anything. @throws {Error} one line */
function assertOwned({ top, own }: Repository, safeFolders: readonly string[]): void {
  const uid = Deno.uid();
  if (uid === null) return;
  const isOwn = [top, own].every((path) => {
    const owner = statSync(path).uid;
    return owner === uid || (uid === 0 && String(owner) === Deno.env.get("SUDO_UID"));
  });
  const isSafe = safeFolders.some((folder) =>
    folder === "*" || folder === top || (folder.endsWith("/*") && top.startsWith(folder.slice(0, -1)))
  );
  if (isOwn || isSafe) return;
  const cure = `git config --global --add safe.directory ${top}`;
  throw new Error(`the repository belongs to another user. To allow it: ${cure}`);
}

/** @throws {Error} one line if git cannot read the repository's settings */
async function settings({ own, common }: Repository, roots: readonly string[]): Promise<string> {
  const all = await settingsIn([join(common, "config"), join(own, "config.worktree")], roots);
  const elsewhere = all.find(({ key, value }) => key === "extensions.refstorage" && !/^\w+$/.test(value));
  if (elsewhere !== undefined) throw new Error(`${elsewhere.key} names a place elsewhere`);
  const kept = all.filter(({ key }) => KEPT.some((one) => one.test(key)));
  return configText([...kept, { key: "core.bare", value: "false" }]);
}

/** Object folders that a clone shares with other repositories. */
async function alternates(objects: string, depth = 1): Promise<readonly string[]> {
  if (depth > MOST_ALTERNATES) return [];
  const file = join(objects, "info", "alternates");
  const { text } = await oneFile(file, LONGEST_ALTERNATES).catch(() => ({ text: "" }));
  const folders = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(objects, line)).filter((path) => basename(path) === "objects");
  const more = await Promise.all(folders.map((folder) => alternates(folder, depth + 1)));
  return [...folders, ...more.flat()];
}

async function link(target: string, path: string): Promise<void> {
  const before = await Deno.readLink(path).catch(() => undefined);
  const isThere = await Deno.lstat(target).then(() => true, () => false);
  if (before === target && isThere) return;
  if (before !== undefined) await Deno.remove(path).catch(() => {});
  if (!isThere) return;
  await Deno.symlink(target, path).catch((error) => {
    // A concurrent look-up has created it.
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  });
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return encodeHex(new Uint8Array(bytes)).slice(0, 16);
}
