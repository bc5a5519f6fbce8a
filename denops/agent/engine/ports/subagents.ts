/** Starts sub-agents. */
import type { Access } from "../../protocol/access.ts";
import type { ModeAccess } from "../../protocol/modes.ts";

/** The work of a sub-agent. */
export interface SubagentTask {
  /** One line. */
  readonly title: string;
  readonly task: string;
  /** Facts that the parent knows already. */
  readonly hint?: string;
  /** The name of its mode. */
  readonly mode: string;
  /** The name of its model. Default: the mode's, or the options'. */
  readonly model?: string;
}

export interface SubagentReport {
  /** For the model. */
  readonly text: string;
  /** "done", "stopped". */
  readonly summary: string;
  readonly failed: boolean;
}

/** Other agents that work for a session, each with a log and a view of its own. */
export interface SubagentPort {
  /** The access that policy decides about. @param access of the session's mode @throws {ToolError} if it may not be started */
  accessOf(task: SubagentTask, access: ModeAccess): Access;
  /** @param call under which its actions are shown @throws {ToolError} */
  run(task: SubagentTask, call: string, signal: AbortSignal): Promise<SubagentReport>;
  /** @returns its id, for `output` and `stop` @throws {ToolError} */
  startInBackground(task: SubagentTask, call: string): string;
  /** Whether a sub-agent of the session has this id. */
  knows(id: string): boolean;
  /** @throws {ToolError} */
  output(id: string): SubagentReport;
  stop(id: string): Promise<SubagentReport>;
  /** For the model: background sub-agents that have ended since the last call; undefined without any. */
  news(): string | undefined;
}
