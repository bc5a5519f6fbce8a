/** A title for a session, from the model itself: one small request. */
import { titleLine } from "../core/title.ts";
import { Assembly } from "../llm/assemble.ts";
import { isContent } from "../llm/client.ts";
import type { Model } from "../llm/model.ts";
import { Clock, type Measured } from "./meter.ts";
import type { Exchange } from "./runner.ts";

/** Told apart from other requests by this text. */
export const TITLE_SYSTEM =
  "You give sessions with a coding agent their titles. Answer with the title alone: " +
  "one line of at most eight words in the language of the user's messages, without quotes and without a full stop.";

/** Characters of the question and of the answer that the model gets. */
const MOST_TEXT = 2_000;

export interface TitlePorts {
  readonly model: Model;
  /** Is told of the request once, if it was answered or the provider says what it has taken. */
  count(measured: Measured): void;
}

/** Never rejects for what the model does: undefined is no title. */
export async function askTitle(
  { model, count }: TitlePorts,
  { question, answer }: Exchange,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = `<user>\n${question.slice(0, MOST_TEXT)}\n</user>\n<agent>\n${
    answer.slice(0, MOST_TEXT)
  }\n</agent>`;
  const prompt = {
    system: TITLE_SYSTEM,
    messages: [{ role: "user", text }] as const,
    tools: [],
    think: false,
  };
  const assembly = new Assembly();
  const clock = new Clock();
  const measured = () => ({ usage: assembly.usage, calls: [], ...clock.read() });
  const givenUp = new AbortController();
  for await (const event of model.stream(prompt, AbortSignal.any([signal, givenUp.signal]))) {
    if (event.type === "deltas") {
      for (const delta of event.deltas) assembly.add(delta);
      if (event.deltas.some(isContent)) clock.heard();
    } // A title is not worth a second request.
    else if (event.type === "retry") givenUp.abort();
    else if (event.type !== "done") {
      if (assembly.usage !== undefined) count(measured());
      return undefined;
    }
  }
  count(measured());
  return cleaned(assembly.text);
}

/** Models like to add marks of their own. */
function cleaned(text: string): string | undefined {
  const line = text.split("\n").map((one) => one.replace(/^[\s#*_>"'`“«]*(?:title\s*:)?[\s*_"'`“«]*/i, ""))
    .map((one) => one.replace(/[\s*_"'`”».]+$/, "")).find((one) => one !== "");
  return line === undefined ? undefined : titleLine(line);
}
