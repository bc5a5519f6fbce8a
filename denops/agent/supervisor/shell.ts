/** How a command is run on this machine: the sandbox's arguments, the shell, the environment. */
import { basename, join, sep } from "node:path";
import { globMatcher } from "../policy/glob.ts";
import type { CommandInput } from "../protocol/commands.ts";
import type { UserConfig } from "../protocol/config.ts";
import {
  bwrapCommandArguments,
  type CommandPlaces,
  SECRET_FILES,
  SECRET_FOLDERS,
} from "./command_sandbox.ts";
import type { CommandSpec } from "./command_runner.ts";
import { gitGuard, mergeGuards } from "./git_guard.ts";
import { findProgram, sandbox } from "./sandbox.ts";
import { seatbeltArguments } from "./seatbelt.ts";

/** Entries of the project that are looked at for secrets at most. */
const MOST_ENTRIES = 50_000;
const SKIPPED = new Set([".git", "node_modules", "target", ".venv", "venv", "__pycache__"]);

export type CommandLevel = "bubblewrap" | "seatbelt" | "none";

/** What holds commands here. */
export async function commandLevel(user: Pick<UserConfig, "sandbox">): Promise<CommandLevel> {
  // Lines are judged as bash reads them: with another shell a person has to look.
  if (user.sandbox === "off" || await findProgram("bash") === undefined) return "none";
  if ((await sandbox()).level === "bubblewrap") return "bubblewrap";
  return Deno.build.os === "darwin" && await findProgram("sandbox-exec") !== undefined ? "seatbelt" : "none";
}

export type ShellOptions = Pick<
  UserConfig,
  "sandbox" | "deny_read" | "command_write" | "command_environment" | "socket" | "state_dir"
>;

export async function specifyCommand(
  input: CommandInput,
  roots: readonly string[],
  user: ShellOptions,
): Promise<Omit<CommandSpec, "line" | "cwd" | "timeoutMs">> {
  const shell = await findProgram("bash") ?? await findProgram("sh") ?? "sh";
  const env = commandEnvironment(user.command_environment);
  const level = await commandLevel(user);
  const sweep = () => Promise.resolve([]);
  if (level === "none") return { sandbox: undefined, shell, env, sweep };
  const places = await commandPlaces(input, roots, user);
  const git = mergeGuards(await Promise.all(roots.map((root) => gitGuard(root, "git", user.state_dir))));
  if (level === "seatbelt") {
    return { sandbox: ["sandbox-exec", ...seatbeltArguments(places, git)], shell, env, sweep: git.sweep };
  }
  const found = await sandbox();
  if (found.level !== "bubblewrap") throw new Error("the sandbox is gone");
  const args = bwrapCommandArguments(places, git);
  return { sandbox: [found.bwrap, ...args], shell, env, sweep: git.sweep };
}

/** Cleared but for what programs cannot do without. */
export function commandEnvironment(more: readonly string[]): Record<string, string> {
  const env: Record<string, string> = {
    TERM: "dumb",
    NO_COLOR: "1",
    CI: "1",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
  const names = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", ...more];
  const all = Deno.env.toObject();
  for (const [name, value] of Object.entries(all)) {
    if (names.includes(name) || name.startsWith("LC_")) env[name] = value;
  }
  return { ...env, ...ownGitRepositoriesOnly(env.GIT_CONFIG_COUNT) };
}

/**
 * The files of a bare repository can be written into any folder, and its settings name programs for git to run:
 * git is to take none for a repository by itself.
 * @param before how many settings the user hands to git by variables already
 */
function ownGitRepositoriesOnly(before = "0"): Record<string, string> {
  const index = /^\d{1,4}$/.test(before) ? Number(before) : 0;
  return {
    GIT_CONFIG_COUNT: String(index + 1),
    [`GIT_CONFIG_KEY_${index}`]: "safe.bareRepository",
    [`GIT_CONFIG_VALUE_${index}`]: "explicit",
  };
}

export async function commandPlaces(
  input: Pick<CommandInput, "cwd" | "network">,
  roots: readonly string[],
  user: ShellOptions,
): Promise<CommandPlaces> {
  const home = Deno.env.get("HOME");
  const own = [user.state_dir];
  const folders = home === undefined ? own : [...SECRET_FOLDERS.map((name) => join(home, name)), ...own];
  const files = [
    ...(home === undefined ? [] : SECRET_FILES.map((name) => join(home, name))),
    ...(user.socket === undefined ? [] : [user.socket]),
    ...(await Promise.all(
      roots.map((root, index) => secretFiles(root, user.deny_read, index === 0 ? "" : `${basename(root)}/`)),
    )).flat(),
  ];
  return {
    roots,
    cwd: input.cwd,
    home,
    network: input.network,
    writable: await existing(user.command_write, "directory"),
    // A project inside of such a folder stays visible: it is mounted over it.
    maskedFolders: await existing(folders, "directory"),
    maskedFiles: await existing(files, "file"),
  };
}

/** Those that are there, by their real paths: a link would lead past the mask. */
async function existing(paths: readonly string[], kind: "directory" | "file"): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const info = await Deno.stat(path).catch(() => undefined);
    if (info === undefined || info.isDirectory !== (kind === "directory")) continue;
    found.add(await Deno.realPath(path));
  }
  return [...found];
}

/**
 * Files of the project that the model may not read; commands read them no more than tools do.
 * @param prefix what stands before the names of a root that is not the primary one
 */
export async function secretFiles(
  root: string,
  denyRead: readonly string[],
  prefix: string = "",
): Promise<readonly string[]> {
  const isSecret = globMatcher(denyRead);
  const found: string[] = [];
  const folders = [root];
  let seen = 0;
  for (const folder of folders) {
    try {
      for await (const entry of Deno.readDir(folder)) {
        if (++seen > MOST_ENTRIES) return found;
        const path = join(folder, entry.name);
        if (entry.isDirectory) {
          if (!SKIPPED.has(entry.name)) folders.push(path);
        } else if (isSecret(prefix + path.slice(root.length + 1).replaceAll(sep, "/"))) {
          const real = await Deno.realPath(path).catch(() => undefined);
          if (real !== undefined) found.push(real);
        }
      }
    } catch {
      // A folder that cannot be read hides nothing from commands either.
    }
  }
  return found;
}
