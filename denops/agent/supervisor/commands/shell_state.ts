/**
 * The shell's state that the next commands of a session start with. The command reports it, so all of it is a
 * claim. Folders inside the workspace become an activation; other variables become part of the next lines, so
 * that they are judged, shown and approved like anything else in front of a command.
 */
import { isAbsolute, resolve } from "node:path";
import { isDeceptive } from "../../policy/deceptive.ts";
import type { PathLookups } from "../../policy/path.ts";
import { resolveInRoots } from "../../policy/roots.ts";
import { Activation, type TerminalEnd } from "../../protocol/commands.ts";
import { defined } from "../../shared/records.ts";
import { shellWord } from "../../shared/shell_words.ts";
import { hasSecret } from "../../shared/text/secrets.ts";
import { isHostVariable } from "../system/environment.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import type { ShellClaim } from "./runner.ts";

/** Each approval shows them, so they are few and short. Characters of names and values together. */
const MOST_VARIABLES = 32;
const MOST_TEXT = 4_096;
/** Longer names do not carry over. */
const LONGEST_NAME = 100;
const MOST_DROPPED = 10;

/**
 * Variables of the shell itself and its prompt. They change how the next line is read, or have no effect
 * there. Names with two underscores in front are private to a program.
 */
const OF_SHELL =
  /^(_|__\w*|BASH\w*|COMP_\w+|COPROC|EPOCH\w+|HIST\w+|MAIL\w*|OPT(ARG|IND|ERR)|PROMPT_\w+|PS\d|READLINE_\w+|PWD|OLDPWD|SHLVL|SHELLOPTS|IFS|ENV|E?UID|PPID|GROUPS|DIRSTACK|S?RANDOM|SECONDS|LINENO|CDPATH|GLOBIGNORE|GLOBSORT|EXECIGNORE|FIGNORE|FUNCNAME|FUNCNEST|POSIXLY_CORRECT|TIMEFORMAT|TMOUT|COLUMNS|LINES|INPUTRC|REPLY|HOST(FILE|NAME|TYPE)|MACHTYPE|OSTYPE|IGNOREEOF|FCEDIT|CHILD_MAX|MAPFILE|PIPESTATUS|auto_resume|histchars|VIRTUAL_ENV_PROMPT)$/;

/** A value that may be secret does not enter lines, which approvals show and logs keep. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|COOKIE|AUTH(?!OR)/i;
/** Shorter values of secret variables occur in other values by chance. */
const SHORTEST_SECRET = 6;

type ShellState = NonNullable<TerminalEnd["shell"]>;
type Environment = Readonly<Record<string, string>>;

interface Workspace {
  /** Real paths. */
  readonly roots: readonly string[];
  readonly lookups: PathLookups;
}

/** @param host the variables of the command without what earlier ones had set */
export async function shellState(
  { folder, variables }: ShellClaim,
  host: Environment,
  workspace: Workspace,
): Promise<ShellState> {
  if (variables === undefined) return TOO_LARGE;
  const claimed = new Map(variables.map((text) => {
    const end = text.indexOf("=");
    return [text.slice(0, Math.max(end, 0)), text.slice(end + 1)];
  }));
  const secrets = secretValues({ ...neovimEnvironment(), ...host });
  const names = [...claimed.keys()].filter((name) => /^[A-Za-z_]\w*$/.test(name)).sort();
  const dropped: string[] = [];
  const exports: (readonly [string, string])[] = [];
  for (const name of names) {
    const value = claimed.get(name) ?? "";
    if (name === "PATH" || name === "VIRTUAL_ENV" || OF_SHELL.test(name)) continue;
    if (Object.hasOwn(host, name) || isHostVariable(name)) {
      if (!Object.hasOwn(host, name) || host[name] !== value) dropped.push(name);
    } else if (
      isPrivate(name, value) || secrets.some((secret) => value.includes(secret)) || !isShowable(value) ||
      name.length > LONGEST_NAME
    ) dropped.push(name);
    else exports.push([name, value]);
  }
  if (exports.length > MOST_VARIABLES || exports.flat().join("").length > MOST_TEXT) return TOO_LARGE;
  const path = await pathFolders(claimed.get("PATH") ?? "", host.PATH ?? "", folder, workspace);
  if (path.areOutside) dropped.push("PATH outside of the project");
  const claimedEnv = claimed.get("VIRTUAL_ENV") ?? "";
  const virtualEnv = claimedEnv === "" ? undefined : await inside(claimedEnv, folder, workspace);
  if (virtualEnv === undefined && claimedEnv !== (host.VIRTUAL_ENV ?? "")) dropped.push("VIRTUAL_ENV");
  const { before, after } = path;
  const isActive = virtualEnv !== undefined || before.length + after.length > 0;
  return {
    exports,
    dropped: dropped.map((name) => name.slice(0, LONGEST_NAME)).slice(0, MOST_DROPPED),
    ...isActive && { activation: { before, after, ...defined({ virtualEnv }) } },
  };
}

const TOO_LARGE: ShellState = {
  exports: [],
  dropped: [`all variables, which are more than ${MOST_VARIABLES} or ${MOST_TEXT} characters`],
};

function isPrivate(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || hasSecret(value);
}

/** The secrets of the host. A command may have copied them into another variable. */
function secretValues(host: Environment): readonly string[] {
  return Object.entries(host).flatMap(([name, value]) =>
    value.length >= SHORTEST_SECRET && !OF_SHELL.test(name) && isPrivate(name, value) ? [value] : []
  );
}

/** On one line, and as it reads. The replacement character stands for bytes that are no text. */
function isShowable(value: string): boolean {
  return !isDeceptive(value) && !/[\t\n\ufffd]/.test(value);
}

/** The folders of a PATH that are in the workspace and not in the host's PATH. */
async function pathFolders(path: string, host: string, folder: string, workspace: Workspace) {
  const own = host.split(":");
  const entries = path.split(":");
  const last = entries.findLastIndex((entry) => own.includes(entry));
  const before = new Set<string>();
  const after = new Set<string>();
  let areOutside = false;
  for (const [index, entry] of entries.entries()) {
    if (entry === "" || own.includes(entry)) continue;
    const found = index < 1_000 ? await inside(entry, folder, workspace) : undefined;
    if (found === undefined) areOutside = true;
    else if (index < last || last === -1) before.add(found);
    else if (!before.has(found)) after.add(found);
  }
  const folders = { before: [...before], after: [...after] };
  return Activation.safeParse(folders).success
    ? { ...folders, areOutside }
    : { before: [], after: [], areOutside: true };
}

/** The real path of a folder in the workspace. A colon would end it in PATH. */
async function inside(path: string, folder: string, { roots, lookups }: Workspace) {
  const absolute = isAbsolute(path) ? path : resolve(folder, path);
  const found = await resolveInRoots(absolute, roots, lookups).catch(() => undefined);
  return found === undefined || found.path.includes(":") || isDeceptive(found.path) ? undefined : found.path;
}

/** @throws {Error} one line unless each folder is real, inside the workspace and of one entry in PATH */
export async function checkActivation(
  activation: Activation | undefined,
  workspace: Workspace,
): Promise<void> {
  const { virtualEnv, before = [], after = [] } = activation ?? {};
  for (const folder of [...virtualEnv === undefined ? [] : [virtualEnv], ...before, ...after]) {
    if (await inside(folder, "/", workspace) !== folder) {
      throw new Error("a folder of the command's variables is not in the project");
    }
  }
}

/**
 * Shell code that activates. It runs inside of the sandbox: programs that build the sandbox must not find the
 * project's own ones on their PATH.
 */
export function activationCode(activation: Activation | undefined): string {
  if (activation === undefined) return ":";
  const { virtualEnv, before, after } = activation;
  const [front, back] = [
    before.map((folder) => `${folder}:`).join(""),
    after.map((folder) => `:${folder}`).join(""),
  ];
  const path = `PATH=${shellWord(front)}"$PATH"${shellWord(back)}`;
  return `export ${path}${virtualEnv === undefined ? "" : ` VIRTUAL_ENV=${shellWord(virtualEnv)}`}`;
}
