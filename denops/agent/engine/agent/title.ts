/** A title for a session, from the model itself: one small request. */
import { MODES } from "../context/modes.ts";
import type { Environment } from "../context/sections.ts";
import { view } from "../context/view.ts";
import { titleLine } from "../core/title.ts";
import type { Model } from "../llm/model.ts";
import { ask } from "./ask.ts";
import type { Measured } from "./meter.ts";
import type { Exchange } from "./runner.ts";

/** Characters of the question and of the answer that the model gets. */
const MOST_TEXT = 2_000;

export interface TitlePorts {
  readonly model: Model;
  readonly environment: Environment;
  /** Is told of the request once, if it was answered or the provider says what it has taken. */
  count(measured: Measured): void;
}

/** Never rejects for what the model does: undefined is no title. */
export async function askTitle(
  { model, environment, count }: TitlePorts,
  { question, answer }: Exchange,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = `<user>\n${question.slice(0, MOST_TEXT)}\n</user>\n<agent>\n${
    answer.slice(0, MOST_TEXT)
  }\n</agent>`;
  const mode = MODES.title;
  const messages = [{ type: "user_message", origin: "engine", parts: [{ type: "text", text }] }] as const;
  const step = { model, tools: [], emit: () => {}, newCallId: (id: string) => id, count };
  const end = await ask(mode, view(messages, mode, { environment, tools: [] }), step, signal);
  return end.type === "answered" ? cleaned(end.message.text) : undefined;
}

/** Characters; no title is that long. */
const LONGEST_LINE = 1_000;

/** Models like to add marks of their own. */
function cleaned(text: string): string | undefined {
  const line = text.split("\n").map((one) => one.slice(0, LONGEST_LINE)).map((one) =>
    one.replace(/^[\s#*_>"'`“«]*(?:title\s*:)?[\s*_"'`“«]*/i, "")
  )
    .map((one) => one.replace(/[\s*_"'`”».]+$/, "")).find((one) => one !== "");
  return line === undefined ? undefined : titleLine(line);
}
