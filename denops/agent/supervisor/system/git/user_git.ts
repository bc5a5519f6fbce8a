/**
 * The user's git settings for look-ups and commands, without anything that names a program, a key or another
 * place.
 */
import { join, resolve } from "node:path";
import { neovimEnvironment } from "../neovim_environment.ts";
import { configText, listedSettings, stampOf } from "./git_settings.ts";
import { plainGitConfig } from "./plain_git_config.ts";
import { openProgram } from "../programs.ts";
import { findProgram } from "../sandbox.ts";

export interface UserGit {
  /** Text of a configuration file with the plain settings. */
  readonly text: string;
  /** The same, plus the user's ignore file. */
  readonly lookUpText: string;
  /** Values of `safe.directory`. */
  readonly safeFolders: readonly string[];
  /** `core.hooksPath`. */
  readonly hooksPath: string | undefined;
  /** The file that `core.excludesFile` names. */
  readonly ignoreFile: string | undefined;
}

let known: { readonly stamp: string; readonly git: UserGit } | undefined;

/** @param roots folders that git is never run from */
export async function userGit(roots: readonly string[]): Promise<UserGit> {
  const { HOME = "/", XDG_CONFIG_HOME = join(HOME, ".config"), ...others } = neovimEnvironment();
  const { GIT_CONFIG_GLOBAL = join(HOME, ".gitconfig"), GIT_CONFIG_SYSTEM = "/etc/gitconfig" } = others;
  const files = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, join(XDG_CONFIG_HOME, "git", "config")];
  const stamp = files.map((path) => `${path} ${stampOf(path)}`).join();
  if (known?.stamp !== stamp) known = { stamp, git: await read(HOME, roots) };
  return known.git;
}

async function read(home: string, roots: readonly string[]): Promise<UserGit> {
  const listed = await listSettings(home, roots);
  const settings = listedSettings(listed);
  const last = (key: string) => settings.findLast((setting) => setting.key === key)?.value;
  const ignores = last("core.excludesfile");
  const text = plainGitConfig(listed);
  return {
    text,
    lookUpText: ignores === undefined
      ? text
      : text + configText([{ key: "core.excludesfile", value: ignores }]),
    safeFolders: settings.filter(({ key }) => key === "safe.directory").map(({ value }) => value),
    hooksPath: last("core.hookspath"),
    ignoreFile: ignores === undefined ? undefined : resolve(home, ignores.replace(/^~\//, `${home}/`)),
  };
}

/** Variables that name the files of git's settings. */
const PLACES = ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/** Settings of the system and of the user. */
async function listSettings(home: string, roots: readonly string[]): Promise<string> {
  const git = await findProgram("git", roots);
  if (git === undefined) return "";
  const environment = neovimEnvironment();
  const places = PLACES.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  const { stdout } = await openProgram("git_settings", git, {
    args: ["config", "--includes", "--list", "-z"],
    cwd: "/",
    // Settings of a repository do not apply.
    env: { ...Object.fromEntries(places), HOME: home, GIT_DIR: "/dev/null", LC_ALL: "C" },
    stdin: "null",
    stderr: "null",
  }).output().catch(() => ({ stdout: new Uint8Array() }));
  return new TextDecoder().decode(stdout);
}
