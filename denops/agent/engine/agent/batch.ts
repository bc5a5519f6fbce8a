/** The tool calls of one answer: policy, approval, run. Each gets exactly one result, in the order of the calls. */
import { type Decision } from "../../policy/file_access.ts";
import { messageOf, ToolError } from "../core/errors.ts";
import type { Emit, ToolStart } from "../core/events.ts";
import type { ToolCall, ToolMessage } from "../core/messages.ts";
import type { AskApproval } from "../core/ports.ts";
import { parseArguments } from "../llm/assemble.ts";
import type { PreparedCall, Tool, ToolResult, Touch } from "../tools/define.ts";
import type { Workspace } from "../tools/files/workspace.ts";
import type { Baseline, WriteChecks } from "./write_checks.ts";

/** More calls than this are answered with an error. */
const MOST_CALLS = 15;
const MANY_CALLS = 8;

export interface BatchPorts {
  readonly tools: readonly Tool[];
  readonly workspace: Workspace;
  readonly emit: Emit;
  readonly ask: AskApproval;
  /** Undefined where there are no language servers. */
  readonly checks: WriteChecks | undefined;
  decide(touches: readonly Touch[]): Decision;
  allowForSession(touches: readonly Touch[]): void;
}

export async function runBatch(
  calls: readonly ToolCall[],
  ports: BatchPorts,
  signal: AbortSignal,
): Promise<readonly ToolMessage[]> {
  const results: ToolMessage[] = [];
  const running = calls.slice(0, MOST_CALLS);
  for (let at = 0; at < running.length;) {
    const reads = readOnlyRun(running.slice(at), ports.tools);
    const group = running.slice(at, at + Math.max(1, reads));
    results.push(...await Promise.all(group.map((call) => runCall(call, ports, signal))));
    at += group.length;
  }
  for (const call of calls.slice(MOST_CALLS)) {
    results.push(refuse(call, `Not run: at most ${MOST_CALLS} calls at once. Send it again.`, ports));
  }
  const last = results.at(-1);
  if (calls.length > MANY_CALLS && last !== undefined) {
    const note = `\n[${calls.length} calls in one answer; at most ${MANY_CALLS} are better]`;
    results[results.length - 1] = { ...last, text: last.text + note };
  }
  return results;
}

/** How many calls from the first on change nothing, and so may run at the same time. */
function readOnlyRun(calls: readonly ToolCall[], tools: readonly Tool[]): number {
  const end = calls.findIndex((call) => tools.find(({ name }) => name === call.name)?.readOnly !== true);
  return end === -1 ? calls.length : end;
}

async function runCall(call: ToolCall, ports: BatchPorts, signal: AbortSignal): Promise<ToolMessage> {
  const tool = ports.tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = ports.tools.map(({ name }) => name).join(", ");
    return refuse(call, `There is no tool "${call.name}". The tools are: ${names}.`, ports);
  }
  const args = parseArguments(call.arguments);
  if (!args.ok) {
    return refuse(call, `The arguments are not valid JSON: ${args.error}. Send the call again.`, ports);
  }
  try {
    signal.throwIfAborted();
    const prepared = await tool.prepare(args.value, ports.workspace, signal);
    const start = startOf(call, tool, args.value, prepared);
    ports.emit({ type: "tool_start", call: start });
    const refusal = await permission(start, prepared, ports, signal);
    if (refusal !== undefined) return failed(call, refusal, ports);
    ports.emit({ type: "tool_running", id: call.id });
    const baseline = tool.readOnly ? undefined : await ports.checks?.before(prepared.touches, signal);
    const result = await prepared.run(signal);
    for (const change of result.changes ?? []) ports.emit({ type: "file_modified", id: call.id, change });
    return succeeded(call, await checked(result, baseline, ports, signal), ports);
  } catch (error) {
    if (signal.aborted) return failed(call, "Cancelled by the user.", ports);
    if (error instanceof ToolError) return failed(call, error.message, ports);
    return failed(call, `The tool failed: ${messageOf(error)}`, ports);
  }
}

function startOf(call: ToolCall, tool: Tool, args: unknown, prepared: PreparedCall): ToolStart {
  const given = typeof args === "object" && args !== null ? { ...args } : {};
  const paths = [...new Set(prepared.touches.map(({ path }) => path.path))];
  return { id: call.id, tool: tool.name, title: tool.title(given), kind: tool.kind, paths };
}

/** Undefined if the call may run, else what to tell the model. */
async function permission(
  start: ToolStart,
  prepared: PreparedCall,
  ports: BatchPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const decision = ports.decide(prepared.touches);
  const answered = (answer: string) =>
    ports.emit({ type: "approval_answered", id: start.id, answer, rule: decision.rule });
  if (decision.verdict === "allow") {
    answered("allowed by rule");
    return undefined;
  }
  if (decision.verdict === "deny") {
    answered("denied by rule");
    return `Not allowed: ${decision.reason}.`;
  }
  ports.emit({ type: "approval_requested", id: start.id, reason: decision.reason });
  const diff = prepared.diff === undefined ? {} : { diff: prepared.diff };
  const answer = await ports.ask({ call: start, reason: decision.reason, ...diff }, signal);
  answered(answer.answer);
  switch (answer.answer) {
    case "allow_once":
      return undefined;
    case "allow_session":
      ports.allowForSession(prepared.touches);
      return undefined;
    case "cancelled":
      return "Cancelled by the user.";
    case "reject":
      return answer.reason === undefined
        ? "The user rejected this. Do not try it again; ask what to do instead, or go on without it."
        : `The user rejected this: ${answer.reason}`;
  }
}

/** With what the language servers say about what was written. The write has happened, whatever comes now. */
async function checked(
  result: ToolResult,
  baseline: Baseline | undefined,
  { checks }: BatchPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (checks === undefined || baseline === undefined || (result.changes ?? []).length === 0) return result;
  const said = await checks.after(baseline, signal).catch(() => undefined);
  if (said === undefined) return result;
  const summary = [result.summary, said.summary].filter((part) => part !== "").join(", ");
  return { ...result, text: `${result.text}\n${said.text}`, summary };
}

function succeeded(call: ToolCall, result: ToolResult, { emit }: BatchPorts): ToolMessage {
  const diff = result.diff === undefined ? {} : { diff: result.diff };
  emit({
    type: "tool_done",
    id: call.id,
    status: "completed",
    summary: result.summary,
    output: result.text,
    ...diff,
  });
  return { role: "tool", id: call.id, name: call.name, text: result.text, isError: false };
}

function failed(call: ToolCall, text: string, { emit }: BatchPorts): ToolMessage {
  const [summary = text] = text.split("\n");
  emit({ type: "tool_done", id: call.id, status: "failed", summary, output: text });
  return { role: "tool", id: call.id, name: call.name, text, isError: true };
}

/** A call that is not even prepared still shows on screen. */
function refuse(call: ToolCall, text: string, ports: BatchPorts): ToolMessage {
  const start: ToolStart = { id: call.id, tool: call.name, title: call.name, kind: "other", paths: [] };
  ports.emit({ type: "tool_start", call: start });
  return failed(call, text, ports);
}
