/** Runs the commands of one workspace in this machine's sandbox. */
import { basename } from "node:path";
import { globMatcher } from "../../policy/glob.ts";
import { type CommandAccess, hasNetwork, levelOf } from "../../protocol/commands.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { type GitGuard, gitGuards, gitOverlaid } from "../git/guard.ts";
import { findProgram, sandbox } from "../system/sandbox.ts";
import { defined } from "../../shared/records.ts";
import { seatbeltArguments } from "./seatbelt.ts";
import { commandEnvironment } from "../system/environment.ts";
import { projectState, scratchFolder } from "../system/project_state.ts";
import {
  architecture,
  bubblewrapCommand,
  bubblewrapProgram,
  overlaidProgram,
  type StartedCommand,
} from "./bubblewrap.ts";
import type { CommandPlace, CommandView, GitMounts } from "./command_place.ts";
import { MaskFinder, type Masks } from "./masks.ts";
import type { OverlayOptions } from "./overlay/overlay.ts";
import { forgetOverlaySupport, type OverlaySupport, overlaySupport } from "./overlay/probe.ts";
import { writtenBeside } from "../system/sandbox/command_mounts.ts";
import { Rehearsal } from "./rehearsal.ts";
import type { CommandSpec } from "./runner.ts";
import { TrackedFiles } from "./tracked.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";

type CommandHold = "bubblewrap" | "seatbelt" | "none";

async function findHold(
  user: Pick<UserConfig, "sandbox">,
  roots: readonly string[],
): Promise<CommandHold> {
  // Command lines are parsed as bash, and bash enters the sandbox.
  if (user.sandbox === "off" || await findProgram("bash", roots) === undefined) return "none";
  if ((await sandbox(roots)).level === "bubblewrap" && architecture() !== undefined) return "bubblewrap";
  if (Deno.build.os !== "darwin") return "none";
  return await findProgram("sandbox-exec", roots) === undefined ? "none" : "seatbelt";
}

type SandboxOptions = Pick<
  UserConfig,
  "sandbox" | "command_read" | "command_write" | "command_environment" | "socket" | "state_dir"
>;

type Store = OverlayOptions["store"];

/** Where dropped changes are stored, or half a sentence about why overlays do not work. */
type Rehearses =
  | { readonly works: true; readonly store: Store }
  | { readonly works: false; readonly reason: string };

/** Programs over the overlays of a rehearsal. */
export interface OverlaidPrograms {
  /** Undefined: nothing can be written. */
  readonly rehearsal: Rehearsal | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** @param more mounts beside those of a command @throws {Error} one line */
  program(
    words: readonly string[],
    more: Parameters<typeof bubblewrapProgram>[3],
  ): Promise<Pick<StartedCommand, "program" | "args">>;
}

export class CommandSandbox {
  readonly #roots: readonly string[];
  readonly #user: SandboxOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #masks = new MaskFinder();
  readonly #tracked = new TrackedFiles();
  /** Further folders that commands can read, at the moment of their start. */
  #shared: () => readonly string[] = () => [];
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

  /** Lets commands read folders outside of the workspace. @param folders real paths, called for each command */
  share(folders: () => readonly string[]): void {
    this.#shared = folders;
  }

  get #readable(): readonly string[] {
    return [...this.#user.command_read, ...this.#shared()];
  }

  /**
   * The sandbox of commands, detected once: a command approved for a sandbox never runs without one, even if
   * it is no longer available.
   */
  hold(): Promise<CommandHold> {
    this.#hold ??= findHold(this.#user, this.#roots);
    return this.#hold;
  }

  async #shell(): Promise<string | undefined> {
    return await findProgram("bash", this.#roots) ?? await findProgram("sh", this.#roots);
  }

  /** The shell's name for models. Apple stays with bash 3.2, which lacks much that models write. */
  async shellName(): Promise<string> {
    const shell = await this.#shell() ?? "sh";
    return Deno.build.os === "darwin" && shell === "/bin/bash" ? "bash 3.2" : basename(shell);
  }

  /** Whether commands can run over overlays: detected once, and again after an overlay has not started. */
  rehearses(): Promise<Rehearses> {
    this.#rehearses ??= this.#findRehearses();
    return this.#rehearses;
  }

  /** Forgets the results of earlier tests. */
  async forgetOverlaySupport(): Promise<void> {
    for (const store of ["memory", "disk"] as const) await forgetOverlaySupport(this.#overlayOptions(store));
    this.#rehearses = undefined;
  }

  async #findRehearses(): Promise<Rehearses> {
    if (await this.hold() !== "bubblewrap") return { works: false, reason: "no bubblewrap holds commands" };
    const memory = await this.#support("memory");
    if (memory.works) return { works: true, store: "memory" };
    return (await this.#support("disk")).works ? { works: true, store: "disk" } : memory;
  }

  #support(store: Store): Promise<OverlaySupport> {
    return overlaySupport(this.#overlayOptions(store));
  }

  #overlayOptions(store: Store): OverlayOptions {
    return { roots: this.#overlaid("try"), state: this.#user.state_dir, store };
  }

  /** The roots, and the writable parts of git outside of them. */
  #overlaid(level: "try" | "write"): readonly string[] {
    return [...this.#roots, ...gitOverlaid(this.#roots, level).bound];
  }

  /** @param denied globs of unreadable files */
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
   * Builds the specification of a command.
   * @param isMasked whether the approval assumed that unreadable files are hidden
   * @throws {Error} one line
   */
  async specify(
    { access, cwd, rehearsed = false, hosts }: CommandPlace,
    denied: readonly string[],
    isMasked = false,
  ): Promise<Omit<CommandSpec, "line" | "cwd" | "timeoutMs">> {
    const roots = this.#roots;
    const shell = await this.#shell();
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
      const placed = { access, cwd, rehearsed, hosts };
      const { variables, ...started } = await this.#guarded(hold, shell, placed, {
        denied,
        isMasked,
        git,
        rehearsal,
      });
      return { ...started, env: { ...env, ...variables }, ...defined({ rehearsal }) };
    } catch (error) {
      await rehearsal?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @param isKept whether its changes may be kept; by default those of access "write" */
  async #rehearse(access: CommandAccess, isKept = levelOf(access) === "write"): Promise<Rehearsal> {
    const level = levelOf(access);
    const found = await this.rehearses();
    if (!found.works) throw new Error(`commands cannot be rehearsed here: ${found.reason}`);
    if (level !== "try" && level !== "write") throw new Error(`access ${level} is not rehearsed`);
    const roots = this.#overlaid(level);
    const caches = keepsCaches(access) ? [] : this.#caches(roots);
    const scratch = level === "try" ? await this.#scratch() : undefined;
    // Changes that may be kept can be large.
    const store = level === "write" && (await this.#support("disk")).works ? "disk" : found.store;
    const folders = scratch === undefined ? caches : [...caches, scratch];
    const options = { roots, caches: folders, state: this.#user.state_dir, store };
    try {
      return await Rehearsal.start(options, isKept);
    } catch (error) {
      await this.forgetOverlaySupport();
      throw error;
    }
  }

  /** The scratch folders of the project's sessions; undefined if unavailable. */
  async #scratch(): Promise<string | undefined> {
    const [root = ""] = this.#roots;
    return await projectState(root, this.#user.state_dir).then(scratchFolder).catch(() => undefined);
  }

  /**
   * Folders of command_write that a command can write over an overlay: Go needs a writable build cache.
   * @param more other overlaid folders
   */
  #caches(more: readonly string[]): readonly string[] {
    const { command_write, state_dir } = this.#user;
    return writtenBeside([...this.#roots, ...more, state_dir], command_write, this.#environment.HOME);
  }

  async #guarded(
    hold: Exclude<CommandHold, "none">,
    shell: string,
    placed: CommandPlace,
    { denied, isMasked, git, rehearsal }: {
      readonly denied: readonly string[];
      readonly isMasked: boolean;
      readonly git: GitMounts & Pick<GitGuard, "sweep">;
      readonly rehearsal: Rehearsal | undefined;
    },
  ): Promise<StartedCommand & Pick<CommandSpec, "sweep">> {
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
    placed: CommandPlace,
    view: CommandView,
    git: GitMounts,
    enter: readonly string[] = [],
  ): Promise<StartedCommand> {
    const scratch = await this.#scratch();
    if (hold === "seatbelt") {
      const places = { ...this.#seatbelt(placed.access, view), scratch };
      const args = seatbeltArguments(places, git);
      return { program: "/usr/bin/sandbox-exec", args: [...args, shell] };
    }
    const { command_write } = this.#user;
    const user = { ...this.#user, command_read: [...this.#readable] };
    const overlaid = placed.rehearsed && !keepsCaches(placed.access);
    return await bubblewrapCommand(shell, placed, {
      roots: this.#roots,
      user,
      environment: this.#environment,
      view,
      git,
      write: overlaid ? this.#caches(git.bound) : command_write,
      scratch,
      enter,
    });
  }

  /**
   * The command line of a program that runs beside commands and reads what they can read. It has no network.
   * @param words the program and its arguments @param denied globs of unreadable files
   * @param more mounts beside those of a command
   * @throws {Error} one line, if there is no sandbox, or unreadable files cannot be hidden
   */
  async program(
    words: readonly string[],
    denied: readonly string[],
    more: Parameters<typeof bubblewrapProgram>[3],
  ): Promise<Pick<StartedCommand, "program" | "args">> {
    if (await this.hold() !== "bubblewrap") throw new Error("this machine has no bubblewrap for a sandbox");
    const view = await this.view(denied);
    if (!view.masks.complete) throw new Error(`some files cannot be hidden from it: ${view.masks.reason}`);
    const [cwd = ""] = this.#roots;
    const git = await gitGuards(this.#roots, "look", this.#user.state_dir);
    const places = { roots: this.#roots, user: this.#user, environment: this.#environment };
    return await bubblewrapProgram(
      words,
      cwd,
      { ...places, view, git, write: [], scratch: undefined, enter: [] },
      more,
    );
  }

  /**
   * Programs that run one after another over the same overlays of the roots, and read what commands read. They have no
   * network, and git's folders are read-only. Where overlays do not work, all is read-only. The caller disposes of the
   * rehearsal.
   * @param denied globs of unreadable files @param isKept whether their changes may be kept
   * @throws {Error} one line, if there is no sandbox, or unreadable files cannot be hidden
   */
  async overlaid(denied: readonly string[], isKept: boolean): Promise<OverlaidPrograms> {
    if (await this.hold() !== "bubblewrap") throw new Error("this machine has no bubblewrap for a sandbox");
    const view = await this.view(denied);
    if (!view.masks.complete) throw new Error(`some files cannot be hidden from it: ${view.masks.reason}`);
    if (!(await this.rehearses()).works) {
      return {
        rehearsal: undefined,
        environment: commandEnvironment(this.#user.command_environment, "look", this.#environment),
        program: (words, more) => this.program(words, denied, more),
      };
    }
    const rehearsal = await this.#rehearse("write", isKept);
    const git = gitOverlaid(this.#roots, "write");
    const places = { roots: this.#roots, user: this.#user, environment: this.#environment };
    const write = this.#caches(git.bound);
    const [cwd = ""] = this.#roots;
    return {
      rehearsal,
      environment: commandEnvironment(this.#user.command_environment, "write", this.#environment),
      program: (words, more) =>
        overlaidProgram(
          words,
          cwd,
          { ...places, view, git, write, scratch: undefined, enter: rehearsal.enter },
          { more, ownSandbox: false },
        ),
    };
  }

  /** For health: the sandbox of commands, and its contents. */
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

  #seatbelt(access: CommandAccess, { masks }: CommandView) {
    const { state_dir, socket, command_write } = this.#user;
    return {
      level: levelOf(access),
      roots: this.#roots,
      home: this.#environment.HOME,
      readable: this.#readable,
      writable: command_write,
      maskedFolders: [...masks.folders, state_dir],
      maskedFiles: [...masks.files, ...(socket === undefined ? [] : [socket])],
      network: hasNetwork(access),
    };
  }
}

/** Whether the user approved that its writes to folders of command_write are kept. */
function keepsCaches(access: CommandAccess): boolean {
  return levelOf(access) === "write" && hasNetwork(access);
}
