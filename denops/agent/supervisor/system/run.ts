/**
 * Runs ripgrep and git for the supervisor: read-only, without network and Unix sockets, and with a time
 * limit.
 */
import { commandEnvironment, trustedPath } from "./environment.ts";
import { type GitView, gitView } from "./git/git_view.ts";
import { sandboxedProgram } from "./look_up.ts";
import { killGroup, openProgram } from "./programs.ts";
import { removeRunFolder } from "./run_folder.ts";
import { findProgram } from "./sandbox.ts";
import { userGit } from "./git/user_git.ts";

const LONGEST_MS = 30_000;
/** Approximate limit of a line's characters. */
const LONGEST_LINE = 4 * 1024 * 1024;

/** Where a program runs, and whether it runs in bubblewrap. */
export interface RunPlace {
  readonly root: string;
  /** All roots of the workspace, which programs are never run from. */
  readonly roots: readonly string[];
  readonly sandboxed: boolean;
  /** The writable paths; none by default. */
  readonly writes?: Writes;
  /**
   * Git works in the repository itself and reads its settings. Only for commands that never run a program.
   */
  readonly direct?: boolean;
  /** Time limit in milliseconds; half a minute by default. */
  readonly longest?: number;
}

export interface Writes {
  readonly bound: readonly string[];
  /** Read-only paths inside of the writable ones. */
  readonly guarded: readonly string[];
}

const PRODUCTS = { rg: "ripgrep", git: "git" } as const;

/** Options of every git command. */
const PLAIN_GIT: readonly string[] = [
  "--no-pager",
  "--no-optional-locks",
  ...[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "submodule.recurse=false",
    "color.ui=false",
  ].flatMap((setting) => ["-c", setting]),
];

/**
 * Prevents a partial clone from fetching commits with a program that its settings name; settings cannot
 * override this.
 */
const NO_FETCH: Readonly<Record<string, string>> = { GIT_ALLOW_PROTOCOL: "", GIT_NO_LAZY_FETCH: "1" };

/** ripgrep exits with 1 without a match. A failed start also exits with 1, but prints an error. */
export function hasFailed(code: number, stderr: string): boolean {
  return code > 1 || (code === 1 && stderr.trim() !== "");
}

export function failure(stderr: string): Error {
  return new Error(complaint(stderr));
}

/** A program's error as half a sentence: for a pattern what is wrong with it, otherwise the first line. */
export function complaint(stderr: string): string {
  const [, reason] = /^regex parse error:$[^]*?^error: (.+)$/m.exec(stderr) ?? [];
  if (reason !== undefined) return `the pattern is not a regular expression: ${reason}`;
  const [line = ""] = stderr.trim().split("\n").map((text) => text.replace(/^(rg|fatal|error): /, ""));
  return line === "" ? "it failed" : line.replace(/\.+$/, "");
}

/** The running processes. */
const running = new Set<Deno.ChildProcess>();

/** Kills all running processes and waits for their end. */
export async function endRuns(): Promise<void> {
  const all = [...running];
  all.forEach(killGroup);
  await Promise.all(all.map(({ status }) => status));
  await removeRunFolder();
}

/** @param onLine returns false to stop */
export async function run(
  name: "rg" | "git",
  args: readonly string[],
  options: RunPlace,
  signal: AbortSignal,
  onLine: (line: string) => boolean,
): Promise<{ code: number; stderr: string }> {
  const { process, errors, stop, outOfTime } = await start(name, args, options, signal);
  let stopped = false;
  const decoder = new TextDecoder();
  // Parts of an incomplete line, joined once: joining at each part would take quadratic time.
  let parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    if (length <= LONGEST_LINE) parts.push(part);
    length += part.length;
  };
  for await (const bytes of process.stdout) {
    if (stopped) continue;
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    add(first);
    for (const start of others) {
      const line = parts.join("");
      [parts, length] = [[], 0];
      add(start);
      if (onLine(line)) continue;
      stopped = true;
      stop();
      break;
    }
  }
  const rest = parts.join("");
  if (!stopped && rest !== "") onLine(rest);
  const { code } = await process.status;
  if (outOfTime() && !stopped) throw new Error(`${PRODUCTS[name]} did not end in time`);
  return { code, stderr: await errors };
}

/** A program's output as bytes; undefined if it fails, or prints more than `most` bytes. */
export async function printed(
  name: "rg" | "git",
  args: readonly string[],
  options: RunPlace,
  most: number,
): Promise<Uint8Array | undefined> {
  const { process, errors, stop } = await start(name, args, options, new AbortController().signal);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const bytes of process.stdout) {
    size += bytes.length;
    if (size > most) stop();
    else parts.push(bytes);
  }
  const [{ success }] = await Promise.all([process.status, errors]);
  return success && size <= most ? new Uint8Array(await new Blob(parts).arrayBuffer()) : undefined;
}

async function start(name: "rg" | "git", args: readonly string[], options: RunPlace, signal: AbortSignal) {
  const { root, roots, writes, direct = false } = options;
  const program = await findProgram(name, roots);
  if (program === undefined) {
    throw new Error(`${PRODUCTS[name]} is not installed; the user has to install it`);
  }
  const isGit = name === "git";
  const view = isGit && !direct ? await gitView(root, roots) : undefined;
  const env = { ...programEnvironment(roots), ...(isGit ? await gitEnvironment(view, roots) : {}) };
  const profile = writes === undefined ? "look_up" : "repository";
  const sandbox = await sandboxedProgram(profile, program, { ...options, reads: view?.reads ?? [], env });
  const process = openProgram(profile, sandbox.program, {
    args: [...sandbox.args, ...(isGit ? PLAIN_GIT : []), ...args],
    cwd: root,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    leadsGroup: true,
  }).spawn();
  running.add(process);
  const limit = AbortSignal.timeout(options.longest ?? LONGEST_MS);
  const inTime = AbortSignal.any([signal, limit]);
  // After the end, the process id may be another process's.
  const stop = () => void (running.has(process) && killGroup(process));
  if (inTime.aborted) stop();
  inTime.addEventListener("abort", stop);
  process.status.finally(() => {
    running.delete(process);
    inTime.removeEventListener("abort", stop);
  });
  return { process, errors: new Response(process.stderr).text(), stop, outOfTime: () => limit.aborted };
}

/** Programs that the program starts are never run from a root either. */
function programEnvironment(roots: readonly string[]): Record<string, string> {
  const env = commandEnvironment([], undefined);
  return { ...env, PATH: trustedPath(env.PATH ?? "", roots).join(":") };
}

/** Without a view git reads the repository's settings, but not the user's or the system's. */
async function gitEnvironment(
  view: GitView | undefined,
  roots: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  if (view !== undefined) return { ...view.env, ...NO_FETCH };
  const { safeFolders } = await userGit(roots);
  const settings = [
    "safe.bareRepository=explicit",
    ...safeFolders.map((folder) => `safe.directory=${folder}`),
  ];
  const listed = settings.flatMap((setting, at) => {
    const end = setting.indexOf("=");
    return [[`GIT_CONFIG_KEY_${at}`, setting.slice(0, end)], [
      `GIT_CONFIG_VALUE_${at}`,
      setting.slice(end + 1),
    ]];
  });
  return {
    ...NO_FETCH,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(listed),
  };
}
