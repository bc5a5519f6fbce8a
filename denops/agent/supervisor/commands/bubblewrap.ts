/** Starts commands in bubblewrap. */
import { join } from "node:path";
import { type CommandAccess, hasNetwork, levelOf } from "../../protocol/commands.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { defined } from "../../shared/records.ts";
import { userGit } from "../system/git/user_git.ts";
import { findProgram, sandbox } from "../system/sandbox.ts";
import { commandMounts } from "../system/sandbox/command_mounts.ts";
import { bwrapArguments, type Mount, type MountPlan } from "../system/sandbox/mounts.ts";
import { type Architecture, seccompFilter } from "../system/sandbox/seccomp.ts";
import { wholeFile } from "../system/whole_file.ts";
import { AllowProxy } from "../network/allow_proxy.ts";
import { proxied, proxyEnvironment } from "../network/proxied.ts";
import type { CommandPlace, CommandView, GitMounts } from "./command_place.ts";
import type { CommandSpec } from "./runner.ts";

/** Gives Neovim priority over commands. */
const NICENESS = 10;
/** The kernel's limit for one command; the runner also counts processes. */
const MOST_THREADS = 8_192;

export interface StartedCommand
  extends Pick<CommandSpec, "program" | "args" | "input" | "prelude" | "proxy"> {
  /** Further variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

interface BubblewrapOptions {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "command_read" | "command_write" | "socket" | "state_dir">;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly view: CommandView;
  readonly git: GitMounts;
  /** Folders outside of the roots that the command can write. */
  readonly write: readonly string[];
  /** The scratch folders of the project's sessions. */
  readonly scratch: string | undefined;
  /** The command line that enters the overlay. */
  readonly enter: readonly string[];
}

/** @throws {Error} one line */
export async function bubblewrapCommand(
  shell: string,
  place: CommandPlace,
  options: BubblewrapOptions,
): Promise<StartedCommand> {
  const { roots, user, enter, environment } = options;
  const found = await sandbox(roots);
  if (found.level !== "bubblewrap") throw new Error("the sandbox is gone");
  const plan = await mountPlan(place, options, found.system);
  const nice = await findProgram("nice", roots);
  const lowered = nice === undefined ? [] : [nice, "-n", String(NICENESS)];
  // sh starts twice as fast as bash.
  const sh = await findProgram("sh", roots) ?? shell;
  const filter = await seccompFile(place.access, user.state_dir);
  // The last thing that can fail: its caller closes it.
  const behind = await behindProxy(place, shell, environment);
  const inner = [...userIds(), "--seccomp", "3", "--args", "4", "--", ...behind.arguments];
  const [program = sh, ...args] = [...enter, sh, "-c", ENTER, "sh", filter];
  const mounts = bwrapArguments({ ...plan, mounts: [...plan.mounts, ...behind.mounts] });
  return {
    program,
    args: [...args, ...lowered, found.bwrap, ...inner],
    input: new TextEncoder().encode(mounts.map((argument) => `${argument}\0`).join("")),
    prelude: prelude(),
    ...behind.command,
  };
}

/** The start of a command that reaches some hosts, or none. */
async function behindProxy(
  { hosts = [] }: CommandPlace,
  shell: string,
  environment: BubblewrapOptions["environment"],
): Promise<ReturnType<typeof proxied> & { readonly command: Pick<StartedCommand, "proxy" | "variables"> }> {
  if (hosts.length === 0) return { mounts: [], arguments: [shell], command: {} };
  const proxy = await AllowProxy.open({ hosts: () => hosts, environment });
  return {
    ...proxied([shell], proxy.socket, shell, hosts),
    command: { proxy, variables: proxyEnvironment(hosts) },
  };
}

/**
 * The command line of a program whose standard streams stay open. It reads what a read-only command reads.
 * @param words the program and its arguments @param more mounts beside those of a command
 * @throws {Error} one line
 */
export async function bubblewrapProgram(
  words: readonly string[],
  cwd: string,
  options: BubblewrapOptions,
  more: readonly Mount[],
): Promise<Pick<StartedCommand, "program" | "args">> {
  const { roots, user } = options;
  const found = await sandbox(roots);
  if (found.level !== "bubblewrap") throw new Error(found.reason);
  const plan = await mountPlan({ access: "look", cwd }, options, found.system);
  const inner = bwrapArguments({ ...plan, mounts: [...plan.mounts, ...more] });
  return await enterOpen(words, roots, user.state_dir, inner);
}

/**
 * The same for a program that reads nothing but system programs and these mounts.
 * @param stateDir keeps the system call filter
 * @throws {Error} one line
 */
export async function isolatedProgram(
  words: readonly string[],
  { roots, stateDir }: { readonly roots: readonly string[]; readonly stateDir: string },
  more: readonly Mount[],
): Promise<Pick<StartedCommand, "program" | "args">> {
  const found = await sandbox(roots);
  if (found.level !== "bubblewrap") throw new Error(found.reason);
  const { links, folders } = found.system;
  const mounts: readonly Mount[] = [
    { kind: "read", path: "/usr" },
    ...folders.map((path): Mount => ({ kind: "read", path })),
    ...links.map(({ path, target }): Mount => ({ kind: "link", path, target })),
    ...["/tmp", "/run"].map((path): Mount => ({ kind: "small_scratch", path })),
    ...more,
  ];
  return await enterOpen(words, roots, stateDir, bwrapArguments({ network: false, cwd: "/", mounts }));
}

/**
 * The same for a program whose writes to the roots go to overlays.
 * @param ownSandbox it creates sandboxes for its own commands
 * @throws {Error} one line
 */
export async function overlaidProgram(
  words: readonly string[],
  cwd: string,
  options: BubblewrapOptions,
  { more, ownSandbox }: { readonly more: readonly Mount[]; readonly ownSandbox: boolean },
): Promise<Pick<StartedCommand, "program" | "args">> {
  const { roots, user, enter } = options;
  const found = await sandbox(roots);
  if (found.level !== "bubblewrap") throw new Error(found.reason);
  const plan = await mountPlan({ access: "try", cwd, rehearsed: true }, options, found.system);
  const nested = ownSandbox ? { isRoot: Deno.uid() === 0 } : undefined;
  const inner = bwrapArguments({ ...plan, mounts: [...plan.mounts, ...more], ...defined({ nested }) });
  const start = await enterOpen(words, roots, user.state_dir, inner, ownSandbox);
  const [program = "", ...args] = [...enter, start.program, ...start.args];
  return { program, args };
}

async function enterOpen(
  words: readonly string[],
  roots: readonly string[],
  stateDir: string,
  inner: readonly string[],
  mounts = false,
): Promise<Pick<StartedCommand, "program" | "args">> {
  const found = await sandbox(roots);
  if (found.level !== "bubblewrap") throw new Error(found.reason);
  const sh = await findProgram("sh", roots);
  if (sh === undefined) throw new Error("no shell was found on the PATH outside of the project");
  // In a network name space of its own, Unix sockets reach nothing but the mounted ones.
  const filter = await seccompFile("write", stateDir, mounts);
  const start = ["-c", ENTER_OPEN, "sh", filter, found.bwrap, "--seccomp", "3"];
  return { program: sh, args: [...start, ...userIds(), ...inner, "--", ...words] };
}

/** As `ENTER`; the standard streams stay open. */
const ENTER_OPEN = `ulimit -c 0; exec 3<"$1"; shift; exec "$@"`;

function userIds(): readonly string[] {
  return ["--uid", String(Deno.uid()), "--gid", String(Deno.gid())];
}

async function mountPlan(
  { access, cwd, rehearsed }: CommandPlace,
  { roots, user, environment: { HOME: home }, view: { masks, tracked }, git, write, scratch }:
    BubblewrapOptions,
  system: Parameters<typeof commandMounts>[0]["system"],
): Promise<MountPlan> {
  const level = levelOf(access);
  const { state_dir, socket, command_read, command_write } = user;
  const hidesHistory = (level === "look" || rehearsed === true) && tracked !== undefined;
  const mounts = commandMounts({
    level,
    roots,
    home,
    system,
    git,
    masks,
    hidden: hiddenInGit(roots, git, hidesHistory),
    read: [...command_read, ...command_write],
    write,
    own: [state_dir, ...(socket === undefined ? [] : [socket])],
    scratch,
    gitConfig: await wholeFile(
      join(state_dir, "gitconfig"),
      new TextEncoder().encode((await userGit(roots)).text),
    ),
  });
  return { network: hasNetwork(access), cwd, mounts };
}

/** Paths of git that commands do not see. @param hidesHistory its history contains an unreadable file */
export function hiddenInGit(
  roots: readonly string[],
  { bound, guarded }: GitMounts,
  hidesHistory: boolean,
): readonly string[] {
  const repositories = [...roots.map((root) => join(root, ".git")), ...bound, ...guarded];
  const objects = hidesHistory ? repositories.map((path) => join(path, "objects")) : [];
  return [...objects, ...roots.map((root) => join(root, ".git", "fsmonitor--daemon.ipc"))];
}

/** The file with the system call filter, which a shell passes on as a descriptor. */
async function seccompFile(access: CommandAccess, stateDir: string, mounts = false): Promise<string> {
  const machine = architecture();
  if (machine === undefined) throw new Error("system calls cannot be filtered on this machine");
  // The network includes the abstract sockets of the whole machine.
  const unixSockets = levelOf(access) !== "look" && !hasNetwork(access);
  const name = [machine, unixSockets ? "unix" : "no-unix", ...mounts ? ["mounts"] : []].join("-");
  const path = join(stateDir, `seccomp-${name}.bpf`);
  return await wholeFile(path, seccompFilter({ architecture: machine, unixSockets, mounts }));
}

/**
 * Enters the sandbox: no core files, files of at most 8 GiB (sh counts in 512 bytes), filter and mounts as
 * descriptors. Linux gives each session of processes an equal share of the processor, and niceness counts
 * only within one (sched(7), "The autogroup feature"). Without the first line a fork bomb would starve the
 * supervisor.
 */
const ENTER = `{ echo ${NICENESS} >/proc/self/autogroup; } 2>/dev/null
ulimit -c 0; ulimit -f 16777216; exec 3<"$1" 4<&0 </dev/null; shift; exec "$@"`;

/**
 * The thread limit, set inside of the sandbox: before Linux 5.14 it would count all processes of the user
 * (setrlimit(2), user_namespaces(7)). It does not apply to root.
 */
function prelude(): string | undefined {
  const [major = 0, minor = 0] = Deno.osRelease().split(".").map((part) => Number.parseInt(part));
  if (major < 5 || (major === 5 && minor < 14)) return undefined;
  return `{ ulimit -u ${MOST_THREADS} || ulimit -p ${MOST_THREADS}; } 2>/dev/null`;
}

/** Undefined where system calls cannot be filtered. */
export function architecture(): Architecture | undefined {
  const { arch } = Deno.build;
  return arch === "x86_64" || arch === "aarch64" ? arch : undefined;
}
