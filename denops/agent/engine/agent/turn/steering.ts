/** The user's actions during a turn: messages for the model after the next results, and pauses. */
import type { SteerEnd } from "../../../protocol/requests.ts";
import { TurnError } from "../../../shared/errors.ts";
import { imagesOf, partsText } from "../../context/view.ts";
import { withoutRepeats } from "../../context/repeats.ts";
import { attachmentNames, type ControlNote, type MessageEntry, wordsOf } from "../../log/entries.ts";
import type { AgentEvent, Emit } from "../../log/events.ts";
import type { GatheredMessage, PromptPart } from "../gather/attachments.ts";

type LogSteered = (id: string, note: ControlNote, event: AgentEvent) => void;

interface TellPorts {
  readonly emit: Emit;
  /** The messages that the model sees. */
  messages(): readonly MessageEntry[];
}

interface SteeringMessage {
  readonly prompt: readonly PromptPart[];
  readonly done: (end: SteerEnd) => void;
}

export class Steering {
  readonly #queue = new Map<string, SteeringMessage>();
  /** Ids of messages that were withdrawn before they arrived. */
  readonly #withdrawn = new Set<string>();
  /** Gathers a message's attachments, or rejects with a TurnError; undefined: no turn runs. */
  #gatherMessage: ((prompt: readonly PromptPart[]) => Promise<GatheredMessage>) | undefined;
  /** Ends a pause; undefined: no pause is requested. */
  #goOn: (() => void) | undefined;
  #goesOn: Promise<void> | undefined;
  /** Called once the turn is paused or over. */
  #stands: ((isPaused: boolean) => void)[] = [];
  readonly #log: LogSteered;

  /** @param log stores all or nothing, and publishes the event */
  constructor(log: LogSteered) {
    this.#log = log;
  }

  /** A turn begins. */
  begin(gatherMessage: (prompt: readonly PromptPart[]) => Promise<GatheredMessage>): void {
    this.#gatherMessage = gatherMessage;
  }

  /** The turn ended: returns undelivered messages and ends any pause. */
  end(how: "ended" | "stopped"): void {
    this.#gatherMessage = undefined;
    for (const { done } of this.#queue.values()) done(how);
    this.#queue.clear();
    this.#withdrawn.clear();
    this.goOn();
  }

  /** @param id chosen by the caller, to withdraw the message @returns the message's fate, once it is known */
  say(id: string, prompt: readonly PromptPart[]): Promise<SteerEnd> {
    if (this.#gatherMessage === undefined) return Promise.resolve("ended");
    if (this.#withdrawn.delete(id)) return Promise.resolve("taken_back");
    this.#queue.get(id)?.done("taken_back");
    const { promise, resolve } = Promise.withResolvers<SteerEnd>();
    this.#queue.set(id, { prompt, done: resolve });
    return promise;
  }

  /** Withdraws a message. The supervisor may send this before the message, which takes time to prepare. */
  takeBack(id: string): void {
    const message = this.#queue.get(id);
    if (message === undefined) this.#withdrawn.add(id);
    message?.done("taken_back");
    this.#queue.delete(id);
  }

  /** Delivers waiting messages to the model. Call it before each step except the first. */
  async tell(
    { emit, messages }: TellPorts,
    signal: AbortSignal,
  ): Promise<void> {
    for (const [id, message] of [...this.#queue]) {
      const gathered = await this.#gatherMessage?.(message.prompt).catch(turnError);
      // A message that was withdrawn meanwhile is not delivered.
      if (gathered === undefined || signal.aborted) return;
      if (this.#queue.get(id) !== message) continue;
      this.#queue.delete(id);
      if (gathered instanceof TurnError) {
        // The next turn refuses it with this error.
        message.done("ended");
        continue;
      }
      const { problems, note } = gathered;
      const parts = withoutRepeats(gathered.parts, messages());
      const text = [`${STEERED}\n${partsText(parts)}`, ...note === undefined ? [] : [note]].join("\n\n");
      this.#log(
        id,
        { type: "control_note", reason: "steering", text, ...imagesOf(parts) },
        { type: "steered", id, text: wordsOf({ parts }), ...attachmentNames({ parts }) },
      );
      for (const problem of problems) emit({ type: "notice", severity: "warning", text: problem });
      message.done("told");
    }
  }

  /** Pauses the turn before its next step. @returns whether it pauses, once that is known */
  pause(): Promise<boolean> {
    if (this.#gatherMessage === undefined) return Promise.resolve(false);
    if (this.#goesOn === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      [this.#goesOn, this.#goOn] = [promise, resolve];
    }
    return new Promise((resolve) => this.#stands.push(resolve));
  }

  goOn(): void {
    this.#tellStands(false);
    this.#goOn?.();
    this.#goOn = this.#goesOn = undefined;
  }

  /** Before each step: waits while the turn is paused, or until it is stopped. */
  async step(signal: AbortSignal): Promise<void> {
    if (this.#goesOn === undefined || signal.aborted) return;
    this.#tellStands(true);
    const goOn = () => this.goOn();
    signal.addEventListener("abort", goOn, { once: true });
    await this.#goesOn;
    signal.removeEventListener("abort", goOn);
  }

  #tellStands(isPaused: boolean): void {
    for (const tell of this.#stands.splice(0)) tell(isPaused);
  }
}

function turnError(error: unknown): TurnError {
  if (error instanceof TurnError) return error;
  throw error;
}

const STEERED = "The user says, while you are at work:";
