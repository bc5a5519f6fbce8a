/** The modes of a project, and which of them its sessions are in. */
import type { UserConfig } from "../protocol/config.ts";
import { MODE_FACTS, type ModeAccess, type ModeFacts, type OwnMode } from "../protocol/modes.ts";
import { knownModels } from "./agents/provider.ts";
import { ModeBook } from "./gate/mode_book.ts";
import { type ModeFileOptions, modeFiles } from "./search/mode_files.ts";

/** Where the mode that was chosen is no more. */
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

  /** The name of a mode that there is. */
  there(name: string): string {
    return this.all.some((one) => one.name === name) ? name : INSTEAD;
  }

  /** Nothing, where there is no such mode. */
  accessOf(name: string): ModeAccess {
    return this.all.find((one) => one.name === name)?.access ?? "read";
  }

  /** That of sessions of which nothing else was chosen. */
  get first(): string {
    return this.#user.mode;
  }
}
