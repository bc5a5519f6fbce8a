/** A title for a conversation, from the model itself: one small request. */
import type { Usage } from "../core/messages.ts";
import { titleLine } from "../core/title.ts";
import { Assembly } from "../llm/assemble.ts";
import type { Model } from "../llm/model.ts";

/** Told apart from other requests by this text. */
export const TITLE_SYSTEM =
  "You give conversations with a coding agent their titles. Answer with the title alone: " +
  "one line of at most eight words in the language of the conversation, without quotes and without a full stop.";

/** Characters of the question and of the answer that the model gets. */
const MOST_TEXT = 2_000;

export interface TitleAnswer {
  /** Undefined if the model has given none. */
  readonly title: string | undefined;
  readonly usage: Usage | undefined;
}

/** Never rejects: what fails is an answer without a title. */
export async function askTitle(
  model: Model,
  { question, answer }: { readonly question: string; readonly answer: string },
  signal: AbortSignal,
): Promise<TitleAnswer> {
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
  const givenUp = new AbortController();
  for await (const event of model.stream(prompt, AbortSignal.any([signal, givenUp.signal]))) {
    if (event.type === "deltas") { for (const delta of event.deltas) assembly.add(delta); }
    // A title is not worth a second request.
    else if (event.type === "retry") givenUp.abort();
    else if (event.type !== "done") return { title: undefined, usage: assembly.usage };
  }
  return { title: cleaned(assembly.text), usage: assembly.usage };
}

/** Models like to add marks of their own. */
function cleaned(text: string): string | undefined {
  const line = text.split("\n").map((one) => one.replace(/^[\s#*_>"'`“«]*(?:title\s*:)?[\s*_"'`“«]*/i, ""))
    .map((one) => one.replace(/[\s*_"'`”».]+$/, "")).find((one) => one !== "");
  return line === undefined ? undefined : titleLine(line);
}
