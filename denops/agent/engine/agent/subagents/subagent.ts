/**
 * One working sub-agent: a turn of the loop with its own log, view and workspace. Gate, caps and checkpoints are those
 * of its parent session, whose model gets only the last message.
 */
import { againstMode } from "../../../policy/decide_mode.ts";
import type { TurnLimits } from "../../../protocol/modes.ts";
import type { Mode } from "../../context/modes.ts";
import { HistoryWindow } from "../../context/folding/window.ts";
import type { LogEntry, MessageEntry } from "../../log/entries.ts";
import { TurnError } from "../../../shared/errors.ts";
import { type AgentEvent, TRANSIENT, type UserMessage } from "../../log/events.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import type { Store } from "../../ports/store.ts";
import type { UsageLog } from "../../ports/usage.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../ports/approvals.ts";
import { NEW_SHELL } from "../../tools/commands/shell.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import { callIds } from "../turn/call_ids.ts";
import { LEFT_OPEN } from "../turn/interrupted.ts";
import { RememberedMap } from "../permission/memory.ts";
import { Meter } from "../turn/meter.ts";
import type { Runner, RunnerPorts, TurnEnd } from "../turn/runner.ts";

interface SubagentOptions {
  /** The id of its stored session. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  readonly mode: Mode;
  readonly runner: Runner;
  readonly workspace: Workspace;
  readonly rulesOf: RunnerPorts["rulesOf"];
  readonly store: Store;
  readonly usage: Pick<UsageLog, "record" | "edits">;
  readonly parent: {
    readonly session: string;
    readonly turn: number;
    readonly ports: RunnerPorts;
    /** The call above it on screen; undefined for background sub-agents, which show and ask nothing. */
    readonly call: string | undefined;
  };
  /** Runs writes without interleaving other sub-agents. */
  readonly alone: NonNullable<RunnerPorts["alone"]>;
  /** Called for each tool call. */
  begun(title: string): void;
}

/** Events that the parent's screen shows below the call; the log has all. */
const SHOWN: ReadonlySet<AgentEvent["type"]> = new Set([
  ...[
    "token",
    "thought",
    "thought_done",
    "retold",
    "tool_writing",
    "tool_start",
    "tool_running",
    "tool_progress",
    "tool_done",
  ] as const,
  ...["file_modified", "approval_requested", "approval_answered", "retry"] as const,
]);

const IN_BACKGROUND: ApprovalAnswer = {
  answer: "reject",
  rule: "in the background",
  reason: "it would have to be asked about, and a sub-agent in the background asks nobody",
};

/** Never rejects; a storage error is its failure. */
export async function workAsSubagent(
  options: SubagentOptions,
  task: string,
  signal: AbortSignal,
): Promise<TurnEnd> {
  try {
    return await work(options, task, signal);
  } catch (error) {
    if (error instanceof TurnError) return { type: "failed", error };
    throw error;
  }
}

async function work(options: SubagentOptions, task: string, signal: AbortSignal): Promise<TurnEnd> {
  const log = new SubagentLog(options);
  const prompt: UserMessage = {
    type: "user_message",
    origin: "engine",
    parts: [{ type: "text", text: task }],
  };
  log.emit(prompt);
  const end = await options.runner.runTurn(prompt, runnerPorts(options, log), signal);
  log.end(end);
  return end;
}

/** Logs a sub-agent's events, and shows some of them below its parent's call. */
class SubagentLog {
  readonly #options: SubagentOptions;
  readonly #openCalls = new Set<string>();
  readonly history: HistoryWindow;
  /** The tools of its session, should the user continue it. */
  readonly offered = new RememberedMap<readonly ToolSpec[]>("offered", []);

  constructor(options: SubagentOptions) {
    const { id: session, store, runner } = options;
    this.#options = options;
    const window = () => runner.model.contextWindow;
    this.history = new HistoryWindow({ store, session, window }, undefined);
  }

  append(entry: LogEntry): void {
    const { store, id } = this.#options;
    store.append(id, { entries: [entry], memory: this.offered.unstored });
    this.offered.stored();
    this.history.push([entry]);
  }

  emit(event: AgentEvent): void {
    const { parent, mode, begun } = this.#options;
    if (event.type === "tool_start") {
      begun(event.call.title);
      this.#openCalls.add(event.call.id);
    }
    if (event.type === "tool_done") this.#openCalls.delete(event.id);
    if (!TRANSIENT.has(event.type)) this.append(event);
    const { call: under, ports } = parent;
    if (event.type === "usage") ports.emit({ ...event, purpose: event.purpose ?? mode.name });
    else if (under !== undefined && SHOWN.has(event.type)) ports.emit({ ...event, parent: under });
  }

  end(end: TurnEnd): void {
    for (const id of this.#openCalls) this.emit({ type: "tool_done", id, ...LEFT_OPEN });
    this.append(
      end.type === "stopped"
        ? { type: "turn_done", reason: end.reason }
        : { type: "turn_failed", kind: end.error.kind, message: end.error.message },
    );
  }
}

/** The parent's ports with the sub-agent's own parts. */
function runnerPorts(options: SubagentOptions, log: SubagentLog): RunnerPorts {
  const { mode, workspace, rulesOf, parent, alone, title } = options;
  const { checkpoints, ask } = parent.ports;
  const emit = (event: AgentEvent) => log.emit(event);
  const append = (entry: LogEntry) => log.append(entry);
  return {
    ...parent.ports,
    mode,
    workspace,
    rulesOf,
    alone,
    emit,
    append,
    history: log.history,
    offered: log.offered,
    oldModel: undefined,
    unattended: true,
    agents: undefined,
    steering: undefined,
    // Narrowing applies to its own turn only.
    narrow: () => {},
    state: { folder: "", shell: NEW_SHELL, plan: [] },
    meter: meterOf(options, emit),
    checkpoints: {
      before: (call, signal) => checkpoints.before(call, signal),
      keep: (effects, call, signal) => alone(() => checkpoints.keep(effects, call, signal)),
    },
    ask: async (request, signal) => {
      if (parent.call === undefined) return IN_BACKGROUND;
      const agent = { title, access: mode.access };
      return withinMode(request, await ask({ ...request, agent }, signal), mode);
    },
    messages: () => log.history.seen,
    fold: append,
    // Sub-agents share one log and one screen.
    newCallId: callIds(() => true),
  };
}

/** Rejects a read-only sub-agent's command that the client would run with more access. */
function withinMode({ access }: ApprovalRequest, answer: ApprovalAnswer, mode: TurnLimits): ApprovalAnswer {
  const isYes = answer.answer === "allow_once" || answer.answer === "allow_session";
  if (access.kind !== "command" || !isYes) return answer;
  const { access: _, ...line } = access;
  const against = againstMode(answer.access === undefined ? line : { ...line, access: answer.access }, mode);
  return against === undefined ? answer : { answer: "reject", ...against };
}

/** Counts its usage against the caps of the parent session, under the sub-agent's name. */
function meterOf({ id, runner, usage, parent }: SubagentOptions, emit: (event: AgentEvent) => void): Meter {
  return new Meter({
    session: parent.session,
    turn: () => parent.turn,
    model: runner.model,
    spending: parent.ports.meter.spending,
    log: {
      record: (session, turn, request) => usage.record(session, turn, { ...request, agent: id }),
      edits: usage.edits,
    },
    emit,
  });
}

/** Its answer: the last text. */
export function lastWords(messages: readonly MessageEntry[]): string {
  const last = messages.findLast((entry) => entry.type === "assistant_message" && entry.text.trim() !== "");
  return last?.type === "assistant_message" ? last.text.trim() : "";
}
