/** Another agent's program, which the supervisor runs over an overlay of the project. */
export type { AgentLoginResult } from "../../protocol/results/agent_login.ts";
export type { AgentOptionChange, AgentOptionsResult } from "../../protocol/results/agent_options.ts";
import type { Shown } from "../../protocol/surroundings.ts";
import type { Effects } from "./commands.ts";

/** One running program. Its changes of the project are held by the overlay of the turn. */
export interface ForeignPipe {
  /** @throws {Error} one line */
  write(text: string): Promise<void>;
  /** More output, one read at a time. `ended`: how the program ended. @throws {Error} one line */
  read(): Promise<{ readonly text: string; readonly ended?: string | undefined }>;
  /** A turn begins: the program may change the project as it is now. @throws {Error} one line */
  begin(signal: AbortSignal): Promise<void>;
  /**
   * The turn is over, and the program may change nothing until the next one. Works after the program's end, too.
   * @param complete false if the turn was stopped or failed, so that the user is asked about all of its changes
   * @returns the turn's changes, if any, and lines for the user @throws {Error} one line
   */
  end(complete: boolean): Promise<{ readonly effects?: Effects; readonly notes: readonly string[] }>;
  close(): void;
}

/** Another agent's own session of this one. */
export interface AgentSession {
  /** The agent's id. */
  readonly session: string;
  /** The last turn that it knows. */
  readonly turn: number;
  /** US dollars that it has cost, as far as the agent reports them. */
  readonly dollars?: number | undefined;
}

/** The parts of a session's turn that only another agent needs. */
export interface ForeignTurnPorts {
  /** The user's screen when the turn began; undefined: unknown. */
  readonly screen: Shown | undefined;
  /** The sessions of other agents, by the agents' names. */
  readonly agentSessions: Map<string, AgentSession>;
  /** The user's choices among their options, by the agents' names: id → value. */
  readonly agentOptions: Map<string, Readonly<Record<string, string>>>;
}

export interface ForeignPort {
  /** Starts the program. Undefined: the user has stopped the turn instead. @throws {Error} one line */
  open(signal: AbortSignal): Promise<ForeignPipe | undefined>;
}
