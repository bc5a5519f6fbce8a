/** In which mode a session's turns run, with which model and effort; a change holds from the next turn on. */
import { type Effort, EFFORTS, type EngineConfig } from "../../protocol/config.ts";
import { CHOSEN, type Mode, ownMode } from "../context/modes.ts";
import { ToolError } from "../core/errors.ts";
import type { Facts } from "./memory.ts";

/** What was chosen for the session; "" leaves it to the options. */
export type Choice = Pick<Facts, "mode" | "model" | "effort">;

/** The provider's own effort, whatever the options say. */
const OF_PROVIDER = "default";
/** The efforts that may be chosen. */
export const CHOOSABLE_EFFORTS = [OF_PROVIDER, ...EFFORTS] as const;

/** Where the mode that was chosen is no more, and where none that changes anything is of use. */
const INSTEAD = CHOSEN.ask;

export class SessionModes {
  readonly #config: EngineConfig;
  readonly #changed: () => void;
  #own: EngineConfig["modes"];
  #choice: Choice;
  #isNarrowed = false;

  /** @param changed is called when something was chosen */
  constructor(config: EngineConfig, choice: Choice, changed: () => void) {
    this.#config = config;
    this.#own = config.modes;
    const { mode, model, effort } = choice;
    this.#choice = { mode, model, effort };
    this.#changed = changed;
  }

  get choice(): Choice {
    return this.#choice;
  }

  /** Those that files describe. */
  get own(): EngineConfig["modes"] {
    return this.#own;
  }

  set own(modes: EngineConfig["modes"]) {
    this.#own = modes;
  }

  /** Those that may be chosen, with the effort of this moment. */
  get all(): readonly Mode[] {
    return [...Object.values(CHOSEN), ...this.#own.map(ownMode)].map((mode) => this.#withEffort(mode));
  }

  /** Of the next turn. */
  get effort(): Effort | typeof OF_PROVIDER {
    const { effort: chosen } = this.#choice;
    return CHOOSABLE_EFFORTS.find((one) => one === chosen) ?? this.#config.effort ?? OF_PROVIDER;
  }

  /** The row of the next turn. */
  get current(): Mode {
    const { mode, model } = this.#choice;
    const name = mode === "" ? this.#config.mode : mode;
    const chosen = this.all.find((one) => one.name === name);
    const row = this.#isNarrowed || chosen === undefined ? this.#withEffort(INSTEAD) : chosen;
    return { ...row, ...(model === "" ? {} : { model }) };
  }

  #withEffort(mode: Mode): Mode {
    const { effort } = this;
    return effort === OF_PROVIDER ? mode : { ...mode, effort };
  }

  /** Names of models, the one of the options first. */
  get models(): readonly string[] {
    const { model, summary_model, models } = this.#config;
    const modes = this.all.map((mode) => mode.model);
    const names = [model, summary_model, ...models.map(({ name }) => name), ...modes];
    return [...new Set(names.filter((name) => name !== undefined))];
  }

  /** Turns change nothing until a mode is chosen. What was chosen stays stored. */
  narrow(): void {
    this.#isNarrowed = true;
  }

  /** @throws {ToolError} one line, if there is no such thing to choose */
  choose(choice: Partial<Choice>): void {
    const { mode, model, effort } = choice;
    if (mode !== undefined && !this.all.some(({ name }) => name === mode)) throw unknown("mode", mode);
    if (model !== undefined && !this.models.includes(model)) throw unknown("model", model);
    if (effort !== undefined && !CHOOSABLE_EFFORTS.some((one) => one === effort)) {
      throw new ToolError(`Unknown effort: ${effort}. There are ${CHOOSABLE_EFFORTS.join(", ")}.`);
    }
    this.#choice = { ...this.#choice, ...choice };
    if (mode !== undefined) this.#isNarrowed = false;
    this.#changed();
  }
}

function unknown(what: string, name: string): ToolError {
  return new ToolError(`Unknown ${what}: ${name}.`);
}
