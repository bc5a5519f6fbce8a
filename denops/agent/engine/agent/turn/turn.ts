/** One turn of the loop: its state and its steps. */
import { ImageRoom } from "../../tools/files/image_room.ts";
import type { Mode } from "../../context/modes.ts";
import { type MessageEntry, wordsOf } from "../../log/entries.ts";
import type { AgentEvent, StopReason, UserMessage } from "../../log/events.ts";
import type { Initiator, Prompt } from "../../log/model_request.ts";
import { runBatch } from "./batch.ts";
import { summarize } from "./finish.ts";
import { partialAnswer } from "./interrupted.ts";
import type { Measured } from "./meter.ts";
import { Repeats } from "./repeats.ts";
import type { TurnEnd } from "./runner.ts";
import { runStep, type StepEnd } from "./step.ts";
import type { TurnPorts } from "./turn_ports.ts";
import { TurnWork } from "./turn_work.ts";

export type Answered = Extract<StepEnd, { type: "answered" }>;

export class Turn {
  readonly ports: TurnPorts;
  readonly signal: AbortSignal;
  readonly work = new TurnWork();
  /** The user's words. */
  readonly request: string;
  /** Number of the next request, from 1. */
  iteration = 1;
  /** Maximum number of requests. */
  limit: number;
  readonly #sessionPorts: TurnPorts;
  #repeats = new Repeats();
  #initiator: Initiator;
  /** The last prompt that was sent. */
  #prompt: Prompt | undefined;
  /** An answer ended with text, and no call followed. */
  #hasAnswered = false;

  /** @param restart runs the turn again in another mode */
  constructor(
    message: UserMessage,
    ports: TurnPorts,
    signal: AbortSignal,
    readonly restart: (mode: Mode) => Promise<TurnEnd>,
  ) {
    this.#sessionPorts = ports;
    const emit = (event: AgentEvent) => {
      this.work.note(event);
      ports.emit(event);
    };
    this.ports = { ...ports, emit, acted: () => this.work.acted() };
    this.signal = signal;
    this.request = wordsOf(message);
    this.#initiator = message.origin === "engine" ? "agent" : "user";
    this.limit = ports.maxIterations;
  }

  /** Sends one request. */
  async ask(): Promise<StepEnd> {
    const { ports, signal } = this;
    const { model, tools, mode, meter, room } = ports;
    const begun = performance.now();
    const prompt = this.#prompt = ports.view(mode);
    const facts = {
      build: performance.now() - begun,
      ready: meter.waited,
      messages: prompt.messages.length,
    };
    ports.sent(prompt);
    const count = (measured: Measured) => {
      room.learn(prompt, measured.usage?.input);
      meter.count(room.estimated(prompt, measured), mode, tools, { model, prompt: facts });
    };
    // A call that is cut off with its answer has not failed, so it is not recorded.
    const { emit } = this.#sessionPorts;
    const step = { model, tools, emit, newCallId: ports.newCallId, count, initiator: this.#initiator };
    const end = await runStep(step, prompt, signal);
    if (end.type === "answered") this.#initiator = "agent";
    return end;
  }

  /** Runs the calls of an answer and stores their results. */
  async runCalls({ message, dropped }: Answered): Promise<void> {
    const { ports, signal, iteration } = this;
    const { model, meter, room, history } = ports;
    const images = new ImageRoom(model.sees, this.#prompt?.messages ?? []);
    const memory = { repeats: this.#repeats, iteration, dropped, images };
    const results = await runBatch(message.calls, ports, memory, signal);
    meter.begin();
    const { folds } = history;
    for (const result of await room.fit(results, ports, signal)) this.append(result);
    if (history.folds !== folds) this.forgetLookUps();
  }

  /** Results of look-ups may be folded, so they may run again. */
  forgetLookUps(): void {
    this.#repeats = new Repeats();
  }

  /** Names of calls that were repeated since the last time. */
  takeRepeated(): readonly string[] {
    return this.#repeats.takeRepeated();
  }

  append(message: MessageEntry): void {
    if (message.type === "assistant_message") {
      this.#hasAnswered = message.calls.length === 0 && (this.#hasAnswered || message.text.trim() !== "");
    }
    this.ports.append(message);
  }

  notice(text: string, severity: "info" | "warning" = "info"): void {
    this.ports.emit({ type: "notice", severity, text });
  }

  /**
   * Ends the turn. An empty answer is followed by a summary, unless it only confirms that the previous answer was the
   * last.
   */
  async finish({ text, complete }: Pick<Answered["message"], "text" | "complete">): Promise<TurnEnd> {
    const { ports, work, signal } = this;
    const isEmpty = text.trim() === "" && !(complete === true && this.#hasAnswered);
    const end = isEmpty ? await summarize(ports, work, signal) : undefined;
    return end !== undefined && "stopped" in end
      ? this.interrupted("cancelled", end.stopped)
      : { type: "stopped", reason: "end_turn", ...end };
  }

  /** Ends the turn with an answer to every question, because roles must alternate in the next request. */
  interrupted(reason: StopReason, text = ""): TurnEnd {
    this.append(partialAnswer(text));
    return { type: "stopped", reason: this.signal.aborted ? "cancelled" : reason };
  }
}
