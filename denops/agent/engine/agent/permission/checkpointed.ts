/** Runs a call that may write. Records its changes for undo and updates open buffers. */
import { type CommandInput, levelOf } from "../../../protocol/commands.ts";
import { trace } from "../../../protocol/trace.ts";
import { messageOf } from "../../../shared/errors.ts";
import type { Emit, FileChange } from "../../log/events.ts";
import type { Keeper } from "../../ports/commands.ts";
import type { CheckpointedCall, Checkpoints, PendingCheckpoint } from "../../ports/checkpoints.ts";
import { type ApprovedChanges, type PreparedCall, type ToolResult, writtenBy } from "../../tools/define.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import type { CommandTraps } from "./traps.ts";

export interface CheckpointPorts {
  /** Records calls that write. */
  readonly checkpoints: Checkpoints & Keeper;
  readonly emit: Emit;
  readonly traps: CommandTraps;
  /** Runs work while no one else changes files. Absent: nobody else does. */
  alone?<T>(run: () => Promise<T>): Promise<T>;
  readonly workspace: Workspace;
}

export async function runCheckpointed(
  id: string,
  prepared: PreparedCall,
  { byUser, approved }: { readonly byUser: boolean; readonly approved: ApprovedChanges },
  ports: CheckpointPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { traps, workspace } = ports;
  const { access } = prepared;
  const isCommand = access.kind === "command";
  if (isCommand && byUser) traps.approved(id, approved.command ?? access.command, access.cwd);
  const written = writtenBy(access).filter((path) => !workspace.isScratch(path))
    .flatMap(({ path, link }) => [path, link]);
  const command = isCommand ? kindOf(access, approved) : undefined;
  if (written.length === 0 && command === undefined) return await prepared.run(signal, approved);
  const call = { id, paths: [...new Set(written)], ...(command === undefined ? {} : { command }) };
  const run = async () => {
    signal.throwIfAborted();
    return await runRecorded(call, () => prepared.run(signal, approved), ports, signal);
  };
  return await (ports.alone === undefined ? run() : ports.alone(run));
}

async function runRecorded(
  call: CheckpointedCall,
  run: () => Promise<ToolResult>,
  ports: CheckpointPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { traps } = ports;
  const { id, command } = call;
  const since = Date.now();
  const looking = trace?.now();
  const pending = await ports.checkpoints.before(call, signal);
  trace?.span("checkpoint", looking, id);
  const reportedChanges: FileChange[] = [];
  let notes: readonly string[] = [];
  let result: ToolResult;
  try {
    result = await run();
    reportedChanges.push(...result.changes ?? []);
  } finally {
    const recording = trace?.now();
    const found = await changesOf(pending, reportedChanges, ports);
    trace?.span("checkpoint", recording, id);
    for (const change of [...reportedChanges, ...found]) {
      ports.emit({ type: "file_modified", id, change: { ...change, since } });
    }
    if (command !== undefined) notes = [...traps.listed(found), ...await traps.settle(signal)];
  }
  return notes.length === 0 ? result : { ...result, text: [result.text, ...notes].join("\n") };
}

/** Undefined if it cannot write, or if its changes are approved after it ends. */
function kindOf(
  { background }: CommandInput,
  { access, rehearsed }: ApprovedChanges,
): CheckpointedCall["command"] {
  const level = access === undefined ? undefined : levelOf(access);
  if (level === "look" || level === "try") return undefined;
  if (background) return "background";
  return rehearsed === true ? undefined : "foreground";
}

/** The write has already happened, so buffers must follow it. */
async function changesOf(
  pending: PendingCheckpoint,
  reportedChanges: readonly FileChange[],
  { emit }: CheckpointPorts,
): Promise<readonly FileChange[]> {
  try {
    return await pending.done(reportedChanges);
  } catch (error) {
    const text = `What was written may not be possible to take back: ${messageOf(error)}`;
    emit({ type: "notice", severity: "warning", text });
    return [];
  }
}
