/**
 * Parses git settings, and decides which of them never make git run a program. Unknown settings count as
 * dangerous. Source: git-config(1).
 */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isInside } from "../../../policy/path.ts";
import { neovimEnvironment } from "../neovim_environment.ts";
import { openProgram } from "../programs.ts";
import { ifThere, oneFile } from "../one_file.ts";
import { findProgram } from "../sandbox.ts";

export interface Setting {
  /** "remote.origin.url": section and name in lower case. */
  readonly key: string;
  readonly value: string;
}

/** Sections without subsections in which no setting names a program. */
const SECTIONS = new Set([
  ...["advice", "apply", "author", "blame", "branch", "color", "column", "committer", "commitgraph", "fetch"],
  ...[
    "feature",
    "grep",
    "index",
    "log",
    "pack",
    "pull",
    "push",
    "rebase",
    "rerere",
    "stash",
    "status",
    "user",
  ],
]);

const NAMES: Readonly<Record<string, string>> = {
  core:
    "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol " +
    "safecrlf hidedotfiles sparsecheckout sparsecheckoutcone untrackedcache checkstat trustctime quotepath abbrev " +
    "compression bigfilethreshold preloadindex multipackindex commitgraph protecthfs protectntfs sharedrepository " +
    "whitespace",
  extensions: "objectformat compatobjectformat partialclone worktreeconfig preciousobjects refstorage " +
    "relativeworktrees noop",
  init: "defaultbranch",
  commit: "gpgsign status verbose cleanup",
  tag: "sort gpgsign",
  merge: "ff conflictstyle log renames stat autostash",
  diff: "algorithm renames context colormoved mnemonicprefix noprefix submodule ignoresubmodules",
  gc: "auto autodetach autopacklimit pruneexpire reflogexpire",
  lfs: "repositoryformatversion",
  submodule: "active recurse fetchjobs propagatebranches",
  "remote.*":
    "url pushurl fetch push tagopt prune prunetags mirror promisor partialclonefilter skipfetchall " +
    "skipdefaultupdate followremotehead",
  "branch.*": "remote pushremote merge rebase description mergeoptions vscode-merge-base",
  "submodule.*": "url active branch ignore update shallow fetchrecursesubmodules",
  "lfs.*": "access",
};

/** @param folder the repository's @param root the folder that must contain the work tree */
export function isHarmless({ key, value }: Setting, folder: string, root: string): boolean {
  const [section = "", ...rest] = key.split(".");
  const name = rest.at(-1) ?? "";
  if (key === "core.fsmonitor") return /^(|true|false|yes|no|on|off|[01])$/i.test(value);
  if (key === "core.worktree") return isInside(resolve(folder, value), root);
  // A transport helper, an option or a command.
  if (/^\s*[-!]|^\s*[\w+.-]+::/.test(value)) return false;
  if (rest.length === 1 && SECTIONS.has(section)) return true;
  const known = NAMES[rest.length === 1 ? section : `${section}.*`];
  return known !== undefined && known.split(" ").includes(name);
}

/**
 * Settings as git reads them, without included files; undefined if git fails.
 * @param roots folders that git is never run from
 */
export async function settingsOf(
  text: string,
  roots: readonly string[],
): Promise<readonly Setting[] | undefined> {
  if (text === "") return [];
  const git = await findProgram("git", roots);
  // Without git nothing uses the settings.
  if (git === undefined) return [];
  const process = openProgram("git_settings", git, {
    args: ["config", "--file", "-", "--no-includes", "--list", "-z"],
    // Settings of a repository or a user do not apply.
    cwd: "/",
    env: { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", LC_ALL: "C" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {});
  const { success, stdout } = await process.output();
  if (!success) return undefined;
  return listedSettings(new TextDecoder().decode(stdout));
}

const LARGEST_CONFIG = 1024 * 1024;

const known = new Map<string, { readonly stamp: string; readonly settings: readonly Setting[] }>();

/**
 * Settings of these files in order, without included files. A changed file is read again.
 * @throws {Error} one line if git cannot read one
 */
export async function settingsIn(
  files: readonly string[],
  roots: readonly string[],
): Promise<readonly Setting[]> {
  const all = await Promise.all(files.map(async (path) => {
    const stamp = stampOf(path);
    const before = known.get(path);
    if (before?.stamp === stamp) return before.settings;
    const text = await configOf(path);
    const settings = await settingsOf(text, roots);
    if (settings === undefined) throw new Error(`git cannot read ${path}`);
    known.set(path, { stamp, settings });
    return settings;
  }));
  return all.flat();
}

const MOST_INCLUDED = 50;

/**
 * The first setting with which git can run a program as a hook, in these files and in all that they include,
 * regardless of conditions.
 * @throws {Error} one line if git cannot read one
 * @see git-config(1), hook.<name>.command
 */
export async function hookSetting(
  files: readonly string[],
  roots: readonly string[],
): Promise<string | undefined> {
  const { HOME = "/" } = neovimEnvironment();
  const paths = new Set(files);
  for (const path of paths) {
    for (const { key, value } of await settingsIn([path], roots)) {
      if (/^hook\..*\.command$/s.test(key)) return key;
      if (!/^include(if\..*)?\.path$/s.test(key)) continue;
      const included = value.replace(/^~\//, `${HOME}/`);
      // Another user's home, or git's installation folder.
      if (/^[~%]/.test(included) || paths.size > MOST_INCLUDED) return key;
      paths.add(resolve(dirname(path), included));
    }
  }
  return undefined;
}

async function configOf(path: string): Promise<string> {
  return await oneFile(path, LARGEST_CONFIG).then(({ text }) => text, (error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw new Error(`${path} cannot be read: ${error.message}`);
  });
}

/** Changes with the file. */
export function stampOf(path: string): string {
  const info = ifThere(() => statSync(path));
  return info === undefined ? "" : `${info.ino} ${info.size} ${info.mtimeMs} ${info.ctimeMs}`;
}

/** Parses the output of `git config --list -z`. */
export function listedSettings(text: string): readonly Setting[] {
  return text.split("\0").slice(0, -1).map((entry) => {
    const end = entry.indexOf("\n");
    // A name without a value is "true".
    return end === -1
      ? { key: entry, value: "true" }
      : { key: entry.slice(0, end), value: entry.slice(end + 1) };
  });
}

/** The text of a configuration file with these settings. */
export function configText(settings: readonly Setting[]): string {
  const quoted = (text: string) =>
    `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
  return settings.map(({ key, value }) => {
    const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
    const part = first === last ? "" : ` "${key.slice(first + 1, last).replace(/["\\]/g, "\\$&")}"`;
    return `[${key.slice(0, first)}${part}]\n\t${key.slice(last + 1)} = ${quoted(value)}\n`;
  }).join("");
}
