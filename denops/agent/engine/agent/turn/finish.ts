/** The end of a turn whose last answer is empty. */
import { type Mode, MODES } from "../../context/modes.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { AgentEvent } from "../../log/events.ts";
import type { Prompt } from "../../log/model_request.ts";
import type { Model } from "../../llm/model.ts";
import type { Tool } from "../../tools/define.ts";
import { ask } from "../permission/ask.ts";
import type { Measured, Meter } from "./meter.ts";
import type { TurnWork } from "./turn_work.ts";

const ASK_FOR_SUMMARY =
  "Your answer was empty. Say in a few sentences what you have done and found, and what is left to do. Call no tools.";

const NO_ANSWER = "[No answer.]";

interface FinishPorts {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly meter: Meter;
  emit(event: AgentEvent): void;
  view(mode: Mode): Prompt;
  sent(prompt: Prompt): void;
  newCallId(id: string): string;
  append(message: MessageEntry): void;
}

/**
 * Requests a summary as the answer; otherwise lists the last calls. The question stays in the history, so that the
 * provider's cache still fits the next request.
 * @returns the partial text if the user stopped it, or the problem if there is no answer; undefined if the answer is in
 * the history
 */
export async function summarize(
  ports: FinishPorts,
  work: TurnWork,
  signal: AbortSignal,
  mode: Mode = MODES.summary,
): Promise<{ readonly stopped: string } | { readonly problem: string } | undefined> {
  const { meter, emit, append } = ports;
  append({ type: "control_note", reason: "no_answer", text: ASK_FOR_SUMMARY });
  // Above a cap nothing is sent; the next message asks about the cap.
  const came = meter.spending.reached() === undefined ? await askForIt(ports, mode, signal) : "";
  if (signal.aborted) return { stopped: came };
  if (came.trim() !== "") {
    return void append({ type: "assistant_message", text: came, calls: [], reasoning: [] });
  }
  const text = work.summary();
  append({ type: "assistant_message", text: text ?? NO_ANSWER, calls: [], reasoning: [] });
  if (text !== undefined) return void emit({ type: "token", message: crypto.randomUUID(), text });
  const notice = "The model answered with nothing. Ask again in other words.";
  emit({ type: "notice", severity: "warning", text: notice });
  return { problem: notice };
}

/** The text that arrived, complete or not. */
async function askForIt(ports: FinishPorts, mode: Mode, signal: AbortSignal): Promise<string> {
  const { model, tools, meter, emit, newCallId, view } = ports;
  const step = {
    ...{ model, tools, newCallId },
    // Calls do not run, so they are not shown.
    emit: (event: AgentEvent) => event.type === "tool_writing" ? undefined : emit(event),
    count: (measured: Measured) => meter.count(measured, mode, tools, { model }),
  };
  const prompt = view(mode);
  ports.sent(prompt);
  const end = await ask(mode, prompt, step, signal);
  return end.type === "answered" ? end.message.text : end.text;
}
