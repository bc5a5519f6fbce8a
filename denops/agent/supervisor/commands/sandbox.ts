/** How commands of one workspace are run on this machine, and what holds them. */
import { basename, join } from "node:path";
import { globMatcher } from "../../policy/glob.ts";
import { isInside } from "../../policy/path.ts";
import { type CommandAccess, hasNetwork, levelOf } from "../../protocol/commands.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { type GitGuard, gitGuards, gitOverlaid } from "../git/guard.ts";
import { findProgram, sandbox } from "../system/sandbox.ts";
import { defined } from "../../shared/records.ts";
import { seatbeltArguments } from "./seatbelt.ts";
import { commandEnvironment } from "../system/environment.ts";
import { projectState, scratchFolder } from "../system/project_state.ts";
import { MaskFinder, type Masks } from "./masks.ts";
import { bwrapArguments, type MountPlan } from "../system/sandbox/mounts.ts";
import type { OverlayOptions } from "./overlay/overlay.ts";
import { type OverlaySupport, overlaySupport } from "./overlay/probe.ts";
import { commandMounts, writtenFolders } from "../system/sandbox/command_mounts.ts";
import { Rehearsal } from "./rehearsal.ts";
import type { CommandSpec } from "./runner.ts";
import { type Architecture, seccompFilter } from "../system/sandbox/seccomp.ts";
import { TrackedFiles } from "./tracked.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { userGit } from "../system/git/user_git.ts";
import { wholeFile } from "../system/whole_file.ts";

/** Of commands: whoever works in Neovim comes first. */
const NICENESS = 10;
/** Of one command, by the kernel; its processes are counted by the runner. */
const MOST_THREADS = 8_192;

export type CommandHold = "bubblewrap" | "seatbelt" | "none";

async function findHold(
  user: Pick<UserConfig, "sandbox">,
  roots: readonly string[],
): Promise<CommandHold> {
  // Lines are read as bash reads them, and the sandbox is entered through it.
  if (user.sandbox === "off" || await findProgram("bash", roots) === undefined) return "none";
  if ((await sandbox(roots)).level === "bubblewrap" && architecture() !== undefined) return "bubblewrap";
  if (Deno.build.os !== "darwin") return "none";
  return await findProgram("sandbox-exec", roots) === undefined ? "none" : "seatbelt";
}

type SandboxOptions = Pick<
  UserConfig,
  "sandbox" | "command_read" | "command_write" | "command_environment" | "socket" | "state_dir"
>;

/** What a look at the workspace has shown before a command is judged. */
export interface CommandView {
  readonly masks: Masks;
  /** A file that may not be read and is in git's history: looks do not see the history then. */
  readonly tracked: string | undefined;
}

type GitMounts = Pick<GitGuard, "bound" | "guarded">;

export interface Placed {
  readonly access: CommandAccess;
  readonly cwd: string;
  /** It runs over an overlay. */
  readonly rehearsed?: boolean;
}

type Store = OverlayOptions["store"];

/** Where what is not kept goes; or why nothing can, half a sentence. */
export type Rehearses =
  | { readonly works: true; readonly store: Store }
  | { readonly works: false; readonly reason: string };

export class CommandSandbox {
  readonly #roots: readonly string[];
  readonly #user: SandboxOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #masks = new MaskFinder();
  readonly #tracked = new TrackedFiles();
  #hold: Promise<CommandHold> | undefined;
  #rehearses: Promise<Rehearses> | undefined;

  /**
   * @param roots real paths, the project first
   * @param environment Neovim's own
   */
  constructor(
    roots: readonly string[],
    user: SandboxOptions,
    environment: Readonly<Record<string, string>> = neovimEnvironment(),
  ) {
    this.#roots = roots;
    this.#user = user;
    this.#environment = environment;
  }

  /**
   * What holds commands here. It is found once: what was judged under a sandbox never runs without one, even if that is
   * gone meanwhile.
   */
  hold(): Promise<CommandHold> {
    this.#hold ??= findHold(this.#user, this.#roots);
    return this.#hold;
  }

  /** Whether commands can be run over overlays. It is found once. */
  rehearses(): Promise<Rehearses> {
    this.#rehearses ??= this.#findRehearses();
    return this.#rehearses;
  }

  async #findRehearses(): Promise<Rehearses> {
    if (await this.hold() !== "bubblewrap") return { works: false, reason: "no bubblewrap holds commands" };
    const memory = await this.#support("memory");
    if (memory.works) return { works: true, store: "memory" };
    return (await this.#support("disk")).works ? { works: true, store: "disk" } : memory;
  }

  #support(store: Store): Promise<OverlaySupport> {
    return overlaySupport({ roots: this.#overlaid("try"), state: this.#user.state_dir, store });
  }

  /** The roots, and what of git lies outside of them and is written to. */
  #overlaid(level: "try" | "write"): readonly string[] {
    return [...this.#roots, ...gitOverlaid(this.#roots, level).bound];
  }

  /** @param denied globs of files that may not be read */
  async view(denied: readonly string[]): Promise<CommandView> {
    const roots = this.#roots.map((root, index) => ({
      root,
      prefix: index === 0 ? "" : `${basename(root)}/`,
    }));
    const [masks, ...tracked] = await Promise.all([
      this.#masks.find(roots, denied),
      ...roots.map(({ root, prefix }) => {
        const isDenied = globMatcher(denied);
        return this.#tracked.find(root, JSON.stringify(denied), (name) => isDenied(prefix + name));
      }),
    ]);
    return { masks, tracked: tracked.find((name) => name !== undefined) };
  }

  /**
   * How a command is started.
   * @param isMasked whoever let it run knew that it sees nothing that is denied
   * @throws {Error} one line
   */
  async specify(
    { access, cwd, rehearsed = false }: Placed,
    denied: readonly string[],
    isMasked = false,
  ): Promise<Omit<CommandSpec, "line" | "cwd" | "timeoutMs">> {
    const roots = this.#roots;
    const shell = await findProgram("bash", roots) ?? await findProgram("sh", roots);
    if (shell === undefined) throw new Error("no shell was found on the PATH outside the project");
    const hold = await this.hold();
    const level = levelOf(access);
    const env = commandEnvironment(
      this.#user.command_environment,
      hold === "none" ? undefined : access,
      this.#environment,
    );
    const sweep = () => Promise.resolve([]);
    if (hold === "none") return { program: shell, args: [], env, sweep };
    const rehearsal = rehearsed ? await this.#rehearse(access) : undefined;
    try {
      const git = rehearsal === undefined
        ? await gitGuards(roots, level, this.#user.state_dir)
        : { ...gitOverlaid(roots, level), sweep };
      const placed = { access, cwd, rehearsed };
      const started = await this.#guarded(hold, shell, placed, { denied, isMasked, git, rehearsal });
      return { ...started, env, ...defined({ rehearsal }) };
    } catch (error) {
      await rehearsal?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #rehearse(access: CommandAccess): Promise<Rehearsal> {
    const level = levelOf(access);
    const found = await this.rehearses();
    if (!found.works) throw new Error(`commands cannot be rehearsed here: ${found.reason}`);
    if (level !== "try" && level !== "write") throw new Error(`access ${level} is not rehearsed`);
    const roots = this.#overlaid(level);
    const caches = keepsCaches(access) ? [] : this.#caches(roots);
    const scratch = level === "try" ? await this.#scratch() : undefined;
    // What may be kept may be large.
    const store = level === "write" && (await this.#support("disk")).works ? "disk" : found.store;
    const folders = scratch === undefined ? caches : [...caches, scratch];
    const options = { roots, caches: folders, state: this.#user.state_dir, store };
    return await Rehearsal.start(options, level === "write");
  }

  /** The scratch folders of the project's sessions; undefined where they cannot be had. */
  async #scratch(): Promise<string | undefined> {
    const [root = ""] = this.#roots;
    return await projectState(root, this.#user.state_dir).then(scratchFolder).catch(() => undefined);
  }

  /**
   * Folders of command_write that a command may write over an overlay: Go's build cache is of no use where it is
   * read-only. @param more what is overlaid besides
   */
  #caches(more: readonly string[]): readonly string[] {
    const { command_write, state_dir } = this.#user;
    const besides = [...this.#roots, ...more, state_dir];
    return writtenFolders(command_write, this.#environment.HOME).filter((path) =>
      !besides.some((other) => isInside(other, path) || isInside(path, other))
    );
  }

  async #guarded(
    hold: Exclude<CommandHold, "none">,
    shell: string,
    placed: Placed,
    { denied, isMasked, git, rehearsal }: {
      readonly denied: readonly string[];
      readonly isMasked: boolean;
      readonly git: GitMounts & Pick<GitGuard, "sweep">;
      readonly rehearsal: Rehearsal | undefined;
    },
  ): Promise<Omit<CommandSpec, "line" | "cwd" | "timeoutMs" | "env">> {
    try {
      const view = await this.view(denied);
      if (isMasked && !view.masks.complete) {
        throw new Error(
          `some files that it must not read can no longer be hidden: ${view.masks.reason}`,
        );
      }
      const started = await this.#start(hold, shell, placed, view, git, rehearsal?.enter);
      return { ...started, sweep: git.sweep };
    } catch (error) {
      await git.sweep();
      throw error;
    }
  }

  async #start(
    hold: Exclude<CommandHold, "none">,
    shell: string,
    placed: Placed,
    view: CommandView,
    git: GitMounts,
    enter: readonly string[] = [],
  ): Promise<Pick<CommandSpec, "program" | "args" | "input" | "prelude">> {
    if (hold === "seatbelt") {
      const places = { ...this.#seatbelt(placed.access, view), scratch: await this.#scratch() };
      const args = seatbeltArguments(places, git);
      return { program: "/usr/bin/sandbox-exec", args: [...args, shell] };
    }
    const found = await sandbox(this.#roots);
    if (found.level !== "bubblewrap") throw new Error("the sandbox is gone");
    const plan = await this.#plan(placed, view, git);
    const nice = await findProgram("nice", this.#roots);
    const lowered = nice === undefined ? [] : [nice, "-n", String(NICENESS)];
    const user = ["--uid", String(Deno.uid()), "--gid", String(Deno.gid())];
    const inner = [...user, "--seccomp", "3", "--args", "4", "--", shell];
    // It starts in half of the time that bash takes.
    const sh = await findProgram("sh", this.#roots) ?? shell;
    const [program = sh, ...args] = [...enter, sh, "-c", ENTER, "sh", await this.#filter(placed.access)];
    return {
      program,
      args: [...args, ...lowered, found.bwrap, ...inner],
      input: new TextEncoder().encode(bwrapArguments(plan).map((argument) => `${argument}\0`).join("")),
      prelude: prelude(),
    };
  }

  /** For health: what holds commands, and what they find. */
  async describe(access: CommandAccess, denied: readonly string[]): Promise<
    { readonly args: readonly string[]; readonly masks: Masks; readonly hold: CommandHold }
  > {
    const [cwd = ""] = this.#roots;
    const hold = await this.hold();
    const { program, args, input, sweep } = await this.specify({ access, cwd }, denied);
    await sweep();
    const inside = input === undefined ? [] : new TextDecoder().decode(input).split("\0").slice(0, -1);
    return { args: [program, ...args, ...inside], masks: (await this.view(denied)).masks, hold };
  }

  async #plan(
    { access, cwd, rehearsed }: Placed,
    { masks, tracked }: CommandView,
    git: GitMounts,
  ): Promise<MountPlan> {
    const level = levelOf(access);
    const roots = this.#roots;
    const found = await sandbox(roots);
    if (found.level !== "bubblewrap") throw new Error("the sandbox is gone");
    const { state_dir, socket, command_read, command_write } = this.#user;
    const objects = (level === "look" || rehearsed) && tracked !== undefined
      ? [...roots.map((root) => join(root, ".git")), ...git.bound, ...git.guarded].map((path) =>
        join(path, "objects")
      )
      : [];
    const mounts = commandMounts({
      level,
      roots,
      home: this.#environment.HOME,
      system: found.system,
      git,
      masks,
      hidden: [...objects, ...roots.map((root) => join(root, ".git", "fsmonitor--daemon.ipc"))],
      read: [...command_read, ...command_write],
      write: rehearsed && !keepsCaches(access) ? this.#caches(git.bound) : command_write,
      own: [state_dir, ...(socket === undefined ? [] : [socket])],
      scratch: await this.#scratch(),
      gitConfig: await wholeFile(
        join(state_dir, "gitconfig"),
        new TextEncoder().encode((await userGit(roots)).text),
      ),
    });
    return { network: hasNetwork(access), cwd, mounts };
  }

  #seatbelt(access: CommandAccess, { masks }: CommandView) {
    const { state_dir, socket, command_read, command_write } = this.#user;
    return {
      level: levelOf(access),
      roots: this.#roots,
      home: this.#environment.HOME,
      readable: command_read,
      writable: command_write,
      maskedFolders: [...masks.folders, state_dir],
      maskedFiles: [...masks.files, ...(socket === undefined ? [] : [socket])],
      network: hasNetwork(access),
    };
  }

  /** The filter of system calls as a file: what a shell hands on by descriptor. */
  async #filter(access: CommandAccess): Promise<string> {
    const machine = architecture();
    if (machine === undefined) throw new Error("system calls cannot be filtered on this machine");
    // With the network come the abstract sockets of the whole machine.
    const unixSockets = levelOf(access) !== "look" && !hasNetwork(access);
    const path = join(this.#user.state_dir, `seccomp-${machine}-${unixSockets ? "unix" : "no-unix"}.bpf`);
    return await wholeFile(path, seccompFilter({ architecture: machine, unixSockets }));
  }
}

/**
 * Enters the sandbox: no core files, files of 8 GiB at most (sh counts in 512 bytes); the filter and the mounts by
 * descriptors of their own. Linux gives each session of processes its share of the processor, and niceness counts
 * within one (sched(7), "The autogroup feature"): without the first line, what forks without end leaves nothing to who
 * watches it.
 */
const ENTER = `{ echo ${NICENESS} >/proc/self/autogroup; } 2>/dev/null
ulimit -c 0; ulimit -f 16777216; exec 3<"$1" 4<&0 </dev/null; shift; exec "$@"`;

/**
 * The limit of threads, set inside: before Linux 5.14 all processes of the user count, not those in the sandbox
 * (setrlimit(2), user_namespaces(7)). Root is not held by it.
 */
function prelude(): string | undefined {
  const [major = 0, minor = 0] = Deno.osRelease().split(".").map((part) => Number.parseInt(part));
  if (major < 5 || (major === 5 && minor < 14)) return undefined;
  return `{ ulimit -u ${MOST_THREADS} || ulimit -p ${MOST_THREADS}; } 2>/dev/null`;
}

function architecture(): Architecture | undefined {
  const { arch } = Deno.build;
  return arch === "x86_64" || arch === "aarch64" ? arch : undefined;
}

/** What it writes to folders of command_write stays, and that was agreed to. */
function keepsCaches(access: CommandAccess): boolean {
  return levelOf(access) === "write" && hasNetwork(access);
}
