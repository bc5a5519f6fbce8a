/** The mode, model and effort of a session's turns. Changes apply from the next turn on. */
import { type EngineConfig, type ListedModel } from "../../../protocol/config.ts";
import { CHOOSABLE_EFFORTS, type ChoosableEffort } from "../../../protocol/options/efforts.ts";
import { nearNames } from "../../../models/model_list.ts";
import { CHOSEN, type Mode, ownMode } from "../../context/modes.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { Facts } from "../permission/memory.ts";

/** The user's choices for the session; "" uses the options. */
export type Choice = Pick<Facts, "mode" | "model" | "effort">;

/** The stored choice, with the known facts of the model. */
type Remembered = Choice & Pick<Facts, "provider" | "listed">;

/** Replaces a mode that no longer exists, and every mode of a narrowed session. */
const INSTEAD = CHOSEN.ask;

export class SessionModes {
  readonly #config: EngineConfig;
  readonly #changed: () => void;
  #own: EngineConfig["modes"];
  #choice: Remembered;
  #offered: readonly ListedModel[] = [];
  #isNarrowed = false;

  /** @param changed is called after a choice */
  constructor(config: EngineConfig, choice: Remembered, changed: () => void) {
    this.#config = config;
    this.#own = config.modes;
    const { mode, model, effort, provider, listed } = choice;
    this.#choice = { mode, model, effort, provider, listed };
    this.#changed = changed;
  }

  get choice(): Remembered {
    return this.#choice;
  }

  /** The session's chosen model if this provider has it; undefined: mode and options decide. */
  get model(): ListedModel | undefined {
    const { model, provider, listed } = this.#choice;
    if (model === "" || ![this.#config.provider?.name, ""].includes(provider)) return undefined;
    return listed ?? this.factsOf(model) ?? { name: model };
  }

  /** Models that the provider lists. */
  set offered(models: readonly ListedModel[]) {
    this.#offered = models;
  }

  /** The provider's facts; prices of the options take precedence. */
  factsOf(name: string): ListedModel | undefined {
    const [configured, listed] = [this.#config.models, this.#offered].map((all) =>
      all.find((one) => one.name === name)
    );
    return listed === undefined ? configured : { ...listed, ...configured };
  }

  /** Modes from the user's files. */
  get own(): EngineConfig["modes"] {
    return this.#own;
  }

  set own(modes: EngineConfig["modes"]) {
    this.#own = modes;
  }

  /** Modes that the user may choose, with the current effort. */
  get all(): readonly Mode[] {
    const { explore_model: model } = this.#config;
    const explore = model === undefined ? CHOSEN.explore : { ...CHOSEN.explore, model };
    return [...Object.values({ ...CHOSEN, explore }), ...this.#own.map(ownMode)]
      .map((mode) => this.#withEffort(mode));
  }

  /** The effort of the next turn. */
  get effort(): ChoosableEffort {
    const { effort: chosen } = this.#choice;
    return CHOOSABLE_EFFORTS.find((one) => one === chosen) ?? this.#config.effort ?? "default";
  }

  /** The mode of the next turn. */
  get current(): Mode {
    const { mode } = this.#choice;
    const { model } = this;
    const name = mode === "" ? this.#config.mode : mode;
    const chosen = this.all.find((one) => one.name === name);
    const row = this.#isNarrowed || chosen === undefined ? this.#withEffort(INSTEAD) : chosen;
    return { ...row, ...(model === undefined ? {} : { model: model.name, listed: model }) };
  }

  #withEffort(mode: Mode): Mode {
    const { effort } = this;
    return effort === "default" ? mode : { ...mode, effort };
  }

  /** Names of models, the options' model first. */
  get models(): readonly string[] {
    const { model, summary_model, models } = this.#config;
    const modes = this.all.map((mode) => mode.model);
    const listed = [...models, ...this.#offered, ...this.model === undefined ? [] : [this.model]];
    const names = [model, summary_model, ...listed.map(({ name }) => name), ...modes];
    return [...new Set(names.filter((name) => name !== undefined))];
  }

  /** Makes the session read-only until the user chooses a mode. The stored choice stays. */
  narrow(): void {
    this.#isNarrowed = true;
  }

  /**
   * @param choice "" uses the options @param listed the chosen model, if the provider has it @throws {ToolError} one
   * line, if the choice does not exist
   */
  choose(choice: Partial<Choice>, listed?: ListedModel): void {
    const { mode, model, effort } = choice;
    if (mode !== undefined && !this.all.some(({ name }) => name === mode)) throw unknown("mode", mode);
    const isKnown = model === undefined || model === "" || listed?.name === model;
    if (!isKnown && !this.models.includes(model)) {
      throw unknown("model", model, nearNames(model, this.models));
    }
    if (effort !== undefined && !CHOOSABLE_EFFORTS.some((one) => one === effort)) {
      throw new ToolError(`Unknown effort: ${effort}. There are ${CHOOSABLE_EFFORTS.join(", ")}.`);
    }
    const { name: provider = "" } = this.#config.provider ?? {};
    const chosen = model === undefined ? {} : model === "" ? { provider: "", listed: undefined } : {
      provider,
      listed: listed ?? this.factsOf(model),
    };
    this.#choice = { ...this.#choice, ...choice, ...chosen };
    if (mode !== undefined) this.#isNarrowed = false;
    this.#changed();
  }
}

function unknown(what: string, name: string, near: readonly string[] = []): ToolError {
  const hint = near.length === 0 ? "" : ` Near: ${near.join(", ")}.`;
  return new ToolError(`Unknown ${what}: ${name}.${hint}`);
}
