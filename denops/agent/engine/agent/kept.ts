/** Runs a call that may write, so that what it changes can be taken back, and open buffers follow. */
import { messageOf } from "../core/errors.ts";
import type { Emit, FileChange } from "../core/events.ts";
import type { Checkpoints, PendingCheckpoint } from "../core/ports.ts";
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
  if (written.length === 0) return await prepared.run(signal, changed);
  const paths = [...new Set(written)];
  const pending = await ports.checkpoints.before({ id, paths }, signal);
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
