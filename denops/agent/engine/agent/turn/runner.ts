/** What runs a turn behind a session: the loop here, or another agent. The session keeps log, checkpoints, access and queue. */
import type { Chosen } from "../../context/chosen.ts";
import type { MessagePart } from "../../context/message_parts.ts";
import type { Mode } from "../../context/modes.ts";
import type { Project } from "../../context/project.ts";
import { TurnError } from "../../../shared/errors.ts";
import type { ControlNote, FoldEntry, MessageEntry } from "../../log/entries.ts";
import type { StopReason, UserMessage } from "../../log/events.ts";
import type { SubagentPort } from "../../ports.ts";
import type { SessionMeta } from "../../../protocol/extensions.ts";
import type { RequestResult } from "../../../protocol/requests.ts";
import type { ToolSpec } from "../../log/messages.ts";
import type { Tool, ToolMemory } from "../../tools/define.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import type { CheckpointPorts } from "../permission/checkpointed.ts";
import type { Measured, Meter, MeteredModel } from "./meter.ts";
import type { PermissionPorts } from "../permission/permission.ts";
import type { SeenHistory } from "../gather/room.ts";
import type { SessionTools } from "../settings/session_tools.ts";
import type { Steering } from "./steering.ts";

export type TurnEnd =
  | { readonly type: "stopped"; readonly reason: StopReason }
  | { readonly type: "failed"; readonly error: TurnError };

/** What a turn may use of its session. */
export interface RunnerPorts extends PermissionPorts, CheckpointPorts {
  /** The session's. */
  readonly mode: Mode;
  readonly workspace: Workspace;
  readonly state: ToolMemory;
  readonly meter: Meter;
  /** Before each call: what it may do is judged by the rules of that moment. @throws {Error} if there is no knowing them */
  refreshRules(): Promise<void>;
  /** What the user has switched off and on. */
  readonly switches: Pick<SessionTools, "isOff" | "isPartOff" | "isAdded">;
  /** The tools that the model was told of, by what the list depends on: what was sent once stays as it was. */
  readonly offered: Map<string, readonly ToolSpec[]>;
  /** A language server may answer. */
  readonly hasServers: boolean;
  /** The model that was told of the tools under their old names (calls/old_names.ts); undefined: none was. */
  readonly oldModel: string | undefined;
  /** What views are made of, the prompt last. */
  messages(): readonly MessageEntry[];
  readonly history: SeenHistory;
  readonly chosen: Chosen;
  /** The session's folder for the model's notes; undefined where nothing is kept. */
  readonly scratch: string | undefined;
  /** What the prompt says of the project. */
  project(): Project | undefined;
  /** Rules of the folders that these files are in, but for those that were told. */
  rulesOf(paths: readonly string[], signal: AbortSignal): Promise<readonly ControlNote[]>;
  /** Files of rules have changed: the prompt tells them as they are now. */
  rereadRules(): Promise<void>;
  /** @throws {TurnError} if it cannot be stored: then the turn is over */
  append(message: MessageEntry): void;
  /** The same of what the model sees less of from here on. */
  fold(entry: FoldEntry): void;
  /** An id that no other call of the session has, for one that was given, or "". */
  newCallId(id: string): string;
  /** Undefined: it can start none. */
  readonly agents?: SubagentPort | undefined;
  /** What the user says and does meanwhile. Absent: nobody sees this turn. */
  readonly steering?: Steering | undefined;
  /** The session goes on in a mode that changes nothing, until the user chooses one. */
  narrow(): void;
  /** It works for another agent: at the limit of steps nobody is asked, it answers with what it has. */
  readonly unattended?: true;
}

/** What the user wants in the place of a turn of the model's. */
export type Instead = Pick<SessionMeta, "remember" | "edit" | "merge">;

/** Hears more of an answer beside the turns. */
export type AsideListener = (text: string) => void;

export interface Runner {
  readonly model: MeteredModel;
  /** That of a turn in this mode. Absent: it is always the same. */
  modelOf?(mode: Mode): MeteredModel;
  /** The tools that the user may switch. */
  readonly tools: readonly Pick<Tool, "name" | "special">[];
  /**
   * Runs one turn, after the user's message. An event is stored before it is shown; a call that is left open ends
   * with the turn. @throws {TurnError} if something cannot be stored
   */
  runTurn(prompt: UserMessage, ports: RunnerPorts, signal: AbortSignal): Promise<TurnEnd>;
  /**
   * Makes room in the model's window, between turns. Absent: there is none to be made.
   * @param focus what a summary is to keep
   * @returns whether there was anything to fold @throws {TurnError} if that cannot be stored
   */
  compact?(focus: string | undefined, ports: RunnerPorts, signal: AbortSignal): Promise<boolean>;
  /** A turn of another kind, whatever mode the session is in; undefined: none is wanted. Absent: it has no tools of its own. */
  instead?(wanted: Instead, ports: RunnerPorts, signal: AbortSignal): Promise<TurnEnd> | undefined;
  /** Answers a question beside the turns; `onText` hears the answer as it comes. Absent: it cannot. @throws {ToolError} one line */
  aside?(question: string, onText: AsideListener, ports: RunnerPorts, signal: AbortSignal): Promise<string>;
  /** What a request would send now. Absent where it does not build them itself. */
  context?(ports: ContextPorts): ContextPage;
  /** The runner of a sub-agent in this mode. Absent: it starts none. */
  subagent?(mode: Mode): Runner;
  /** A title for the session, from its first turn. Undefined: there is none; absent: it gives none. */
  title?(
    exchange: Exchange,
    count: (measured: Measured) => void,
    signal: AbortSignal,
  ): Promise<string | undefined>;
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

/** What a request would send, and how each of its parts can be dropped. */
export interface ContextPage extends RequestResult<"context"> {
  readonly lines: ReadonlyMap<string, MessagePart["lines"]>;
}

/** Where there is no model. */
export const NO_RUNNER: Runner = {
  model: { provider: "", name: "", contextWindow: Infinity },
  tools: [],
  runTurn: () => {
    const error = new TurnError("setup", "No model is configured.", "See :help agent-providers");
    return Promise.resolve({ type: "failed", error });
  },
};

export interface Exchange {
  /** In which the turn ran: its model is asked. */
  readonly mode?: Mode;
  readonly question: string;
  readonly answer: string;
}
