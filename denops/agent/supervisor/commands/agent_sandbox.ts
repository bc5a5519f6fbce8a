/** The sandbox of programs that live over overlays or copies of a workspace for several turns: agents from elsewhere. */
import type { UserConfig } from "../../protocol/config.ts";
import { messageOf } from "../../shared/errors.ts";
import { gitOverlaid } from "../git/guard.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import type { Mount } from "../system/sandbox/mounts.ts";
import { hiddenInGit, overlaidProgram, type StartedCommand } from "./bubblewrap.ts";
import type { CommandView } from "./command_place.ts";
import { overlaySupport } from "./overlay/probe.ts";
import { TurnCopy } from "./overlay/turn_copy.ts";
import { TurnOverlay } from "./overlay/turn_overlay.ts";
import type { HiddenPaths, TurnRoots } from "./overlay/turn_roots.ts";
import type { CommandSandbox } from "./sandbox.ts";

interface AgentSandboxOptions {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "command_read" | "command_write" | "socket" | "state_dir">;
  readonly sandbox: Pick<CommandSandbox, "hold" | "rehearses" | "view">;
  /** Neovim's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

interface OverlaidOptions {
  readonly turnRoots: TurnRoots;
  /** Mounts beside those of a command. */
  readonly more: readonly Mount[];
  /** It creates sandboxes for its own commands. */
  readonly ownSandbox: boolean;
}

export class AgentSandbox {
  readonly #options: AgentSandboxOptions;

  constructor(options: AgentSandboxOptions) {
    this.#options = options;
  }

  /**
   * Overlays of the roots, or copies where overlays do not work. Git's folders outside of the roots follow them.
   * @param denied globs of unreadable files @param signal stops copying
   * @throws {Error} half a sentence
   */
  async turnRoots(denied: readonly string[], signal: AbortSignal): Promise<TurnRoots> {
    const { roots: own, user: { state_dir: state }, sandbox } = this.#options;
    const roots = [...own, ...this.#git.bound];
    const found = await sandbox.rehearses();
    if (found.works) {
      const disk = await overlaySupport({ roots, state, store: "disk" });
      const store = disk.works ? "disk" : found.store;
      return await TurnOverlay.start({ roots, state, store }, await this.hiddenPaths(denied));
    }
    if (await sandbox.hold() !== "bubblewrap") throw new Error(found.reason);
    return await TurnCopy.start({ roots, state }, await this.hiddenPaths(denied), signal).catch((error) => {
      throw new Error(`${found.reason}; a copy does not work either: ${messageOf(error)}`);
    });
  }

  /** The paths that no turn sees. @throws {Error} half a sentence, if they cannot be hidden */
  async hiddenPaths(denied: readonly string[]): Promise<HiddenPaths> {
    const { masks, tracked } = await this.#view(denied);
    const inGit = hiddenInGit(this.#options.roots, this.#git, tracked !== undefined);
    const isFolder = (path: string) => path.endsWith("/objects");
    return {
      folders: [...masks.folders, ...inGit.filter(isFolder)],
      files: [...masks.files, ...inGit.filter((path) => !isFolder(path))],
    };
  }

  /**
   * The command line of a program over these roots. It has no network.
   * @param words the program and its arguments
   * @throws {Error} half a sentence
   */
  async program(
    words: readonly string[],
    denied: readonly string[],
    { turnRoots: { enter, mounts }, more, ownSandbox }: OverlaidOptions,
  ): Promise<Pick<StartedCommand, "program" | "args">> {
    const { roots, user, environment = neovimEnvironment() } = this.#options;
    const [cwd = ""] = roots;
    const view = await this.#view(denied);
    const places = { roots, user, environment, view, git: this.#git, write: [], scratch: undefined };
    const all = [...mounts, ...more];
    return await overlaidProgram(words, cwd, { ...places, enter }, { more: all, ownSandbox });
  }

  get #git() {
    return gitOverlaid(this.#options.roots, "try");
  }

  async #view(denied: readonly string[]): Promise<CommandView> {
    const view = await this.#options.sandbox.view(denied);
    if (!view.masks.complete) throw new Error(`some files cannot be hidden from it: ${view.masks.reason}`);
    return view;
  }
}
