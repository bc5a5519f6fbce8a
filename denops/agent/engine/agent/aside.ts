/** A question beside the turns: answered from what the model sees of the session, and in no log. */
import { type Mode, MODES } from "../context/modes.ts";
import { ToolError } from "../core/errors.ts";
import type { MessageEntry } from "../core/entries.ts";
import type { Prompt } from "../core/messages.ts";
import type { Model } from "../llm/model.ts";
import type { Tool } from "../tools/define.ts";
import { ask } from "./ask.ts";
import type { Measured, Meter } from "./meter.ts";

export interface AsidePorts {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly meter: Meter;
  view(mode: Mode, more: readonly MessageEntry[]): Prompt;
  newCallId(given: string): string;
}

const ALONE =
  "This is asked beside your work, which goes on unchanged afterwards. Answer briefly from what you know " +
  "already, in text. Call no tools.";

/** @throws {ToolError} one line: why there is no answer */
export async function askAside(question: string, ports: AsidePorts, signal: AbortSignal): Promise<string> {
  const { model, tools, meter, newCallId } = ports;
  if (meter.spending.reached() !== undefined) throw new ToolError("A cap of your options is reached.");
  await model.prepare(signal);
  const mode = MODES.btw;
  const parts = [{ type: "text", text: `${ALONE}\n\n${question}` }] as const;
  const prompt = ports.view(mode, [{ type: "user_message", origin: "engine", parts }]);
  const count = (measured: Measured) => meter.count(measured, mode, tools, { model });
  const end = await ask(mode, prompt, { model, tools, newCallId, emit: () => {}, count }, signal);
  if (end.type === "failed") throw new ToolError(end.error.message);
  const text = end.type === "answered" ? end.message.text.trim() : end.text.trim();
  if (text === "") throw new ToolError("The model has answered nothing.");
  return text;
}
