/** In which mode a session's turns run, with which model and effort; a change holds from the next turn on. */
import {
  CHOOSABLE_EFFORTS,
  type ChoosableEffort,
  type EngineConfig,
  type ListedModel,
} from "../../../protocol/config.ts";
import { nearNames } from "../../../models/model_list.ts";
import { CHOSEN, type Mode, ownMode } from "../../context/modes.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { Facts } from "../permission/memory.ts";

/** What was chosen for the session; "" leaves it to the options. */
export type Choice = Pick<Facts, "mode" | "model" | "effort">;

/** The choice as the session remembers it: a model with what is known of it. */
type Remembered = Choice & Pick<Facts, "provider" | "listed">;

/** Where the mode that was chosen is no more, and where none that changes anything is of use. */
const INSTEAD = CHOSEN.ask;

export class SessionModes {
  readonly #config: EngineConfig;
  readonly #changed: () => void;
  #own: EngineConfig["modes"];
  #choice: Remembered;
  #offered: readonly ListedModel[] = [];
  #isNarrowed = false;

  /** @param changed is called when something was chosen */
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

  /** The model that was chosen for the session, if this provider has it; undefined: it is left to mode and options. */
  get model(): ListedModel | undefined {
    const { model, provider, listed } = this.#choice;
    if (model === "" || ![this.#config.provider?.name, ""].includes(provider)) return undefined;
    return listed ?? this.factsOf(model) ?? { name: model };
  }

  /** Those that the provider lists. */
  set offered(models: readonly ListedModel[]) {
    this.#offered = models;
  }

  /** As the provider lists it; the options' price counts before the list's. */
  factsOf(name: string): ListedModel | undefined {
    const [configured, listed] = [this.#config.models, this.#offered].map((all) =>
      all.find((one) => one.name === name)
    );
    return listed === undefined ? configured : { ...listed, ...configured };
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
    const { explore_model: model } = this.#config;
    const explore = model === undefined ? CHOSEN.explore : { ...CHOSEN.explore, model };
    return [...Object.values({ ...CHOSEN, explore }), ...this.#own.map(ownMode)]
      .map((mode) => this.#withEffort(mode));
  }

  /** Of the next turn. */
  get effort(): ChoosableEffort {
    const { effort: chosen } = this.#choice;
    return CHOOSABLE_EFFORTS.find((one) => one === chosen) ?? this.#config.effort ?? "default";
  }

  /** The row of the next turn. */
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

  /** Names of models, the one of the options first. */
  get models(): readonly string[] {
    const { model, summary_model, models } = this.#config;
    const modes = this.all.map((mode) => mode.model);
    const listed = [...models, ...this.#offered, ...this.model === undefined ? [] : [this.model]];
    const names = [model, summary_model, ...listed.map(({ name }) => name), ...modes];
    return [...new Set(names.filter((name) => name !== undefined))];
  }

  /** Turns change nothing until a mode is chosen. What was chosen stays stored. */
  narrow(): void {
    this.#isNarrowed = true;
  }

  /**
   * @param choice "" leaves it to the options
   * @param listed the chosen model, if it is known to be one of the provider's
   * @throws {ToolError} one line, if there is no such thing to choose
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
