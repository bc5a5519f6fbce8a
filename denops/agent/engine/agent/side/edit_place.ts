/** A turn that edits lines in place: the model writes the new text, and a tool call stores it. */
import type { EditPlace } from "../../../protocol/edit_place.ts";
import { MODES } from "../../context/modes.ts";
import { atPlace, editQuestion, linesIn, replacementIn, withReplacement } from "../../context/edit_place.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { Prompt } from "../../log/model_request.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Model } from "../../llm/model.ts";
import { edit as editTool } from "../../tools/edit.ts";
import { ImageRoom } from "../../tools/files/image_room.ts";
import { shownPath } from "../../tools/files/text_file.ts";
import { ask } from "../permission/ask.ts";
import { type BatchPorts, runBatch } from "../turn/batch.ts";
import { maySpend } from "../turn/policies/limits.ts";
import type { Measured } from "../turn/meter.ts";
import { Repeats } from "../turn/repeats.ts";
import type { RunnerPorts, TurnEnd } from "../turn/runner.ts";

interface EditPorts extends RunnerPorts, BatchPorts {
  readonly model: Model;
  /** Builds a request of these messages only. */
  promptOf(messages: readonly MessageEntry[]): Prompt;
}

export async function editTurn(place: EditPlace, ports: EditPorts, signal: AbortSignal): Promise<TurnEnd> {
  const answer = (text: string) => {
    ports.append({ type: "assistant_message", text, calls: [], reasoning: [] });
    ports.emit({ type: "token", message: crypto.randomUUID(), text });
  };
  try {
    const done = await edit(place, ports, signal);
    if (typeof done !== "string") return done;
    answer(signal.aborted ? "Stopped." : done);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    answer(`Nothing was changed: ${messageOf(error)}`);
  }
  return { type: "stopped", reason: signal.aborted ? "cancelled" : "end_turn" };
}

/** The result for the user, or why the turn failed. @throws {ToolError} one line */
async function edit(place: EditPlace, ports: EditPorts, signal: AbortSignal): Promise<string | TurnEnd> {
  const { workspace, model, meter } = ports;
  await ports.refreshRules();
  const path = await workspace.resolveReadable(place.path);
  const read = async () => (await workspace.readText(path, signal))?.text ?? "";
  const name = shownPath(path);
  const before = await read();
  const question = editQuestion(name, before, place);
  if (!await maySpend(ports, meter.spending, signal)) return "Nothing was changed: the cap is reached.";
  const step = {
    model,
    tools: [],
    newCallId: ports.newCallId,
    emit: (event: Parameters<typeof ports.emit>[0]) => event.type === "retry" ? ports.emit(event) : undefined,
    count: (measured: Measured) => meter.count(measured, MODES.edit, [], { model }),
  };
  const end = await ask(MODES.edit, ports.promptOf([question]), step, signal);
  if (end.type === "failed") return { type: "failed", error: end.error };
  if (end.type === "cancelled") return signal.aborted ? "Stopped." : "Nothing was changed: it took too long.";
  if (end.finish !== "stop" && end.finish !== "tool_calls") {
    throw new ToolError("the answer was cut off. Select fewer lines.");
  }
  const replacement = replacementIn(end.message.text, place.text);
  // The file may have changed meanwhile.
  const now = await read();
  const at = atPlace(now, place);
  if (at === undefined) throw new ToolError("these lines were changed meanwhile.");
  await workspace.noteGiven(path.path, undefined, signal);
  const content = withReplacement(now, at, linesIn(place.text).length, replacement);
  if (content === now) return "Nothing was changed: the lines are to stay as they are.";
  const args = JSON.stringify({ path: path.path, content });
  const call = { id: ports.newCallId(""), name: editTool.name, arguments: args };
  const memory = { repeats: new Repeats(), iteration: 1, dropped: 0, images: new ImageRoom(false, []) };
  const [result] = await runBatch([call], { ...ports, tools: [editTool] }, memory, signal);
  if (result === undefined || result.isError) {
    return signal.aborted ? "Stopped." : `Nothing was changed. ${result?.text ?? ""}`.trim();
  }
  return `Changed ${name}.`;
}
