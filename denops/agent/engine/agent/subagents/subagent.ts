/**
 * One sub-agent at work: a turn of the loop with a log, a view and a workspace of its own. What it does goes through the
 * gate, the caps and the checkpoints of the session that it works for; of what it says that session's model gets the
 * last message alone.
 */
import { againstMode } from "../../../policy/decide_mode.ts";
import type { ModeAccess } from "../../../protocol/modes.ts";
import type { Mode } from "../../context/modes.ts";
import { HistoryWindow } from "../../context/folding/window.ts";
import type { LogEntry, MessageEntry } from "../../log/entries.ts";
import { TurnError } from "../../../shared/errors.ts";
import { type AgentEvent, TRANSIENT, type UserMessage } from "../../log/events.ts";
import type { ToolSpec } from "../../log/messages.ts";
import type { ApprovalAnswer, ApprovalRequest, Store, UsageLog } from "../../ports.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import { callIds } from "../turn/call_ids.ts";
import { LEFT_OPEN } from "../turn/interrupted.ts";
import { RememberedMap } from "../permission/memory.ts";
import { Meter } from "../turn/meter.ts";
import type { Runner, RunnerPorts, TurnEnd } from "../turn/runner.ts";

interface SubagentOptions {
  /** Of its session, which is stored. */
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
    /** The call that it stands under; undefined for one in the background, which shows nothing and asks nobody. */
    readonly call: string | undefined;
  };
  /** Runs what writes, so that nothing of another sub-agent comes between. */
  readonly alone: NonNullable<RunnerPorts["alone"]>;
  /** Is told of each call. */
  begun(title: string): void;
}

/** What its parent's screen shows under the call; its log has everything. */
const SHOWN: ReadonlySet<AgentEvent["type"]> = new Set([
  ...[
    "token",
    "thought",
    "thought_done",
    "retold",
    "tool_writing",
    "tool_start",
    "tool_running",
    "tool_done",
  ] as const,
  ...["file_modified", "approval_requested", "approval_answered", "retry"] as const,
]);

const IN_BACKGROUND: ApprovalAnswer = {
  answer: "reject",
  rule: "in the background",
  reason: "it would have to be asked about, and a sub-agent in the background asks nobody",
};

/** Never rejects; what cannot be stored is its failure. */
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
  const { id, mode, runner, store, parent, alone } = options;
  const window = () => runner.model.contextWindow;
  const history = new HistoryWindow({ store, session: id, window }, undefined);
  // Should the user continue its session, it keeps the tools that it began with.
  const offered = new RememberedMap<readonly ToolSpec[]>("offered", []);
  const append = (entry: LogEntry) => {
    store.append(id, { entries: [entry], memory: offered.unstored });
    offered.stored();
    history.push([entry]);
  };
  const open = new Set<string>();
  const emit = (event: AgentEvent) => {
    if (event.type === "tool_start") options.begun(event.call.title);
    if (event.type === "tool_start") open.add(event.call.id);
    if (event.type === "tool_done") open.delete(event.id);
    if (!TRANSIENT.has(event.type)) append(event);
    const { call: under, ports } = parent;
    if (event.type === "usage") ports.emit({ ...event, purpose: event.purpose ?? mode.name });
    else if (under !== undefined && SHOWN.has(event.type)) ports.emit({ ...event, parent: under });
  };
  const prompt: UserMessage = {
    type: "user_message",
    origin: "engine",
    parts: [{ type: "text", text: task }],
  };
  emit(prompt);
  const { checkpoints, ask } = parent.ports;
  const end = await runner.runTurn(prompt, {
    ...parent.ports,
    ...{ mode, workspace: options.workspace, history, emit, alone, rulesOf: options.rulesOf },
    offered,
    oldModel: undefined,
    unattended: true,
    agents: undefined,
    steering: undefined,
    // Its own turn is narrowed, and no other.
    narrow: () => {},
    state: { folder: "", plan: [] },
    meter: meterOf(options, emit),
    checkpoints: {
      before: (call, signal) => checkpoints.before(call, signal),
      keep: (effects, call, signal) => alone(() => checkpoints.keep(effects, call, signal)),
    },
    ask: async (request, signal) => {
      if (parent.call === undefined) return IN_BACKGROUND;
      const agent = { title: options.title, access: mode.access };
      return held(request, await ask({ ...request, agent }, signal), mode.access);
    },
    messages: () => history.seen,
    append,
    fold: append,
    // Those of all sub-agents stand in one log, and on one screen.
    newCallId: callIds(() => true),
  }, signal);
  for (const call of open) emit({ type: "tool_done", id: call, ...LEFT_OPEN });
  append(
    end.type === "stopped"
      ? { type: "turn_done", reason: end.reason }
      : { type: "turn_failed", kind: end.error.kind, message: end.error.message },
  );
  return end;
}

/** Where the other side runs a command at an access of its own, or at none that holds, it is not run for a mode that looks. */
function held({ accesses }: ApprovalRequest, answer: ApprovalAnswer, mode: ModeAccess): ApprovalAnswer {
  const isYes = answer.answer === "allow_once" || answer.answer === "allow_session";
  if (accesses.kind !== "command" || !isYes) return answer;
  const { access: _, ...line } = accesses;
  const against = againstMode(answer.access === undefined ? line : { ...line, access: answer.access }, mode);
  return against === undefined ? answer : { answer: "reject", ...against };
}

/** What it uses up counts against the caps of the session that it works for, and stands there with its name. */
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

/** What it has answered: its last words. */
export function lastWords(messages: readonly MessageEntry[]): string {
  const last = messages.findLast((entry) => entry.type === "assistant_message" && entry.text.trim() !== "");
  return last?.type === "assistant_message" ? last.text.trim() : "";
}
