/** Runs the tool calls of one answer: policy, approval, run. Each call gets exactly one result, in order. */
import { trace } from "../../../protocol/trace.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { ResultEntry } from "../../log/entries.ts";
import { defined, isRecord } from "../../../shared/records.ts";
import type { ToolCall } from "../../log/messages.ts";
import { meantBy } from "../permission/meant_by.ts";
import { afterCall, guardCall, type GuardedCall, guardEdit } from "../hooks/call_hooks.ts";
import type { TurnHooks } from "../hooks/turn_hooks.ts";
import { type CheckpointPorts, runCheckpointed } from "../permission/checkpointed.ts";
import { settleEffects } from "../permission/effects.ts";
import {
  type ForcedQuestion,
  type GrantedPermission,
  type PermissionPorts,
  Permissions,
} from "../permission/permission.ts";
import { LOOP_GUARD, type ReadCall, type Repeats, signatureOf } from "./repeats.ts";
import type { ImageRoom } from "../../tools/files/image_room.ts";
import { withRisks } from "../../tools/files/risks.ts";
import {
  type PreparedCall,
  type Tool,
  type ToolContext,
  type ToolResult,
  writtenBy,
} from "../../tools/define.ts";
import {
  type CallFactPorts,
  changesMoreThanFiles,
  noteEdit,
  problemOf,
  startOf,
  withCommand,
} from "./call_facts.ts";
import type { Baseline, WriteChecks } from "./policies/write_checks.ts";

/** Further calls are answered with an error. */
const MOST_CALLS = 15;
const MANY_CALLS = 8;
/** Locations of one result. */
const MOST_LOCATIONS = 30;

export interface BatchPorts extends PermissionPorts, CheckpointPorts, CallFactPorts {
  /** The tools of this moment: MCP servers start and change during a turn. Absent: they stay the same. */
  callable?(): readonly Tool[];
  readonly context: Omit<ToolContext, "callId" | "images" | "progress">;
  /** Undefined without language servers. */
  readonly checks?: WriteChecks | undefined;
  /** The user's hooks; undefined: none. */
  readonly hooks?: TurnHooks | undefined;
  /** Called after each successful call that may have changed more than files. */
  acted?(): void;
  /** Reads the current rules before each call. @throws {Error} if they cannot be read */
  refreshRules(): Promise<void>;
}

interface BatchMemory {
  /** State that the batches of one turn share. */
  readonly repeats: Repeats;
  /** From 1. */
  readonly iteration: number;
  /** Further calls of the answer, which were discarded. */
  readonly dropped: number;
  /** Remaining room for images. */
  readonly images: ImageRoom;
}

export async function runBatch(
  calls: readonly ToolCall[],
  base: BatchPorts,
  memory: BatchMemory,
  signal: AbortSignal,
): Promise<readonly ResultEntry[]> {
  const ports: BatchPorts = {
    ...base,
    tools: base.callable?.() ?? base.tools,
    emit: cutOff(signal, inOrder(calls, memory.iteration, base.emit)),
  };
  const results: ResultEntry[] = [];
  const servers = ports.context.mcp?.servers.map(({ name }) => name);
  const read = calls.map((call) => readCall(call, ports.tools, servers));
  const running = read.slice(0, MOST_CALLS);
  for (let at = 0; at < running.length;) {
    const group = running.slice(at, at + Math.max(1, atOnce(running.slice(at))));
    // Concurrent calls share one read of the rules.
    let refreshed: Promise<void> | undefined;
    const own: BatchPorts = { ...ports, refreshRules: () => refreshed ??= ports.refreshRules() };
    results.push(...await Promise.all(group.map((call) => runOrRecall(call, own, memory, signal))));
    at += group.length;
  }
  for (const call of read.slice(MOST_CALLS)) results.push(refuse(call, new ToolError(TOO_MANY), ports));
  const last = results.at(-1);
  if (last !== undefined && results.every(({ text }) => text === ALREADY_DONE)) {
    results[results.length - 1] = { ...last, text: `${last.text} ${ALL_REPEATED}` };
  }
  if (calls.length > MANY_CALLS && last !== undefined) {
    const note = `\n[${calls.length + memory.dropped} calls in one answer; at most ${MANY_CALLS} are better]`;
    results[results.length - 1] = { ...last, text: last.text + note };
  }
  return results;
}

/** Parses a call once. */
function readCall(call: ToolCall, tools: readonly Tool[], servers?: readonly string[]): ReadCall {
  const { tool, names, args, fitted, advice } = meantBy(call, tools, servers);
  return {
    ...call,
    tool,
    names,
    args,
    fitted,
    advice,
    signature: signatureOf(tool?.name ?? call.name, call.arguments, fitted),
  };
}

/** Larger than the number of calls of any answer. */
const ORDERS = 10_000;

/** Adds each call's position to its start event. */
function inOrder(
  calls: readonly ToolCall[],
  iteration: number,
  emit: BatchPorts["emit"],
): BatchPorts["emit"] {
  const places = new Map(calls.map(({ id }, index) => [id, iteration * ORDERS + index]));
  return (event) => {
    const order = event.type === "tool_start" ? places.get(event.call.id) : undefined;
    emit(event.type === "tool_start" && order !== undefined ? { ...event, order } : event);
  };
}

/** Calls that end because the user stops the turn do not count as failed. */
function cutOff(signal: AbortSignal, emit: BatchPorts["emit"]): BatchPorts["emit"] {
  return (event) => {
    const isCut = signal.aborted && event.type === "tool_done" && event.status === "failed";
    emit(isCut ? { ...event, stopped: true } : event);
  };
}

/** The number of leading calls that may run concurrently. */
function atOnce(calls: readonly ReadCall[]): number {
  const end = calls.findIndex(({ tool }) => tool?.parallel !== true);
  return end === -1 ? calls.length : end;
}

const TOO_MANY = `Not run: at most ${MOST_CALLS} calls at once. Send it again.`;
const ALREADY_DONE = "Already done, see the result above; nothing has changed since.";
const DONE_ONCE = "Not run again: this answer has the same call above, see its result.";
const ALL_REPEATED = "All these calls repeat earlier ones: use what you have, or do something else.";

function doneAlready(text: string): ToolError {
  return new ToolError(text, "done already");
}

function runOrRecall(
  call: ReadCall,
  ports: BatchPorts,
  memory: BatchMemory,
  signal: AbortSignal,
): Promise<ResultEntry> {
  const { repeats, iteration } = memory;
  repeats.ask(call);
  if (repeats.isKnown(call, iteration)) {
    return Promise.resolve(refuse(call, doneAlready(ALREADY_DONE), ports));
  }
  if (repeats.isDouble(call, iteration)) return Promise.resolve(refuse(call, doneAlready(DONE_ONCE), ports));
  repeats.note(call, iteration);
  return runCall(call, ports, memory, signal);
}

async function runCall(
  call: ReadCall,
  ports: BatchPorts,
  memory: BatchMemory,
  signal: AbortSignal,
): Promise<ResultEntry> {
  if (ports.hooks === undefined || problemOf(call, ports) !== undefined) {
    return await runJudged(call, ports, memory, signal);
  }
  const { hooks, context: { workspace: { root } } } = ports;
  const read = (changed: ToolCall) => readCall(changed, ports.tools);
  try {
    const guard = await traced("hooks", call, () => guardCall(call, { hooks, root, read }, signal));
    if (guard.type === "refused") {
      ports.emit({ type: "tool_start", call: startOf(call) });
      ports.emit({ type: "approval_answered", id: call.id, answer: "denied by rule", rule: "hook" });
      return failed(call, guard.error, ports);
    }
    const { changed } = guard;
    const own: BatchPorts = changed === undefined
      ? ports
      : { ...ports, ask: (request, signal) => ports.ask({ ...request, changed }, signal) };
    const result = await runJudged(guard.call, own, memory, signal, guard.forced);
    return { ...result, text: result.text + guard.text };
  } catch (error) {
    if (!signal.aborted) throw error;
    return refuse(call, new ToolError("Cancelled by the user.", "stopped"), ports);
  }
}

/** @param forced the reason why the user must answer, besides a loop */
async function runJudged(
  call: ReadCall,
  ports: BatchPorts,
  { repeats, images }: BatchMemory,
  signal: AbortSignal,
  forced?: ForcedQuestion,
): Promise<ResultEntry> {
  const { tool, args } = call;
  const problem = problemOf(call, ports);
  if (tool === undefined || !args.ok || problem !== undefined) {
    if (tool !== undefined && !args.ok) noteEdit(call, ports);
    return refuse(call, problem ?? new ToolError("Not run."), ports);
  }
  const permissions = new Permissions(
    ports,
    (access, command) => startOf(call, access, command),
    signal,
    call.names,
  );
  const workspace = ports.context.workspace.forCall((path, reason) => permissions.read(path, reason));
  try {
    signal.throwIfAborted();
    await traced("rules", call, () => ports.refreshRules());
    const progress = (summary: string) => ports.emit({ type: "tool_progress", id: call.id, summary });
    const context = { ...ports.context, workspace, images, callId: call.id, progress };
    const prepared = await traced(
      "prepare",
      call,
      async () => await withRisks(await tool.prepare(args.value, context, signal), workspace.roots),
    );
    signal.throwIfAborted();
    const permitted = await permissions.decide(prepared, forced ?? (repeats.isLoop ? LOOP_GUARD : undefined));
    if (permitted.refusal !== undefined) return failed(call, permitted.refusal, ports);
    const ran = await asApproved(call, prepared, permitted, ports, signal);
    if (ran.type === "refused") return failed(call, ran.error, ports);
    const permission = { permitted, permissions, workspace };
    const result = await runPermitted(ran.call, tool, prepared, permission, ports, signal);
    return finished(call, { ...result, text: result.text + ran.text }, ports);
  } catch (error) {
    // A call that cannot be prepared still appears on screen.
    permissions.start();
    if (signal.aborted) return failed(call, new ToolError("Cancelled by the user.", "stopped"), ports);
    noteEdit(call, ports);
    const reason = error instanceof ToolError ? error : new ToolError(`The tool failed: ${messageOf(error)}`);
    return failed(call, reason, ports);
  }
}

/** The call with the command that the user has approved. Hooks have not seen an edited one yet. */
async function asApproved(
  call: ReadCall,
  { access }: PreparedCall,
  { approved: { command } }: GrantedPermission,
  ports: BatchPorts,
  signal: AbortSignal,
): Promise<GuardedCall<ReadCall>> {
  const { hooks, tools, context: { workspace: { root } } } = ports;
  const { fitted, tool } = call;
  if (command === undefined || tool === undefined || !fitted.ok || !isRecord(fitted.value)) {
    return { type: "open", call, text: "" };
  }
  const read = (changed: ToolCall) => readCall(changed, tools);
  const args = JSON.stringify(withCommand(fitted.value, access, command));
  const edited = { ...read({ id: call.id, name: tool.name, arguments: args }), name: call.name };
  return await traced("hooks", call, () => guardEdit(edited, { hooks, root, read }, signal));
}

interface CallPermission {
  readonly permitted: GrantedPermission;
  readonly permissions: Permissions;
  readonly workspace: ToolContext["workspace"];
}

async function runPermitted(
  call: ReadCall,
  tool: Tool,
  prepared: PreparedCall,
  { permitted, permissions, workspace }: CallPermission,
  ports: BatchPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  // The user may have answered late, so check again that each path leads to the same place.
  const written = writtenBy(prepared.access);
  for (const { path } of written) await workspace.resolve(path);
  ports.emit({ type: "tool_running", id: call.id, rule: permitted.rule });
  const checkable = written.filter((path) => !workspace.isScratch(path));
  const baseline = tool.readOnly ? undefined : await ports.checks?.before(checkable, signal);
  const result = await traced(
    "run",
    call,
    () =>
      tool.readOnly
        ? prepared.run(signal, permitted.approved)
        : runCheckpointed(call.id, prepared, permitted, ports, signal),
  );
  if ((result.changes ?? []).length > 0) noteEdit(call, ports, result);
  const { access } = permitted.approved;
  if (result.failed !== true && changesMoreThanFiles(prepared.access, access)) ports.acted?.();
  const { roots } = workspace;
  const settled = await settleEffects(call.id, result, permissions, { ...ports, roots }, signal);
  const done = await afterCall(call, settled, permissions, { ...ports, roots }, signal);
  return await checked(done, baseline, ports, signal);
}

/** Runs a part of a call and traces its duration. */
async function traced<T>(name: string, { id }: ReadCall, work: () => Promise<T>): Promise<T> {
  const since = trace?.now();
  const result = await work();
  trace?.span(name, since, id);
  return result;
}

/** Appends new errors from language servers. The write has already happened, so this never fails. */
async function checked(
  result: ToolResult,
  baseline: Baseline | undefined,
  { checks }: BatchPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (checks === undefined || baseline === undefined || (result.changes ?? []).length === 0) return result;
  const report = await checks.after(baseline, signal).catch(() => undefined);
  if (report === undefined) return result;
  const summary = [result.summary, report.summary].filter((part) => part !== "").join(", ");
  return { ...result, text: `${result.text}\n${report.text}`, summary };
}

function finished(call: ReadCall, result: ToolResult, { emit }: BatchPorts): ResultEntry {
  if (result.plan !== undefined) emit({ type: "plan", steps: result.plan });
  const { summary, text: output, diff, definitions } = result;
  const status = result.failed === true ? "failed" : "completed";
  const locations = result.locations?.slice(0, MOST_LOCATIONS);
  const more = defined({ diff, definitions, locations });
  emit({ type: "tool_done", id: call.id, status, summary, output, ...more });
  const images = result.images === undefined ? {} : { images: result.images };
  const isError = result.failed === true;
  return { type: "tool_result", id: call.id, name: call.name, text: result.text, isError, ...images };
}

function failed(
  call: ReadCall,
  { message: text, summary: errorSummary }: ToolError,
  ports: BatchPorts,
): ResultEntry {
  // The title already contains the subject.
  const [subject = "", ...rest] = errorSummary.split(" ");
  const summary = startOf(call).title.split(" ").includes(subject) ? rest.join(" ") : errorSummary;
  ports.emit({ type: "tool_done", id: call.id, status: "failed", summary, output: text });
  return { type: "tool_result", id: call.id, name: call.name, text, isError: true };
}

/** A call without a tool still appears on screen. */
function refuse(call: ReadCall, error: ToolError, ports: BatchPorts): ResultEntry {
  ports.emit({ type: "tool_start", call: startOf(call) });
  return failed(call, error, ports);
}
