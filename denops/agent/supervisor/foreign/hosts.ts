/** Hosts beyond its row that an agent wanted to reach, and those that the user has opened to it. */
import { hostProblem, patternOf } from "../../policy/hosts.ts";

/** Of each agent. */
const MOST_REFUSED = 20;

interface AgentHostName {
  /** The agent's name. */
  readonly agent: string;
  /** A pattern. */
  readonly host: string;
}

export interface RefusedHost extends AgentHostName {
  /** The agent's name on screen. */
  readonly title: string;
}

export class AgentHosts {
  readonly #allowed = new Map<string, Set<string>>();
  /** As JSON, the newest last. */
  readonly #refused = new Map<string, AgentHostName>();

  /** The newest first. */
  get refused(): readonly AgentHostName[] {
    return [...this.#refused.values()].toReversed();
  }

  allowed(agent: string): readonly string[] {
    return [...this.#allowed.get(agent) ?? []];
  }

  /** @param host "name:port" */
  refuse(agent: string, host: string): void {
    const name = { agent, host: patternOf(host) };
    const { length } = this.refused.filter((other) => other.agent === agent);
    // An agent that asks for any host hides neither its first ones nor those of others.
    if (length >= MOST_REFUSED || hostProblem(name.host) !== undefined) return;
    this.#refused.set(JSON.stringify(name), name);
  }

  /** Only a host that the agent was refused. @throws {Error} one line */
  allow(agent: string, host: string): void {
    const key = JSON.stringify({ agent, host });
    if (!this.#refused.delete(key)) {
      throw new Error(`Cannot allow ${host}: ${agent} was not refused it. See \`:Agent rules\`.`);
    }
    this.#allowed.getOrInsertComputed(agent, () => new Set()).add(host);
  }
}
