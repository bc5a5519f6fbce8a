/** The ports of one turn of the loop. */
import type { Mode } from "../../context/modes.ts";
import type { Model } from "../../llm/model.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Prompt } from "../../log/messages.ts";
import type { Room } from "../gather/room.ts";
import type { BatchPorts } from "./batch.ts";
import type { TextCalls } from "./policies/text_calls.ts";
import type { RunnerPorts } from "./runner.ts";

export interface TurnPorts extends RunnerPorts, BatchPorts {
  readonly model: Model;
  /** Writes summaries in the model's place. */
  readonly summarizer: Model | undefined;
  readonly room: Room;
  readonly textCalls: TextCalls;
  /** Requests that a turn may make before the user is asked. */
  readonly maxIterations: number;
  /** The same in another mode, with the model and the effort of this one. */
  inMode(mode: Mode): TurnPorts;
  /** Builds a request of this mode. @param more messages that are in no log */
  view(mode: Mode, more?: readonly MessageEntry[]): Prompt;
  /** Tools that the mode names and the session's list does not have. */
  missingTools(): readonly string[];
  /** The mode's text for the model. */
  modeText(): string;
  /** Builds requests anew, for the model as it is known by now. @returns whether they have become shorter */
  shortened(): boolean;
  /** To be called with each prompt that is sent. */
  sent(prompt: Prompt): void;
  /** Asks the model whether an answer claims a change; false over a cap. */
  claimsChange(request: string, answer: string, signal: AbortSignal): Promise<boolean>;
}
