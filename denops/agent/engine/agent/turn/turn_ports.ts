/** The ports of one turn of the loop. */
import type { Mode } from "../../context/modes.ts";
import type { Model } from "../../llm/model.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Prompt } from "../../log/model_request.ts";
import { TurnHooks } from "../hooks/turn_hooks.ts";
import type { ClientAbilities } from "../../ports/abilities.ts";
import type { Room } from "../gather/room.ts";
import type { BatchPorts } from "./batch.ts";
import type { TextCalls } from "./policies/text_calls.ts";
import type { RunnerPorts } from "./runner.ts";

export interface TurnPorts extends RunnerPorts, BatchPorts {
  readonly model: Model;
  /** The model for summaries. */
  readonly summarizer: Model | undefined;
  readonly room: Room;
  readonly textCalls: TextCalls;
  /** Requests before the user is asked. */
  readonly maxIterations: number;
  /** The ports of another mode, with this model and effort. */
  inMode(mode: Mode): TurnPorts;
  /** Builds a request of this mode. @param more messages that are not in the log */
  view(mode: Mode, more?: readonly MessageEntry[]): Prompt;
  /** Tools of the mode that the session does not offer. */
  missingTools(): readonly string[];
  /** The mode's text for the model. */
  modeText(): string;
  /** Rebuilds requests with current facts about the model. @returns whether they became shorter */
  shortened(): boolean;
  /** Call it with each prompt that is sent. */
  sent(prompt: Prompt): void;
  /** Asks the model whether an answer claims a change; false above a cap. */
  claimsChange(request: string, answer: string, signal: AbortSignal): Promise<boolean>;
}

/** The hooks of a new turn; undefined: none are configured. */
export function turnHooks({ hooks }: Partial<ClientAbilities>): TurnHooks | undefined {
  return hooks && new TurnHooks(hooks);
}
