/** Runs a call that may write, so that what it changes can be taken back, and open buffers follow. */
import { judgeCommand } from "../../policy/command.ts";
import { type CommandInput, levelOf } from "../../protocol/commands.ts";
import { messageOf } from "../core/errors.ts";
import type { Emit, FileChange } from "../core/events.ts";
import type { CallToKeep, Checkpoints, PendingCheckpoint } from "../core/ports.ts";
import type { PreparedCall, ToolResult } from "../tools/define.ts";

export interface KeptPorts {
  /** What calls change is kept here. */
  readonly checkpoints: Checkpoints;
  readonly emit: Emit;
}

/** @param changed the command as the user has changed it */
export async function runKept(
  id: string,
  prepared: PreparedCall,
  changed: string | undefined,
  ports: KeptPorts,
  signal: AbortSignal,
): Promise<ToolResult> {
  const written = prepared.touches.flatMap((touch) =>
    touch.access === "write" ? [touch.path.path, touch.path.link] : []
  );
  const command = kindOf(prepared.command, changed);
  if (written.length === 0 && command === undefined) return await prepared.run(signal, changed);
  const call = { id, paths: [...new Set(written)], ...(command === undefined ? {} : { command }) };
  const pending = await ports.checkpoints.before(call, signal);
  const said: FileChange[] = [];
  try {
    const result = await prepared.run(signal, changed);
    said.push(...result.changes ?? []);
    return result;
  } finally {
    const found = await kept(pending, said, ports);
    for (const change of [...said, ...found]) ports.emit({ type: "file_modified", id, change });
  }
}

/** Undefined if it surely writes nothing. */
function kindOf(input: CommandInput | undefined, changed: string | undefined): CallToKeep["command"] {
  if (input === undefined) return undefined;
  const { severity, access } = judgeCommand(changed ?? input.command);
  if (severity === "none" && levelOf(access) === "look") return undefined;
  return input.background ? "background" : "foreground";
}

/** The write has happened, whatever comes now: buffers must follow it. */
async function kept(
  pending: PendingCheckpoint,
  said: readonly FileChange[],
  { emit }: KeptPorts,
): Promise<readonly FileChange[]> {
  try {
    return await pending.done(said);
  } catch (error) {
    const text = `What was written may not be possible to take back: ${messageOf(error)}`;
    emit({ type: "notice", severity: "warning", text });
    return [];
  }
}
