/** One small request beside a turn: a short prompt, and a line or some JSON as the answer. */
import type { Mode } from "../../context/modes.ts";
import type { Environment } from "../../context/sections.ts";
import { view } from "../../context/view.ts";
import type { Model } from "../../llm/model.ts";
import { ask } from "../permission/ask.ts";
import type { Measured } from "../turn/meter.ts";

export interface SmallQuestionPorts {
  readonly model: Model;
  readonly environment: Environment;
  /** Called once, if the request was answered or the provider reported usage. */
  count(measured: Measured): void;
}

/** @param mode a side mode without tools @returns undefined without a complete answer */
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

/** The JSON object in an answer, which models wrap in fences or words. Undefined without one. */
export function jsonIn(text: string | undefined): unknown {
  const [found] = /\{[^{}]*\}/.exec(text ?? "") ?? [];
  try {
    return found === undefined ? undefined : JSON.parse(found);
  } catch {
    return undefined;
  }
}
