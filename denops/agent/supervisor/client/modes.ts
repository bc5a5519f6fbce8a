/** The modes of a project: built-in ones, and custom ones from files. */
import type { UserConfig } from "../../protocol/config.ts";
import {
  covers,
  MODE_FACTS,
  type ModeAccess,
  type ModeFacts,
  type OwnMode,
  type TurnLimits,
} from "../../protocol/modes.ts";
import { defined } from "../../shared/records.ts";
import { knownModels } from "../agents/provider.ts";
import { ModeBook, type ModeChoice } from "../gate/mode_book.ts";
import { type ModeFileOptions, modeFiles } from "../project/mode_files.ts";

/** A read-only mode, for choices that are no longer valid. */
const FALLBACK = "ask";

export class Modes {
  readonly book: ModeBook;
  readonly #user: UserConfig;
  readonly #place: () => Pick<ModeFileOptions, "root" | "rules">;
  #own: readonly OwnMode[] = [];
  #problems: readonly string[] = [];

  /** @param place called for each reading of the files @throws {Error} as `place` does */
  constructor(user: UserConfig, place: () => Pick<ModeFileOptions, "root" | "rules">) {
    this.book = new ModeBook(user.state_dir);
    this.#user = user;
    this.#place = place;
  }

  /** Reads the files. @return whether the modes have changed */
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

  /** Custom modes from files. */
  get own(): readonly OwnMode[] {
    return this.#own;
  }

  /** Problems of the files, one line each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  get all(): readonly ModeFacts[] {
    const facts: readonly ModeFacts[] = MODE_FACTS;
    return [
      ...facts,
      ...this.#own.map((mode) => ({
        ...mode,
        title: mode.name,
        ...defined({ toolSet: facts.find(({ name }) => name === mode.base)?.toolSet }),
      })),
    ];
  }

  /**
   * Why a choice is no longer valid, in one sentence. A changed file must not allow more than the user chose.
   */
  problem({ mode, access }: ModeChoice): string | undefined {
    if (!this.all.some(({ name }) => name === mode)) return `Unknown mode: ${mode}.`;
    return covers(access, this.accessOf(mode))
      ? undefined
      : `Mode ${mode} may change more than when you chose it.`;
  }

  /** The choice of a mode with its current access. */
  choice(mode: string): ModeChoice {
    return { mode, access: this.accessOf(mode) };
  }

  /** The mode that an engine reports, if it exists and allows less than the choice. */
  narrower({ access }: ModeChoice, mode: string): ModeChoice | undefined {
    const choice = this.choice(mode);
    const isLess = access !== choice.access && covers(access, choice.access);
    return isLess && this.problem(choice) === undefined ? choice : undefined;
  }

  /** Replaces an invalid choice. */
  get fallback(): ModeChoice {
    return this.choice(FALLBACK);
  }

  /** Unknown modes are read-only. */
  accessOf(name: string): ModeAccess {
    return this.#factsOf(name)?.access ?? "read";
  }

  /** The limits of a turn in this mode. */
  limits({ mode, access }: ModeChoice): TurnLimits {
    // Without tools an engine has nothing to write or to run.
    if (!this.hasTools(mode)) return { access: "read", toolSet: "look" };
    return { access, ...defined({ toolSet: this.#factsOf(mode)?.toolSet }) };
  }

  /** False for a mode without tools. */
  hasTools(mode: string): boolean {
    return this.#own.find(({ name }) => name === mode)?.tools?.length !== 0;
  }

  #factsOf(mode: string): ModeFacts | undefined {
    return this.all.find(({ name }) => name === mode);
  }

  /** The options' mode, for sessions without a choice. */
  get first(): ModeChoice {
    return this.choice(this.#user.mode);
  }
}
