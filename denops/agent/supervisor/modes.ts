/** The modes of a project, and which of them its sessions are in. */
import type { UserConfig } from "../protocol/config.ts";
import { covers, MODE_FACTS, type ModeAccess, type ModeFacts, type OwnMode } from "../protocol/modes.ts";
import { knownModels } from "./agents/provider.ts";
import { type Choice, ModeBook } from "./gate/mode_book.ts";
import { type ModeFileOptions, modeFiles } from "./project/mode_files.ts";

/** Where the mode that was chosen cannot be had. It changes nothing. */
const INSTEAD = "ask";

export class Modes {
  readonly book: ModeBook;
  readonly #user: UserConfig;
  readonly #place: () => Pick<ModeFileOptions, "root" | "rules">;
  #own: readonly OwnMode[] = [];
  #problems: readonly string[] = [];

  /** @param place is asked whenever the files are read @throws {Error} of the place */
  constructor(user: UserConfig, place: () => Pick<ModeFileOptions, "root" | "rules">) {
    this.book = new ModeBook(user.state_dir);
    this.#user = user;
    this.#place = place;
  }

  /** Reads the files. @return whether anything is not as it was */
  async read(): Promise<boolean> {
    const known = [...knownModels(this.#user)];
    const { modes, problems } = await modeFiles({
      ...this.#place(),
      configDir: this.#user.config_dir,
      known,
    });
    const before = JSON.stringify(this.#own);
    this.#own = modes;
    this.#problems = problems;
    return JSON.stringify(modes) !== before;
  }

  /** Those that files describe. */
  get own(): readonly OwnMode[] {
    return this.#own;
  }

  /** What is wrong with files, one line each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  get all(): readonly ModeFacts[] {
    return [...MODE_FACTS, ...this.#own.map((mode) => ({ ...mode, title: mode.name }))];
  }

  /** Why a choice holds no longer, one sentence; undefined: it does. A file may not widen what was agreed to. */
  problem({ mode, access }: Choice): string | undefined {
    if (!this.all.some(({ name }) => name === mode)) return `Unknown mode: ${mode}.`;
    return covers(access, this.accessOf(mode))
      ? undefined
      : `Mode ${mode} may change more than when you chose it.`;
  }

  /** A mode as it is chosen now. */
  choice(mode: string): Choice {
    return { mode, access: this.accessOf(mode) };
  }

  /** What an engine's word makes of a choice: a mode that there is, and that changes less. Undefined: nothing. */
  narrower({ access }: Choice, mode: string): Choice | undefined {
    const choice = this.choice(mode);
    const isLess = access !== choice.access && covers(access, choice.access);
    return isLess && this.problem(choice) === undefined ? choice : undefined;
  }

  /** In the place of a choice that has a problem. */
  get instead(): Choice {
    return this.choice(INSTEAD);
  }

  /** Nothing, where there is no such mode. */
  accessOf(name: string): ModeAccess {
    return this.all.find((one) => one.name === name)?.access ?? "read";
  }

  /** That of sessions of which nothing else was chosen. */
  get first(): Choice {
    return this.choice(this.#user.mode);
  }
}
