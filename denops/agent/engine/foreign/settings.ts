/** Another agent's mode, model and options: the user's choices, and a mode in which it asks before it acts. */
import { TurnError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { AgentOptionChange, AgentOptionsResult } from "../../protocol/results/agent_options.ts";
import type { RunnerPorts } from "../agent/turn/runner.ts";
import type { AgentConfig, OtherAgent } from "./other_agent.ts";

/** The mode in which agents plan. */
const PLAN = "plan";
/** Names of models in a notice. */
const MOST_NAMES = 20;

type SettingsPorts = Pick<RunnerPorts, "mode" | "agentOptions">;

export class AgentSettings {
  readonly #config: AgentConfig;
  /** A model of the user's was set. */
  #hasModel = false;

  constructor(config: AgentConfig) {
    this.#config = config;
  }

  /** Call it before each turn. @returns warnings */
  async apply(agent: OtherAgent, ports: SettingsPorts, signal: AbortSignal): Promise<readonly string[]> {
    const model = await this.#setModel(agent, ports, signal);
    // A model or an option may change the mode.
    const mode = await this.#setMode(agent, ports, signal);
    return [model, mode].filter((text) => text !== undefined);
  }

  /** After a start: what the user has chosen in this session. An option that is gone is forgotten. */
  async repeat(agent: OtherAgent, { agentOptions }: SettingsPorts, signal: AbortSignal): Promise<void> {
    const { name } = this.#config;
    const chosen = Object.entries(agentOptions.get(name) ?? {});
    const kept: [string, string][] = [];
    for (const [id, value] of chosen) {
      if (await succeeds(agent, () => agent.choices.setOption(id, value, signal), signal)) {
        kept.push([id, value]);
      }
    }
    if (kept.length < chosen.length) agentOptions.set(name, Object.fromEntries(kept));
  }

  /** @param change is made first, for the session @throws {TurnError} if the agent refuses it */
  async options(
    agent: OtherAgent,
    change: AgentOptionChange | undefined,
    ports: SettingsPorts,
    signal: AbortSignal,
  ): Promise<AgentOptionsResult> {
    const { name, title, asking_mode } = this.#config;
    if (change !== undefined) {
      const { id, value } = change;
      if (!await succeeds(agent, () => agent.choices.setOption(id, value, signal), signal)) {
        throw new TurnError("setup", `${title} does not set "${id}" to "${value}".`);
      }
      ports.agentOptions.set(name, { ...ports.agentOptions.get(name), [id]: value });
    }
    const problem = await this.#setMode(agent, ports, signal);
    const mode = agent.choices.mode?.current;
    return {
      options: agent.choices.options.map(({ isSwitch: _, ...option }) => option),
      ...defined({ mode }),
      asks: mode !== undefined && (mode === asking_mode || mode === PLAN),
      notes: problem === undefined ? [] : [problem],
    };
  }

  /** Some agents begin in a mode in which a model of theirs approves. The sandbox holds them all the same. */
  async #setMode(
    agent: OtherAgent,
    { mode }: SettingsPorts,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { title, asking_mode } = this.#config;
    const plans = mode.plans === true && agent.choices.mode?.values.includes(PLAN) === true;
    const leaves = !plans && agent.choices.mode?.current === PLAN;
    const wanted = plans ? PLAN : asking_mode ?? (leaves ? agent.choices.firstMode : undefined);
    if (wanted === undefined) return;
    if (await succeeds(agent, () => agent.choices.setMode(wanted, signal), signal)) return;
    const { current } = agent.choices.mode ?? {};
    const why = current === undefined
      ? `it has no mode "${wanted}"`
      : `its mode is "${current}", not "${wanted}"`;
    const assurance = "Its sandbox holds it, and nothing is kept that your rules do not let pass.";
    return `${title} does not ask before it acts: ${why}. ${assurance}`;
  }

  /** The user's choice for the session; models of modes and options are those of providers. */
  async #setModel(
    agent: OtherAgent,
    { mode: { listed } }: SettingsPorts,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const wanted = listed?.name ?? (this.#hasModel ? agent.choices.firstModel : undefined);
    this.#hasModel = listed !== undefined;
    if (wanted === undefined || await succeeds(agent, () => agent.choices.setModel(wanted, signal), signal)) {
      return;
    }
    const values = agent.choices.model?.values.map(({ value }) => value) ?? [];
    const more = values.length > MOST_NAMES ? " …; `:Agent model` lists all" : "";
    const names = values.slice(0, MOST_NAMES).join(", ");
    const hint = names === "" ? "It lets nobody choose one." : `It has ${names}${more}.`;
    return `${this.#config.title} does not use the model "${wanted}". ${hint}`;
  }
}

/** Whether the agent does it; a refusal is no. @throws {TurnError} if it has ended */
async function succeeds(
  agent: OtherAgent,
  act: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  return await act().catch((error) => {
    if (agent.hasEnded || signal.aborted) throw error;
    return false;
  });
}
