/** An answer's text as it comes: what may be shown of it at once, and at its end the calls in it. */
import type { Prompt } from "../../core/messages.ts";
import type { ModelEvent } from "../client.ts";
import type { Delta } from "../wire/wire.ts";
import { draftName } from "./draft.ts";
import { Grammar } from "./grammar.ts";
import { extract, Partial } from "./scan.ts";
import { THOUGHTS } from "../thoughts.ts";

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
      // To leave ends the request.
      if (reading.isOver) return yield* ended({ type: "done", isCut: true });
    } else if (event.type === "retry" || event.type === "notice") {
      yield event;
    } else {
      return yield* ended(event);
    }
  }

  function* ended(event: ModelEvent): Generator<ModelEvent, void> {
    const { deltas, calls, isLoop } = reading.end(event.type === "done");
    if (isLoop) yield { type: "notice", text: LOOP };
    if (deltas.length > 0) yield { type: "deltas", deltas };
    if (event.type === "done") told(calls);
    yield event.type === "done" && isLoop ? { ...event, isLoop } : event;
  }
}

const LOOP = "The model wrote the same call again and again and was stopped; the call is made once.";

interface Left {
  readonly deltas: readonly Delta[];
  /** So many were in the text. */
  readonly calls: number;
  readonly isLoop: boolean;
}

const NOTHING_LEFT: Left = { deltas: [], calls: 0, isLoop: false };

class Reading {
  readonly #prompt: Prompt;
  /** Made when there is text: the request does not wait for it. */
  #made: { readonly grammar: Grammar; readonly partial: Partial } | undefined;
  #text = "";
  #thought = "";
  #shown = "";
  #isNative = false;
  /** Calls that are told of while they are written: which of the answer's → its name. */
  readonly #begun = new Map<number, string>();

  constructor(prompt: Prompt) {
    this.#prompt = prompt;
  }

  get #reader() {
    return this.#made ??= readerFor(this.#prompt);
  }

  get isOver(): boolean {
    return !this.#isNative && this.#made?.partial.isOver === true;
  }

  take(delta: Delta): readonly Delta[] {
    if (delta.type === "call_start" && !this.#isNative) {
      this.#isNative = true;
      return [...this.#drop([...this.#begun.keys()]), delta];
    }
    if (delta.type === "thought") this.#thought += delta.text;
    if (delta.type === "thought_was_text") this.#thought = "";
    if (delta.type === "text_was_thought") {
      const text = this.#text;
      this.#thought += text;
      this.#text = this.#shown = "";
      this.#made = undefined;
      return [...this.#drop([...this.#begun.keys()]), { ...delta, text }];
    }
    if (delta.type !== "text") return [delta];
    this.#text += delta.text;
    const { partial } = this.#reader;
    const shown = this.#show(partial.add(delta.text));
    return this.#isNative ? shown : [...shown, ...this.#write(delta.text)];
  }

  /** What is told of a call while it is written. */
  #write(piece: string): readonly Delta[] {
    const { grammar, partial: { writing } } = this.#reader;
    if (writing === undefined) return [];
    const { index, text } = writing;
    if (this.#begun.has(index)) return [{ type: "call_draft", index, text: piece }];
    const name = grammar.tools.named(draftName(text) ?? "")?.name;
    if (name === undefined) return [];
    this.#begun.set(index, name);
    return [{ type: "call_start", index, id: "", name }, { type: "call_draft", index, text }];
  }

  #drop(indexes: readonly number[]): readonly Delta[] {
    for (const index of indexes) this.#begun.delete(index);
    return indexes.map((index) => ({ type: "call_dropped", index }));
  }

  /** What is left to tell. @param isWhole without it the answer was broken off, and its calls with it */
  end(isWhole: boolean): Left {
    if (this.#text.trim() === "" && isWhole && !this.#isNative) return this.#inThought();
    if (this.#text === "") return NOTHING_LEFT;
    const { calls, rest, written, isLoop } = extract(this.#text, this.#reader.grammar);
    const left = this.#show((calls.length === 0 ? rest : rest.trimEnd()).slice(this.#shown.length));
    if (!isWhole || this.#isNative) return { deltas: left, calls: 0, isLoop: false };
    const dropped = this.#drop(
      [...this.#begun].flatMap(([at, name]) => calls[at]?.name === name ? [] : [at]),
    );
    const made = calls.flatMap(({ name, arguments: text }, index): readonly Delta[] => [
      ...this.#begun.has(index) ? [] : [{ type: "call_start", index, id: "", name } as const],
      { type: "call_arguments", index, text },
    ]);
    const own: readonly Delta[] = calls.length === 0 ? [] : [{ type: "written", text: written.trimEnd() }];
    return { deltas: [...left, ...dropped, ...made, ...own], calls: calls.length, isLoop };
  }

  /** Some models call a tool at the end of a thought, and say nothing more. */
  #inThought(): Left {
    const [open = ""] = THOUGHTS.keys();
    if (this.#thought.trim() === "") return NOTHING_LEFT;
    const { calls, rest, written, isLoop } = extract(open + this.#thought, this.#reader.grammar);
    const made = calls.flatMap(({ name, arguments: text }, index): readonly Delta[] => [
      { type: "call_start", index, id: "", name },
      { type: "call_arguments", index, text },
    ]);
    const own: readonly Delta[] = calls.length === 0
      ? []
      : [{ type: "written", text: written.slice(rest.trimEnd().length).trim() }];
    return { deltas: [...made, ...own], calls: calls.length, isLoop };
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
