/** The source of an engine's turns: a model of a provider, or another agent. */
import type { EngineConfig, ModelConfig, UserConfig } from "../../../protocol/config.ts";
import { foreignAgent, foreignAgentNames } from "../../../protocol/options/foreign_agents.ts";
import { defined } from "../../../shared/records.ts";
import { engineConfig, type ProviderWorld } from "../provider.ts";

interface AgentModel {
  readonly agent: NonNullable<EngineConfig["agent"]>;
}

/** `problem`: one line why there is neither. */
export type EngineModel = Pick<ModelConfig, "provider" | "model"> | AgentModel | { readonly problem: string };

/** @throws {Error} one line that says how to set one up */
export async function engineModel(
  user: UserConfig,
  world: ProviderWorld,
  roots: readonly string[],
): Promise<ModelConfig | AgentModel> {
  return user.agent === undefined ? await engineConfig(user, world, roots) : agentModel(user, user.agent);
}

export function agentOf(model: EngineModel): AgentModel["agent"] | undefined {
  return "provider" in model || "problem" in model ? undefined : model.agent;
}

/** The names on screen; undefined without a model. */
export function namesOf(
  model: EngineModel,
): { readonly provider: string; readonly model: string; readonly agent: boolean } | undefined {
  if ("problem" in model) return undefined;
  if ("agent" in model) return { provider: model.agent.name, model: model.agent.title, agent: true };
  return { provider: model.provider.name, model: model.model, agent: false };
}

function agentModel({ agents }: UserConfig, agent: string): AgentModel {
  const row = foreignAgent(agent, agents);
  if (row === undefined) {
    throw new Error(`Unknown agent "${agent}". Known are: ${foreignAgentNames(agents).join(", ")}.`);
  }
  const { name, title, asking_mode, login } = row;
  return { agent: { name, title, ...defined({ asking_mode, login: login?.join(" ") }) } };
}
