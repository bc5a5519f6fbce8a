/**
 * Starts every process of the supervisor, under a profile of the table below. Processes never inherit the
 * environment.
 */

export interface Profile {
  /** The program and its purpose. */
  readonly purpose: string;
  readonly reads: string;
  readonly writes: string;
  readonly network: string;
  readonly unixSockets: boolean;
  readonly environment: string;
  /** Its restrictions where the operating system has no sandbox for it. */
  readonly unsandboxed: string;
}

const PLAIN = "PATH, HOME, the locale";

/** The access of each program. The help and `:checkhealth agent` print this table. */
export const PROFILES = {
  look_up: {
    purpose: "git and ripgrep: searches, changes, branches, worktrees",
    reads: "the project, its git objects, system programs and git's ignore files",
    writes: "nothing",
    network: "none",
    unixSockets: false,
    environment: `${PLAIN}, git settings of our own`,
    unsandboxed: "git reads no settings of the repository; ripgrep runs with fixed arguments",
  },
  repository: {
    purpose: "git: a branch, a worktree",
    reads: "as look_up",
    writes: "the git folder without hooks and settings; the folder of worktrees",
    network: "none",
    unixSockets: false,
    environment: `${PLAIN}, git settings of our own`,
    unsandboxed: "git commands that run no filter, with hooks off",
  },
  git_settings: {
    purpose: "git config: the user's settings, a configuration as git reads it",
    reads: "everything the user can read",
    writes: "nothing",
    network: "any, but git config uses none",
    unixSockets: true,
    environment: PLAIN,
    unsandboxed: "git config runs no program",
  },
  command: {
    purpose: "a command the user allowed",
    reads: "by its access: |agent-shell-access|",
    writes: "by its access: |agent-shell-access|",
    network: "if the user allows it",
    unixSockets: true,
    environment: `${PLAIN}, shell.environment`,
    unsandboxed: "everything the user can, so each command asks",
  },
  overlay: {
    purpose: "mounts for a rehearsed command, and what it changed",
    reads: "everything the user can read",
    writes: "the project when changes are kept, the state folder",
    network: "any, but the script is ours",
    unixSockets: true,
    environment: "PATH",
    unsandboxed: "never started",
  },
  put_aside: {
    purpose: "mv: a trap that a command left for git",
    reads: "everything the user can read",
    writes: "the project, the state folder",
    network: "none",
    unixSockets: true,
    environment: "PATH",
    unsandboxed: "fixed arguments",
  },
  engine: {
    purpose: "Deno: the engine",
    reads: "the project, its state folder, the plugin",
    writes: "the project without .git, its state folder",
    network: "the model's host",
    unixSockets: false,
    environment: "proxies and certificates",
    unsandboxed: "the same by Deno's permissions",
  },
  compile: {
    purpose: "Deno: fills its compile cache with the engine's modules",
    reads: "the plugin, an empty folder",
    writes: "an empty folder, Deno's cache",
    network: "none",
    unixSockets: false,
    environment: "proxies and certificates",
    unsandboxed: "the same by Deno's permissions",
  },
  fetch: {
    purpose: "Deno: downloads the engine's packages, by the lockfile",
    reads: "the plugin",
    writes: "Deno's cache",
    network: "the npm registry",
    unixSockets: true,
    environment: "the user's",
    unsandboxed: "runs no code of a package",
  },
  hook: {
    purpose: "a hook the user approved",
    reads: "as a command with access write, and the script it names",
    writes: "a copy of the project, whose changes are judged like a command's, or dropped",
    network: "none",
    unixSockets: true,
    environment: `${PLAIN}, shell.environment`,
    unsandboxed: "never started",
  },
  notification_hook: {
    purpose: "a Notification hook the user approved",
    reads: "everything the user can read",
    writes: "everything the user can write",
    network: "any",
    unixSockets: true,
    environment: `${PLAIN}, shell.environment`,
    unsandboxed: "the same",
  },
  mcp_server: {
    purpose: "an MCP server the user approved",
    reads: "as a read-only command, and its cache folder",
    writes: "its cache folder",
    network: "the hosts of its entry",
    unixSockets: true,
    environment: `${PLAIN}, the variables of its entry`,
    unsandboxed: "never started, unless its entry says sandbox = false",
  },
  free_mcp_server: {
    purpose: "an MCP server the user approved without a sandbox",
    reads: "everything the user can read",
    writes: "everything the user can write",
    network: "any",
    unixSockets: true,
    environment: `${PLAIN}, the variables of its entry`,
    unsandboxed: "the same",
  },
  agent: {
    purpose: "another agent, such as Claude or Codex: |agent-other-agents|",
    reads: "as a read-only command, its own files, and the folder of its program",
    writes: "an overlay of the project during its turns, its own files",
    network: "the hosts of its entry",
    unixSockets: true,
    environment: `${PLAIN}, the variables of its entry`,
    unsandboxed: "never started",
  },
  pdf: {
    purpose: "Deno: reads the text of a PDF that was fetched",
    reads: "system programs, the plugin, Deno's cache",
    writes: "nothing",
    network: "none",
    unixSockets: true,
    environment: "none",
    unsandboxed: "no permission of Deno's",
  },
  web_page: {
    purpose: "Deno: reads a web page that you approved, or asks your search engine",
    reads: "system programs, one script",
    writes: "nothing",
    network: "that host",
    unixSockets: true,
    environment: "certificates",
    unsandboxed: "the same by Deno's permissions",
  },
  key_command: {
    purpose: "the user's own command for an API key (cmd:…)",
    reads: "everything the user can read",
    writes: "everything the user can write",
    network: "any",
    unixSockets: true,
    environment: "the user's",
    unsandboxed: "the same",
  },
  version: {
    purpose: "--version and a trial of bubblewrap, for :checkhealth",
    reads: "everything the user can read",
    writes: "nothing of its own",
    network: "any",
    unixSockets: true,
    environment: PLAIN,
    unsandboxed: "fixed arguments",
  },
  process_list: {
    purpose: "ps: the processes of a command (macOS)",
    reads: "the process table",
    writes: "nothing",
    network: "none",
    unixSockets: true,
    environment: "PATH",
    unsandboxed: "fixed arguments",
  },
} as const satisfies Record<string, Profile>;

type ProfileName = keyof typeof PROFILES;

type ProgramOptions = Omit<Deno.CommandOptions, "clearEnv" | "detached" | "env"> & {
  readonly env: Readonly<Record<string, string>>;
  /**
   * The process leads its own session and process group, for {@link killGroup}, and because Ctrl-C in a terminal reaches
   * all processes of this one's group: it must stop the turn, not the engine.
   */
  readonly leadsGroup?: boolean;
};

/** Prepares a process. Its program is outside of the project: see `findProgram`. */
export function openProgram(
  _profile: ProfileName,
  path: string,
  { leadsGroup = false, env, ...options }: ProgramOptions,
): Deno.Command {
  const same = { ...options, env: { ...env }, clearEnv: true };
  if (!leadsGroup) return new Deno.Command(path, same);
  if (SETSID === undefined) return new Deno.Command(path, { ...same, detached: Deno.build.os !== "windows" });
  return new Deno.Command(SETSID, { ...same, args: [path, ...options.args ?? []] });
}

/**
 * util-linux's program, which replaces itself with its argument. Deno's `detached` forks this whole process
 * instead, which costs twice the CPU time.
 */
const SETSID = ["/usr/bin/setsid", "/bin/setsid"].find(isFile);

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * Kills a process that leads a group, then the group. The leader first, because it may not lead the group
 * yet, and starts nothing afterwards. The group too: if bubblewrap is killed before it lets its child run,
 * the child waits forever.
 */
export function killGroup(leader: Deno.ChildProcess): void {
  unlessEnded(() => leader.kill("SIGKILL"));
  if (Deno.build.os !== "windows") unlessEnded(() => Deno.kill(-leader.pid, "SIGKILL"));
}

function unlessEnded(kill: () => void): void {
  try {
    kill();
  } catch {
    // The process has already ended.
  }
}
