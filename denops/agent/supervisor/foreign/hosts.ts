/** Hosts beyond its row that an agent wanted to reach, and those that the user has opened to it. */
import { hostProblem, patternOf } from "../../policy/hosts.ts";

/** Of all agents of a project. */
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
    const one = { agent, host: patternOf(host) };
    const key = JSON.stringify(one);
    // An agent that asks for any host does not hide the first ones of the others.
    if (this.#refused.size >= MOST_REFUSED || hostProblem(one.host) !== undefined) return;
    this.#refused.set(key, one);
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
