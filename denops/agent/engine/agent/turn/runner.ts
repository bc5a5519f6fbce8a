/** Runs a session's turns: our loop or another agent. The session keeps log, checkpoints, access and queue. */
import type { Chosen } from "../../context/chosen.ts";
import type { ContextPage } from "../../context/message_parts.ts";
import type { Mode } from "../../context/modes.ts";
import type { Project } from "../../context/project.ts";
import { TurnError } from "../../../shared/errors.ts";
import type { ControlNote, FoldEntry, MessageEntry } from "../../log/entries.ts";
import type { StopReason, UserMessage } from "../../log/events.ts";
import type {
  AgentLoginResult,
  AgentOptionChange,
  AgentOptionsResult,
  ForeignTurnPorts,
} from "../../ports/foreign.ts";
import type { SubagentPort } from "../../ports/subagents.ts";
import type { SessionMeta } from "../../../protocol/extensions.ts";
import type { HttpExchange } from "../../log/http_exchange.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import type { Tool, ToolMemory } from "../../tools/define.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import type { CheckpointPorts } from "../permission/checkpointed.ts";
import type { Measured, Meter, MeteredModel } from "./meter.ts";
import type { PermissionPorts } from "../permission/permission.ts";
import type { SeenHistory } from "../gather/room.ts";
import type { SessionTools } from "../settings/session_tools.ts";
import type { Steering } from "./steering.ts";

export type TurnEnd =
  /** `problem`: why the answer is not a real one; the user has been notified. */
  | { readonly type: "stopped"; readonly reason: StopReason; readonly problem?: string }
  | { readonly type: "failed"; readonly error: TurnError };

/** The parts of a session that a turn may use. */
export interface RunnerPorts extends PermissionPorts, CheckpointPorts, ForeignTurnPorts {
  /** The session's mode. */
  readonly mode: Mode;
  readonly workspace: Workspace;
  readonly state: ToolMemory;
  readonly meter: Meter;
  /** Reads the current rules before each call. @throws {Error} if they cannot be read */
  refreshRules(): Promise<void>;
  /** Tools that the user switched on or off. */
  readonly switches: Pick<SessionTools, "isOff" | "isPartOff" | "isAdded">;
  /** The offered tools, by the inputs of the list; a list that was sent never changes. */
  readonly offered: Map<string, readonly ToolSpec[]>;
  /** A language server is running. */
  readonly hasServers: boolean;
  /** The model that first saw the tools under their old names (calls/old_names.ts); undefined: none. */
  readonly oldModel: string | undefined;
  /** The messages of a request, the prompt last. */
  messages(): readonly MessageEntry[];
  readonly history: SeenHistory;
  readonly chosen: Chosen;
  /** The session's folder for the model's notes; undefined if nothing is kept. */
  readonly scratch: string | undefined;
  /** The project facts in the prompt. */
  project(): Project | undefined;
  /** Rules of the folders of these files, without those already sent. */
  rulesOf(paths: readonly string[], signal: AbortSignal): Promise<readonly ControlNote[]>;
  /** Rules files have changed: updates them in the prompt. */
  rereadRules(): Promise<void>;
  /** @throws {TurnError} if storing fails; this ends the turn */
  append(message: MessageEntry): void;
  /** Stores a fold, from which on the model sees less. Throws likewise. */
  fold(entry: FoldEntry): void;
  /** A unique id for a call. @param id from the provider, or "" */
  newCallId(id: string): string;
  /** Undefined: it cannot start sub-agents. */
  readonly agents?: SubagentPort | undefined;
  /** The user's messages and pauses during the turn. Absent: nobody sees this turn. */
  readonly steering?: Steering | undefined;
  /** Switches the session to a read-only mode until the user chooses another one. */
  narrow(): void;
  /** Works for another agent: at the step limit it answers with what it has. */
  readonly unattended?: true;
}

/** Turns that replace the model's loop. */
export type Instead = Pick<SessionMeta, "remember" | "edit" | "merge">;

/** Receives the text of an answer beside the turns. */
export type AsideListener = (text: string) => void;

export interface Runner {
  readonly model: MeteredModel;
  /** The model of a turn in this mode. Absent: always the same. */
  modelOf?(mode: Mode): MeteredModel;
  /** The requests of the last turn. Absent: it makes none of its own. */
  readonly wireLog?: { begin(): void; readonly exchanges: readonly HttpExchange[] } | undefined;
  /** Tools that the user may switch. */
  readonly tools: readonly Pick<Tool, "name" | "special">[];
  /**
   * Runs one turn after the user's message. Events are stored before they are shown; open calls end with the turn.
   * @throws {TurnError} if storing fails
   */
  runTurn(prompt: UserMessage, ports: RunnerPorts, signal: AbortSignal): Promise<TurnEnd>;
  /** @throws {TurnError} if the user's words alone exceed the model's window */
  assertFits?(message: Pick<UserMessage, "parts">, mode: Mode, signal: AbortSignal): Promise<void>;
  /**
   * Frees room in the model's window between turns. Absent: impossible.
   * @param focus what a summary must keep @returns whether anything was folded @throws {TurnError} if storing fails
   */
  compact?(focus: string | undefined, ports: RunnerPorts, signal: AbortSignal): Promise<boolean>;
  /** Runs a turn that replaces the loop, in any mode; undefined: none is requested. Absent: the runner has no tools. */
  instead?(wanted: Instead, ports: RunnerPorts, signal: AbortSignal): Promise<TurnEnd> | undefined;
  /**
   * Answers a question beside the turns; `onText` receives the answer as it streams. Absent: impossible. @throws
   * {ToolError} one line
   */
  aside?(question: string, onText: AsideListener, ports: RunnerPorts, signal: AbortSignal): Promise<string>;
  /** Whether any call of the next turn may run. Absent: unknown. */
  hasTools?(ports: ContextPorts): boolean;
  /** The content of the next request. Absent if the runner does not build requests. */
  context?(ports: ContextPorts): ContextPage;
  /** The runner of a sub-agent in this mode. Absent: it starts none. */
  subagent?(mode: Mode): Runner;
  /** A session title from its first turn. Undefined: no title; absent: the runner gives none. */
  title?(
    exchange: Exchange,
    count: (measured: Measured) => void,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** The options of the agent that runs the turns; also during a turn. Absent: the options are our own. @throws {TurnError} */
  options?(
    change: AgentOptionChange | undefined,
    ports: RunnerPorts,
    signal: AbortSignal,
  ): Promise<AgentOptionsResult>;
  /** The logins of that agent; see the request `agent_login`. @throws {TurnError} */
  login?(method: string | undefined, signal: AbortSignal): Promise<AgentLoginResult>;
  /** Ends what a turn has left behind: the session is closed. Absent: nothing. */
  close?(): void;
}

export type ContextPorts = Pick<
  RunnerPorts,
  | "messages"
  | "project"
  | "switches"
  | "offered"
  | "hasServers"
  | "oldModel"
  | "mode"
  | "history"
  | "chosen"
  | "scratch"
>;

/** The runner without a model. */
export const NO_RUNNER: Runner = {
  model: { provider: "", name: "", contextWindow: Infinity },
  tools: [],
  runTurn: () => {
    const error = new TurnError("setup", "No model is configured.", "See :help agent-providers");
    return Promise.resolve({ type: "failed", error });
  },
};

export interface Exchange {
  /** The turn's mode, whose model writes the title. */
  readonly mode?: Mode;
  readonly question: string;
  readonly answer: string;
}
