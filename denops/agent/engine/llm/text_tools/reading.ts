/** An answer's text as it comes: what may be shown of it at once, and at its end the calls in it. */
import type { Prompt } from "../../core/messages.ts";
import type { ModelEvent } from "../client.ts";
import type { Delta } from "../wire/wire.ts";
import { Grammar } from "./grammar.ts";
import { extract, Partial } from "./scan.ts";

/**
 * Makes calls of those that a model has written into its text. An answer with calls of the provider's own keeps its text.
 * @param told called once at the end of an answer, with how many calls were in its text
 */
export async function* withTextCalls(
  events: AsyncGenerator<ModelEvent, void>,
  prompt: Prompt,
  told: (calls: number) => void,
): AsyncGenerator<ModelEvent, void> {
  if (prompt.tools.length === 0) return yield* events;
  const reading = new Reading(prompt);
  for await (const event of events) {
    if (event.type === "deltas") {
      const deltas = event.deltas.flatMap((delta) => reading.take(delta));
      if (deltas.length > 0) yield { type: "deltas", deltas };
      continue;
    }
    if (event.type !== "retry") {
      const { deltas, calls } = reading.end(event.type === "done");
      if (deltas.length > 0) yield { type: "deltas", deltas };
      if (event.type === "done") told(calls);
    }
    yield event;
  }
}

class Reading {
  readonly #prompt: Prompt;
  /** Made when there is text: the request does not wait for it. */
  #made: { readonly grammar: Grammar; readonly partial: Partial } | undefined;
  #text = "";
  #shown = "";
  #isNative = false;

  constructor(prompt: Prompt) {
    this.#prompt = prompt;
  }

  get #reader() {
    return this.#made ??= readerFor(this.#prompt);
  }

  take(delta: Delta): readonly Delta[] {
    if (delta.type === "call_start") this.#isNative = true;
    if (delta.type !== "text") return [delta];
    this.#text += delta.text;
    return this.#show(this.#reader.partial.add(delta.text));
  }

  /** What is left to tell. @param isWhole without it the answer was broken off, and its calls with it */
  end(isWhole: boolean): { readonly deltas: readonly Delta[]; readonly calls: number } {
    if (this.#text === "") return { deltas: [], calls: 0 };
    const { calls, rest } = extract(this.#text, this.#reader.grammar);
    if (this.#isNative || calls.length === 0) {
      return { deltas: this.#show(this.#text.slice(this.#shown.length)), calls: 0 };
    }
    const left = this.#show(rest.trimEnd().slice(this.#shown.length));
    if (!isWhole) return { deltas: left, calls: 0 };
    const starts = calls.flatMap(({ name, arguments: text }, index): readonly Delta[] => [
      { type: "call_start", index, id: "", name },
      { type: "call_arguments", index, text },
    ]);
    return { deltas: [...left, ...starts, { type: "written", text: this.#text }], calls: calls.length };
  }

  #show(text: string): readonly Delta[] {
    this.#shown += text;
    return text === "" ? [] : [{ type: "text", text }];
  }
}

function readerFor({ tools, messages }: Prompt) {
  // Else whatever a file says would be done as soon as a model repeats it.
  const shown = messages.flatMap((message) => message.role === "assistant" ? [] : [message.text]);
  const grammar = new Grammar(tools, shown);
  return { grammar, partial: new Partial(grammar) };
}
