import type { Prompt } from "../../log/model_request.ts";
import type { ModelEvent } from "../client.ts";
import type { Delta } from "../wire/wire.ts";
import { draftName } from "./draft.ts";
import { Grammar } from "./grammar.ts";
import { extract, Partial, shownTool } from "./scan.ts";

interface Speaker {
  /** The provider's name for it. */
  readonly model: string;
  /** Whether calls in its text are made; otherwise they are quotations. */
  readonly callsInText: boolean;
}

export interface Found {
  /** The provider's native calls. */
  readonly isNative: boolean;
  /** Number of calls that the text contained. */
  readonly calls: number;
  /** The tool of a quoted call that the answer ends in or is about. */
  readonly shownTool: string | undefined;
}

/**
 * Turns the calls at the end of an answer's text into tool calls. An answer with native calls keeps its text.
 * @param found called once at the end of an answer
 */
export async function* withTextCalls(
  events: AsyncGenerator<ModelEvent, void>,
  prompt: Prompt,
  speaker: Speaker,
  found: (found: Found) => void,
): AsyncGenerator<ModelEvent, void> {
  if (prompt.tools.length === 0) return yield* events;
  const reading = new Reading(prompt, speaker);
  for await (const event of events) {
    if (event.type === "deltas") {
      const deltas = event.deltas.flatMap((delta) => reading.take(delta));
      if (deltas.length > 0) yield { type: "deltas", deltas };
      // Returning ends the request.
      if (reading.isOver) return yield* ended({ type: "done", isCut: true });
    } else if (event.type === "retry" || event.type === "notice") {
      yield event;
    } else {
      return yield* ended(event);
    }
  }

  function* ended(event: ModelEvent): Generator<ModelEvent, void> {
    const { deltas, calls, shownTool, isLoop } = reading.end(event.type === "done");
    if (isLoop) yield { type: "notice", text: LOOP };
    if (deltas.length > 0) yield { type: "deltas", deltas };
    if (event.type !== "done") return yield event;
    found({ isNative: reading.isNative, calls, shownTool });
    yield {
      ...event,
      ...isLoop ? { isLoop } : {},
      ...shownTool === undefined ? {} : { shownCall: shownTool },
    };
  }
}

const LOOP = "The model wrote the same call again and again and was stopped; the call is made once.";

interface Left extends Omit<Found, "isNative"> {
  readonly deltas: readonly Delta[];
  readonly isLoop: boolean;
}

const NOTHING_LEFT: Left = { deltas: [], calls: 0, shownTool: undefined, isLoop: false };

class Reading {
  readonly #prompt: Prompt;
  readonly #speaker: Speaker;
  /** Built once text arrives, so that the request does not wait for it. */
  #made: { readonly grammar: Grammar; readonly partial: Partial } | undefined;
  #text = "";
  #thought = "";
  #visibleText = "";
  #isNative = false;
  /** White space, held at the end of a text that cannot contain calls. */
  #space = "";
  /** The whole text is a thought without an end. */
  #isThought = false;
  /** Calls that are reported while they are written: index in the answer → name. */
  readonly #begun = new Map<number, string>();

  constructor(prompt: Prompt, speaker: Speaker) {
    this.#prompt = prompt;
    this.#speaker = speaker;
  }

  get #reader() {
    return this.#made ??= readerFor(this.#prompt, this.#speaker.model);
  }

  get isNative(): boolean {
    return this.#isNative;
  }

  get isOver(): boolean {
    return !this.#isNative && this.#made?.partial.isOver === true;
  }

  take(delta: Delta): readonly Delta[] {
    if (delta.type === "call_start" && !this.#isNative) {
      this.#isNative = true;
      return [...this.#dropAll(), delta];
    }
    if (delta.type === "thought") this.#thought += delta.text;
    if (delta.type === "thought_was_text") {
      this.#thought = "";
      this.#isThought = true;
    }
    if (delta.type === "text_was_thought") {
      const text = this.#text;
      this.#thought += text;
      this.#text = this.#visibleText = this.#space = "";
      this.#made = undefined;
      return [...this.#dropAll(), { ...delta, text }];
    }
    if (delta.type !== "text") return [delta];
    this.#text += delta.text;
    if (!this.#speaker.callsInText) return this.#pass(delta.text);
    const { partial } = this.#reader;
    const deltas = this.#show(partial.add(delta.text));
    return this.#isNative ? deltas : [...deltas, ...this.#write(delta.text)];
  }

  /** Reports a call while it is written. */
  #write(piece: string): readonly Delta[] {
    const { grammar, partial: { writing } } = this.#reader;
    if (writing === undefined) return [];
    const { index, text } = writing;
    if (this.#begun.has(index)) return [{ type: "call_draft", index, text: piece }];
    const name = grammar.tools.nameOf(draftName(text) ?? "");
    // A call that came in one piece begins at the end of the answer, and later ones after it.
    if (name === undefined || index > this.#begun.size) return [];
    this.#begun.set(index, name);
    return [{ type: "call_start", index, id: "", name }, { type: "call_draft", index, text }];
  }

  #dropAll(): readonly Delta[] {
    return this.#drop([...this.#begun.keys()]);
  }

  #drop(indexes: readonly number[]): readonly Delta[] {
    for (const index of indexes) this.#begun.delete(index);
    return indexes.map((index) => ({ type: "call_dropped", index }));
  }

  /** Returns the remaining deltas. @param isWhole false for a truncated answer, whose calls are dropped */
  end(isWhole: boolean): Left {
    const answer = this.#text.trim() === "" ? this.#thought : this.#text;
    if (answer.trim() === "") return NOTHING_LEFT;
    const { callsInText } = this.#speaker;
    if (this.#text.trim() === "" || !callsInText) {
      // Thoughts and answers with native calls cannot contain calls in text.
      const deltas = this.#text.trim() === "" ? [] : this.#show(this.#space);
      const shownTool = isWhole && !this.#isNative ? this.#shownIn(answer) : undefined;
      return { ...NOTHING_LEFT, deltas, shownTool };
    }
    const { calls, rest, written, isLoop } = extract(this.#text, this.#reader.grammar);
    if (!isWhole || this.#isNative || this.#isThought || calls.length === 0) {
      // A truncated answer does not show the call that it began.
      const visible = isWhole ? this.#text : rest;
      const left = [
        ...this.#show(visible.slice(this.#visibleText.length)),
        ...isWhole ? this.#dropAll() : [],
      ];
      return {
        ...NOTHING_LEFT,
        deltas: left,
        shownTool: isWhole && !this.#isNative ? this.#shownIn(answer) : undefined,
      };
    }
    const left = this.#show(rest.slice(this.#visibleText.length));
    const dropped = this.#drop(
      [...this.#begun].flatMap(([at, name]) => calls[at]?.name === name ? [] : [at]),
    );
    const made = calls.flatMap(({ name, arguments: text }, index): readonly Delta[] => [
      ...this.#begun.has(index) ? [] : [{ type: "call_start", index, id: "", name } as const],
      { type: "call_arguments", index, text },
    ]);
    const own: Delta = { type: "written", text: written.trimEnd() };
    return {
      deltas: [...left, ...dropped, ...made, own],
      calls: calls.length,
      shownTool: undefined,
      isLoop,
    };
  }

  #shownIn(text: string): string | undefined {
    const { names } = this.#reader.grammar.tools;
    return names.some((name) => text.includes(name))
      ? shownTool(text, this.#reader.grammar, this.#speaker.callsInText)
      : undefined;
  }

  /** White space at the end is held until text follows it. */
  #pass(piece: string): readonly Delta[] {
    const body = piece.trimEnd();
    const text = body === "" ? "" : this.#space + body;
    this.#space = (body === "" ? this.#space : "") + piece.slice(body.length);
    return text === "" ? [] : [{ type: "text", text }];
  }

  #show(text: string): readonly Delta[] {
    this.#visibleText += text;
    return text === "" ? [] : [{ type: "text", text }];
  }
}

function readerFor({ tools, messages }: Prompt, model: string) {
  // Otherwise a call that the model repeats from a file would run.
  const sources = messages.flatMap((message) => message.role === "assistant" ? [] : [message.text]);
  const grammar = new Grammar(tools, sources, model);
  return { grammar, partial: new Partial(grammar) };
}
