/** One small request beside a turn: a few words in, a line or some JSON out. */
import type { Mode } from "../../context/modes.ts";
import type { Environment } from "../../context/sections.ts";
import { view } from "../../context/view.ts";
import type { Model } from "../../llm/model.ts";
import { ask } from "../permission/ask.ts";
import type { Measured } from "../turn/meter.ts";

export interface SmallQuestionPorts {
  readonly model: Model;
  readonly environment: Environment;
  /** Hears of the request once, if it was answered or the provider tells its usage. */
  count(measured: Measured): void;
}

/** @param mode one that is aside and without tools @returns undefined if no whole answer came */
export async function askSmall(
  mode: Mode,
  text: string,
  { model, environment, count }: SmallQuestionPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const messages = [{ type: "user_message", origin: "engine", parts: [{ type: "text", text }] }] as const;
  const step = { model, tools: [], emit: () => {}, newCallId: (id: string) => id, count };
  const end = await ask(mode, view(messages, mode, { environment, tools: [] }), step, signal);
  return end.type === "answered" ? end.message.text : undefined;
}

/** The JSON object in an answer: models put it into a fence or add words. Undefined if there is none. */
export function jsonIn(text: string | undefined): unknown {
  const [found] = /\{[^{}]*\}/.exec(text ?? "") ?? [];
  try {
    return found === undefined ? undefined : JSON.parse(found);
  } catch {
    return undefined;
  }
}
