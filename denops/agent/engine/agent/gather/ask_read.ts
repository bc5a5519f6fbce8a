/** May a file be read that a message mentions, and that the rules ask about? */
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { AskRead } from "../../tools/files/workspace.ts";
import { Permissions } from "../permission/permission.ts";
import type { RunnerPorts } from "../turn/runner.ts";

/** Asks as a call would that reads it: the line of that call is shown, and no part of the log. */
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
