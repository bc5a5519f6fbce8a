/** In which mode a session's turns run, with which model and effort; a change holds from the next turn on. */
import type { EngineConfig, ListedModel } from "../../protocol/config.ts";
import { nearNames } from "../../protocol/model_list.ts";
import { CHOSEN, type Mode, ownMode } from "../context/modes.ts";
import { ToolError } from "../core/errors.ts";
import type { Facts } from "./memory.ts";

/** What was chosen for the session; "" leaves it to the options. */
export type Choice = Pick<Facts, "mode" | "model" | "effort">;

/** The choice as the session remembers it: a model with what is known of it. */
type Remembered = Choice & Pick<Facts, "provider" | "listed">;

export const EFFORTS = ["default", "none"] as const;

/** Where the mode that was chosen is no more. */
const INSTEAD = CHOSEN.ask;

export class SessionModes {
  readonly #config: EngineConfig;
  readonly #changed: () => void;
  #own: EngineConfig["modes"];
  #choice: Remembered;
  #offered: readonly ListedModel[] = [];

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
    const [told, listed] = [this.#config.models, this.#offered].map((all) =>
      all.find((one) => one.name === name)
    );
    return listed === undefined ? told : { ...listed, ...told };
  }

  /** Those that files describe. */
  get own(): EngineConfig["modes"] {
    return this.#own;
  }

  set own(modes: EngineConfig["modes"]) {
    this.#own = modes;
  }

  /** Those that may be chosen. */
  get all(): readonly Mode[] {
    return [...Object.values(CHOSEN), ...this.#own.map(ownMode)];
  }

  /** The row of the next turn. */
  get current(): Mode {
    const { mode, effort } = this.#choice;
    const { model } = this;
    const name = mode === "" ? this.#config.mode : mode;
    const row = this.all.find((one) => one.name === name) ?? INSTEAD;
    return {
      ...row,
      ...(model === undefined ? {} : { model: model.name, listed: model }),
      ...(effort === "none" ? { effort } : {}),
    };
  }

  /** Names of models, the one of the options first. */
  get models(): readonly string[] {
    const { model, summary_model, models } = this.#config;
    const modes = this.all.map((mode) => mode.model);
    const listed = [...models, ...this.#offered, ...this.model === undefined ? [] : [this.model]];
    const names = [model, summary_model, ...listed.map(({ name }) => name), ...modes];
    return [...new Set(names.filter((name) => name !== undefined))];
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
    if (effort !== undefined && !EFFORTS.some((one) => one === effort)) throw unknown("effort", effort);
    const { name: provider = "" } = this.#config.provider ?? {};
    const chosen = model === undefined ? {} : model === "" ? { provider: "", listed: undefined } : {
      provider,
      listed: listed ?? this.factsOf(model),
    };
    this.#choice = { ...this.#choice, ...choice, ...chosen };
    this.#changed();
  }
}

function unknown(what: string, name: string, near: readonly string[] = []): ToolError {
  const hint = near.length === 0 ? "" : ` Near: ${near.join(", ")}.`;
  return new ToolError(`Unknown ${what}: ${name}.${hint}`);
}
