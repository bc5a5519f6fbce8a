/** A question beside the turns. Its answer is based on the visible session and is not logged. */
import { type Mode, MODES } from "../../context/modes.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Prompt } from "../../log/model_request.ts";
import type { Model } from "../../llm/model.ts";
import type { Tool } from "../../tools/define.ts";
import { ask } from "../permission/ask.ts";
import type { AsideListener, Runner, RunnerPorts } from "../turn/runner.ts";
import type { StepPorts } from "../turn/step.ts";
import type { Measured, Meter } from "../turn/meter.ts";

interface AsidePorts {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly meter: Meter;
  view(mode: Mode, more: readonly MessageEntry[]): Prompt;
  newCallId(id: string): string;
}

const ALONE =
  "This is a side question. Your work continues unchanged afterwards. Answer briefly from what you know " +
  "already, in text. Call no tools.";

type AsideRunnerPorts = RunnerPorts & { readonly runner: Runner };

/** A session's questions beside its turns. */
export class Asides {
  readonly #portsOf: () => AsideRunnerPorts;
  readonly #closing: AbortSignal;
  readonly #running = new Map<string, AbortController>();

  constructor(portsOf: () => AsideRunnerPorts, closing: AbortSignal) {
    this.#portsOf = portsOf;
    this.#closing = closing;
  }

  /** Works during a turn too. @param onText receives the answer as it streams @throws {ToolError} one line */
  async ask(id: string, question: string, onText: AsideListener): Promise<string> {
    const { runner, ...ports } = this.#portsOf();
    if (runner.aside === undefined) throw new ToolError("This agent takes no questions beside a turn.");
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      return await runner.aside(question, onText, ports, AbortSignal.any([controller.signal, this.#closing]));
    } finally {
      this.#running.delete(id);
    }
  }

  /** Ends the answer with the text so far. */
  stop(id: string): void {
    this.#running.get(id)?.abort();
  }
}

/** @throws {ToolError} the reason for a missing answer, one line */
export async function askAside(
  question: string,
  onText: AsideListener,
  ports: AsidePorts,
  signal: AbortSignal,
): Promise<string> {
  const { model, tools, meter, newCallId } = ports;
  if (meter.spending.reached() !== undefined) throw new ToolError("A cap of your options is reached.");
  await model.prepare(signal);
  const mode = MODES.btw;
  const parts = [{ type: "text", text: `${ALONE}\n\n${question}` }] as const;
  const prompt = ports.view(mode, [{ type: "user_message", origin: "engine", parts }]);
  const count = (measured: Measured) => meter.count(measured, mode, tools, { model });
  let isTold = true;
  const emit: StepPorts["emit"] = (event) => {
    // Text was reclassified as a thought, or the reverse; only the end tells which.
    if (event.type === "retold") isTold = false;
    if (event.type === "token" && isTold) onText(event.text);
  };
  const end = await ask(mode, prompt, { model, tools, newCallId, emit, count }, signal);
  if (end.type === "failed") throw new ToolError(end.error.message);
  const text = end.type === "answered" ? end.message.text.trim() : end.text.trim();
  if (text === "" && signal.aborted) return "";
  if (text === "") throw new ToolError("The model has answered nothing.");
  return text;
}
