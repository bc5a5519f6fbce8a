/** A turn without a model: copies the differences of a worktree into the project with tool calls. */
import type { Merge } from "../../../protocol/worktrees.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import { stepOf } from "./merged_file.ts";
import { remove } from "../../tools/delete.ts";
import { ImageRoom } from "../../tools/files/image_room.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import { write } from "../../tools/write.ts";
import { type BatchPorts, runBatch } from "../turn/batch.ts";
import { Repeats } from "../turn/repeats.ts";
import type { RunnerPorts, TurnEnd } from "../turn/runner.ts";

type MergedFile = Merge["files"][number];

/** Files that the answer names. */
const MOST_NAMED = 30;

export async function mergeTurn(
  merge: Merge,
  ports: RunnerPorts & BatchPorts,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const { append, emit } = ports;
  const left = [...merge.left];
  let merged = 0;
  for (const [index, file] of merge.files.entries()) {
    if (signal.aborted) break;
    const why = await take(file, index + 1, ports, signal).catch((error) => {
      if (error instanceof ToolError) return messageOf(error).replace(/\.$/, "");
      throw error;
    });
    if (why === undefined) merged++;
    else if (why !== "same") left.push({ path: file.path, why });
  }
  const text = answer(merge, merged, left, signal.aborted);
  append({ type: "assistant_message", text, calls: [], reasoning: [] });
  emit({ type: "token", message: crypto.randomUUID(), text });
  return { type: "stopped", reason: signal.aborted ? "cancelled" : "end_turn" };
}

/** Undefined if it was merged; "same" if nothing differed; otherwise the reason. @throws {ToolError} one line */
async function take(
  file: MergedFile,
  iteration: number,
  ports: RunnerPorts & BatchPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { workspace } = ports;
  const step = stepOf(file, await textOf(file.path, workspace, signal));
  if (step.type === "same") return "same";
  if (step.type === "left") return step.why;
  await workspace.noteGiven(file.path, undefined, signal);
  const [tool, args] = step.type === "write"
    ? [write, { path: file.path, content: step.content }]
    : [remove, { path: file.path }];
  const call = { id: ports.newCallId(""), name: tool.name, arguments: JSON.stringify(args) };
  const memory = { repeats: new Repeats(), iteration, dropped: 0, images: new ImageRoom(false, []) };
  const [result] = await runBatch([call], { ...ports, tools: [tool] }, memory, signal);
  if (result === undefined || result.isError) return oneLineOf(result?.text ?? "it was not written");
  return undefined;
}

async function textOf(path: string, workspace: Workspace, signal: AbortSignal): Promise<string | undefined> {
  return (await workspace.readText(await workspace.resolve(path), signal))?.text;
}

function oneLineOf(text: string): string {
  return (text.split("\n")[0] ?? "").replace(/\.$/, "");
}

function answer(merge: Merge, merged: number, left: Merge["left"], isStopped: boolean): string {
  const files = `${merged} ${merged === 1 ? "file" : "files"}`;
  const done = merged > 0
    ? `Merged the worktree ${merge.name}: ${files}. \`:Agent review\` goes through what was changed, \`:Agent undo\` takes it back.`
    : left.length > 0
    ? `Nothing of the worktree ${merge.name} was merged.`
    : `The worktree ${merge.name} has nothing that is not here.`;
  const rows = left.slice(0, MOST_NAMED).map(({ path, why }) => `- \`${path}\`: ${why}`);
  if (left.length > MOST_NAMED) rows.push(`- and ${left.length - MOST_NAMED} more`);
  const rest = rows.length === 0
    ? []
    : ["", `Left as they are here; the worktree is in \`${merge.folder}\`:`, "", ...rows];
  return [...(isStopped ? ["Stopped."] : []), done, ...rest].join("\n");
}
