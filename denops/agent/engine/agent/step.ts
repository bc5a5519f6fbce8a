/** One request to the model, told to the screen as it streams. */
import { oneLine } from "../llm/failures.ts";
import { Assembly } from "../llm/assemble.ts";
import type { Model, Prompt } from "../llm/model.ts";
import type { Delta } from "../llm/wire/wire.ts";
import type { TurnError } from "../core/errors.ts";
import type { Emit } from "../core/events.ts";
import type { AssistantMessage, FinishReason } from "../core/messages.ts";
import type { Tool } from "../tools/define.ts";

export type StepEnd =
  | { readonly type: "answered"; readonly message: AssistantMessage; readonly finish: FinishReason }
  /** Stopped or failed; `text` is what had come. */
  | { readonly type: "cancelled"; readonly text: string }
  | { readonly type: "failed"; readonly text: string; readonly error: TurnError };

export async function runStep(
  model: Model,
  prompt: Prompt,
  tools: readonly Tool[],
  knownIds: ReadonlySet<string>,
  emit: Emit,
  signal: AbortSignal,
): Promise<StepEnd> {
  const assembly = new Assembly();
  const withUniqueId = uniqueIds(knownIds);
  const screen = new Screen(crypto.randomUUID(), tools, emit);
  for await (const event of model.stream(prompt, signal)) {
    switch (event.type) {
      case "deltas": {
        const deltas = event.deltas.map(withUniqueId);
        for (const delta of deltas) assembly.add(delta);
        screen.show(deltas, assembly);
        break;
      }
      case "retry":
        emit(event);
        break;
      case "cancelled":
        screen.close();
        return { type: "cancelled", text: assembly.text };
      case "failed":
        screen.close();
        return { type: "failed", text: assembly.text, error: event.error };
      case "done": {
        screen.close();
        if (assembly.usage !== undefined) {
          emit({ type: "usage", usage: assembly.usage, window: model.contextWindow });
        }
        const finish = assembly.finish ?? (assembly.calls.length > 0 ? "tool_calls" : "stop");
        // The last call of an answer that hit the limit may be half a write; none of them is run.
        const message = assembly.message({ withCalls: finish !== "length" && finish !== "refused" });
        return { type: "answered", message, finish };
      }
    }
  }
  throw new Error("the model's stream ended without an end");
}

/**
 * Gives every call an id that no other call of the conversation has: some providers give none, and some number
 * the calls of each answer from one.
 */
function uniqueIds(knownIds: ReadonlySet<string>): (delta: Delta) => Delta {
  const taken = new Set(knownIds);
  return (delta) => {
    if (delta.type !== "call_start") return delta;
    const id = delta.id === "" || taken.has(delta.id) ? newCallId() : delta.id;
    taken.add(id);
    return { ...delta, id };
  };
}

/** Nine letters and digits: Mistral takes no other, and every provider takes these. */
function newCallId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 9);
}

/** Turns the deltas of one read into at most one update of each kind. */
class Screen {
  readonly #message: string;
  readonly #tools: readonly Tool[];
  readonly #emit: Emit;
  readonly #lines = new Map<string, number>();
  #thinkingSince: number | undefined;

  constructor(message: string, tools: readonly Tool[], emit: Emit) {
    this.#message = message;
    this.#tools = tools;
    this.#emit = emit;
  }

  show(deltas: readonly Delta[], assembly: Assembly): void {
    const thought = joined(deltas, "thought");
    const text = joined(deltas, "text");
    if (thought !== "") {
      this.#thinkingSince ??= performance.now();
      this.#emit({ type: "thought", message: this.#message, text: thought });
    }
    const calling = deltas.some((delta) => delta.type === "call_start" || delta.type === "call_arguments");
    if (text !== "" || calling) this.#endThought();
    if (text !== "") this.#emit({ type: "token", message: this.#message, text });
    if (calling) this.#showCalls(assembly);
  }

  close(): void {
    this.#endThought();
  }

  #endThought(): void {
    if (this.#thinkingSince === undefined) return;
    const milliseconds = Math.round(performance.now() - this.#thinkingSince);
    this.#thinkingSince = undefined;
    this.#emit({ type: "thought_done", message: this.#message, milliseconds });
  }

  #showCalls(assembly: Assembly): void {
    for (const call of assembly.calls) {
      // A newline inside a JSON string is always written as an escape.
      const lines = call.arguments.split("\\n").length;
      if (this.#lines.get(call.id) === lines) continue;
      this.#lines.set(call.id, lines);
      const tool = this.#tools.find(({ name }) => name === call.name);
      const title = tool?.title(partialArguments(call.arguments)) ?? oneLine(call.name);
      const counted = tool?.streamed === undefined ? 0 : lines;
      this.#emit({ type: "tool_writing", id: call.id, tool: call.name, title, lines: counted });
    }
  }
}

function joined(deltas: readonly Delta[], type: "text" | "thought"): string {
  return deltas.map((delta) => delta.type === type ? delta.text : "").join("");
}

/** The short string arguments that have come whole, from JSON that is still being written. */
function partialArguments(json: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, key, value] of json.slice(0, 2_000).matchAll(/"(\w+)"\s*:\s*"((?:[^"\\]|\\.){0,300})"/g)) {
    if (key !== undefined && value !== undefined) found[key] ??= value;
  }
  return found;
}
