/** A turn without a model: appends a line to the project's rules with a tool call. */
import { join } from "node:path";
import { SHARED_RULES } from "../../../protocol/rules/names.ts";
import { withLine } from "../../../protocol/rules/line.ts";
import { ToolError } from "../../../shared/errors.ts";
import { ImageRoom } from "../../tools/files/image_room.ts";
import type { TextFile } from "../../tools/files/text_file.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import { write } from "../../tools/write.ts";
import { type BatchPorts, runBatch } from "../turn/batch.ts";
import { Repeats } from "../turn/repeats.ts";
import type { RunnerPorts, TurnEnd } from "../turn/runner.ts";

/** @param line the text to remember */
export async function rememberTurn(
  line: string,
  ports: RunnerPorts & BatchPorts,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const { workspace, append, emit } = ports;
  const answer = (text: string) => {
    append({ type: "assistant_message", text, calls: [], reasoning: [] });
    emit({ type: "token", message: crypto.randomUUID(), text });
  };
  const file = await rulesFile(workspace, signal);
  if (file.before !== undefined) await workspace.noteGiven(file.name, undefined, signal);
  const content = withLine(file.before?.text ?? "", line);
  const call = {
    id: ports.newCallId(""),
    name: write.name,
    arguments: JSON.stringify({ path: file.name, content }),
  };
  const memory = { repeats: new Repeats(), iteration: 1, dropped: 0, images: new ImageRoom(false, []) };
  const [result] = await runBatch([call], { ...ports, tools: [write] }, memory, signal);
  if (signal.aborted) {
    answer("Stopped: nothing was remembered.");
    return { type: "stopped", reason: "cancelled" };
  }
  if (result === undefined || result.isError) answer(`Not remembered. ${result?.text ?? ""}`.trim());
  else {
    await ports.rereadRules();
    answer(`Remembered in ${file.name}.`);
  }
  return { type: "stopped", reason: "end_turn" };
}

/** The root's effective rules file, so that no new file replaces it. */
async function rulesFile(
  workspace: Workspace,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly before: TextFile | undefined }> {
  const found: { name: string; before: TextFile }[] = [];
  for (const name of SHARED_RULES) {
    try {
      const before = await workspace.readIfText(await workspace.resolve(join(workspace.root, name)), signal);
      if (before !== undefined) found.push({ name, before });
    } catch (error) {
      // A link that leads out of the project does not count.
      if (!(error instanceof ToolError)) throw error;
    }
  }
  const agents = "AGENTS.md";
  return found.find(({ before }) => before.text.trim() !== "") ??
    found.find(({ name }) => name === agents) ?? { name: agents, before: undefined };
}
