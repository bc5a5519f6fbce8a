/** Asks whether a mentioned file may be read, if a rule asks. */
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { AskRead } from "../../tools/files/workspace.ts";
import { Permissions } from "../permission/permission.ts";
import type { RunnerPorts } from "../turn/runner.ts";

/** Asks like a reading call would: the call's line is shown, but not logged. */
export function askRead(
  ports: Pick<RunnerPorts, "emit" | "ask" | "decide" | "allowForSession" | "newCallId">,
  signal: AbortSignal,
): AskRead {
  return async (path, reason) => {
    const id = ports.newCallId("");
    const call = { id, title: `read ${path.named}`, kind: "read", paths: [path.path] } as const;
    const done = (status: "completed" | "failed", summary: string) =>
      ports.emit({ type: "tool_done", id, status, summary, output: "" });
    try {
      await new Permissions(ports, () => call, signal).read(path, reason);
      done("completed", "handed over");
    } catch (error) {
      done("failed", error instanceof ToolError ? error.summary : messageOf(error));
      throw error;
    }
  };
}
