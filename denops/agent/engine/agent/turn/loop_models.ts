/** The models of one session, each with its form of the tools. */
import { briefly } from "../../context/brief.ts";
import type { Environment } from "../../context/sections.ts";
import type { Mode } from "../../context/modes.ts";
import type { Model } from "../../llm/model.ts";
import type { ClientAbilities } from "../../ports/abilities.ts";
import type { Tool } from "../../tools/define.ts";
import { mcpTool } from "../../tools/mcp/mcp_tool.ts";
import type { McpTool } from "../../ports/mcp.ts";
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
  /** Own tools that the client supports. */
  readonly #own: readonly Tool[];
  readonly #options: LoopOptions;
  readonly #models = new Map<string, ModelWithTools>();
  /** The tools of MCP servers, made from this list. */
  #mcp: {
    readonly from: readonly McpTool[];
    readonly tools: readonly Tool[];
    readonly brief: readonly Tool[];
  } = { from: [], tools: [], brief: [] };

  constructor(options: LoopOptions) {
    this.#options = options;
    const { tools, abilities } = options;
    this.#own = tools.filter(({ needs }) => needs === undefined || abilities[needs] !== undefined);
  }

  /** Tools that the client supports, and those of its MCP servers at this moment. */
  get offered(): readonly Tool[] {
    return [...this.#own, ...this.#mcpNow().tools];
  }

  /** The model of a mode, with the tools of this moment. */
  of({ model: name = this.#options.model.name, listed }: Pick<Mode, "model" | "listed">): ModelWithTools {
    const key = JSON.stringify([name, listed]);
    const own = this.#models.getOrInsertComputed(key, () => this.#make(name, listed));
    const { tools, brief } = this.#mcpNow();
    return tools.length === 0
      ? own
      : { ...own, tools: [...own.tools, ...tools], brief: [...own.brief, ...brief] };
  }

  #mcpNow() {
    const { mcp } = this.#options.abilities;
    if (mcp !== undefined && mcp.tools !== this.#mcp.from) {
      const tools = mcp.tools.map(mcpTool);
      const brief = tools.map((tool) => ({ ...tool, spec: briefly(tool.spec) }));
      this.#mcp = { from: mcp.tools, tools, brief };
    }
    return this.#mcp;
  }

  #make(name: string, listed: ListedModel | undefined): ModelWithTools {
    const { config, model, modelOf } = this.#options;
    const form = config.model_options[name]?.edit_form ?? config.edit_form ?? editFormOf(name);
    const tools = this.#own.map((tool) => ({
      ...tool,
      spec: tool.forms?.spec(form) ?? tool.specIn(config.shell),
    }));
    const brief = tools.map((tool) => ({ ...tool, spec: briefly(tool.spec) }));
    const isOwn = name === model.name && listed === undefined;
    return { model: isOwn ? model : modelOf(name, listed), form, tools, brief };
  }
}
