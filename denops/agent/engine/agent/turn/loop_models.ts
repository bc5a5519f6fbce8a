/** The models of one session, each with its form of the tools. */
import { briefly } from "../../context/brief.ts";
import type { Environment } from "../../context/sections.ts";
import type { Mode } from "../../context/modes.ts";
import type { Model } from "../../llm/model.ts";
import type { ClientAbilities, Tool } from "../../tools/define.ts";
import { editFormOf } from "../../../models/families.ts";
import type { Runner } from "./runner.ts";
import type { EngineConfig, ListedModel } from "../../../protocol/config.ts";
import type { EditForm } from "../../../protocol/options/efforts.ts";

export interface LoopOptions {
  readonly config: EngineConfig;
  readonly environment: Environment;
  readonly model: Model;
  /** The model for summaries. */
  readonly summarizer?: Model | undefined;
  /** Another model of the same provider. */
  modelOf(name: string, listed?: ListedModel): Model;
  readonly tools: readonly Tool[];
  /** The log of these models' requests; undefined for a sub-agent, whose requests its parent's log has. */
  readonly wireLog?: Runner["wireLog"];
  /** Abilities of the client that tools use. */
  readonly abilities: Partial<ClientAbilities>;
}

interface ModelWithTools {
  readonly model: Model;
  readonly form: EditForm;
  readonly tools: readonly Tool[];
  /** The same tools with short descriptions, for small models. */
  readonly brief: readonly Tool[];
}

export class LoopModels {
  /** Tools that the client supports. */
  readonly offered: readonly Tool[];
  readonly #options: LoopOptions;
  readonly #models = new Map<string, ModelWithTools>();

  constructor(options: LoopOptions) {
    this.#options = options;
    const { tools, abilities } = options;
    this.offered = tools.filter(({ needs }) => needs === undefined || abilities[needs] !== undefined);
  }

  /** The model of a mode. */
  of({ model: name = this.#options.model.name, listed }: Pick<Mode, "model" | "listed">): ModelWithTools {
    const key = JSON.stringify([name, listed]);
    return this.#models.getOrInsertComputed(key, () => this.#make(name, listed));
  }

  #make(name: string, listed: ListedModel | undefined): ModelWithTools {
    const { config, model, modelOf } = this.#options;
    const form = config.model_options[name]?.edit_form ?? config.edit_form ?? editFormOf(name);
    const tools = this.offered.map((tool) => ({
      ...tool,
      spec: tool.forms?.spec(form) ?? tool.specIn(config.shell),
    }));
    const brief = tools.map((tool) => ({ ...tool, spec: briefly(tool.spec) }));
    const isOwn = name === model.name && listed === undefined;
    return { model: isOwn ? model : modelOf(name, listed), form, tools, brief };
  }
}
