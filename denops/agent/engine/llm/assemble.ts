/** Deltas of one answer → the finished message. */
import type { AssistantMessage, FinishReason, Reasoning, ToolCall, Usage } from "../core/messages.ts";
import type { Delta } from "./wire/wire.ts";

interface PartialCall {
  readonly id: string;
  readonly name: string;
  readonly pieces: string[];
  extra: Readonly<Record<string, unknown>> | undefined;
}

export class Assembly {
  #text = "";
  #thought = "";
  readonly #reasoning: Reasoning[] = [];
  readonly #calls = new Map<number, PartialCall>();
  #written: string | undefined;
  #isComplete = false;
  #usage: Usage | undefined;
  #finish: FinishReason | undefined;
  #why: string | undefined;

  add(delta: Delta): void {
    switch (delta.type) {
      case "text":
        this.#text += delta.text;
        break;
      case "thought":
        this.#thought += delta.text;
        break;
      case "signature":
        this.#reasoning.push({ type: "signed", text: this.#thought, signature: delta.signature });
        this.#thought = "";
        break;
      case "redacted":
        this.#reasoning.push({ type: "redacted", data: delta.data });
        break;
      case "encrypted":
      case "phase":
        this.#reasoning.push(delta);
        break;
      case "call_draft":
        break;
      case "call_dropped":
        this.#calls.delete(delta.index);
        break;
      case "written":
        this.#written = delta.text;
        break;
      case "complete":
        this.#isComplete = true;
        break;
      case "call_start":
        this.#calls.set(delta.index, { id: delta.id, name: delta.name, pieces: [], extra: undefined });
        break;
      case "call_arguments":
        this.#calls.get(delta.index)?.pieces.push(delta.text);
        break;
      case "call_extra": {
        const call = this.#calls.get(delta.index);
        if (call !== undefined) call.extra = { ...call.extra, ...delta.extra };
        break;
      }
      case "usage": {
        const none: Usage = { input: 0, output: 0, cachedRead: 0, cachedWrite: 0 };
        this.#usage = { ...none, ...this.#usage, ...delta.usage };
        break;
      }
      case "finish":
        this.#finish = delta.reason;
        this.#why = delta.why;
        break;
      case "error":
      case "done":
        break;
    }
  }

  get text(): string {
    return this.#text;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Undefined as long as the provider has not said why it stopped. */
  get finish(): FinishReason | undefined {
    return this.#finish;
  }

  /** What the provider says about that. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Characters of all that the model has written. */
  get size(): number {
    const reasoning = this.#reasoning.map((one) => one.type === "signed" ? one.text : "").join("");
    const calls = this.calls.reduce((sum, { name, arguments: args }) => sum + name.length + args.length, 0);
    return this.#text.length + this.#thought.length + reasoning.length + calls;
  }

  /** The calls by index, whatever the order in which their pieces came. */
  get calls(): readonly ToolCall[] {
    return [...this.#calls.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, { id, name, pieces, extra }]) => ({
        id,
        name,
        arguments: pieces.join(""),
        ...(extra === undefined ? {} : { extra }),
      }));
  }

  /** The message; `withCalls: false` for an answer that was cut off, whose last call may be incomplete. */
  message(options: { readonly withCalls: boolean }): AssistantMessage {
    const calls = options.withCalls ? this.calls : [];
    const written = calls.length === 0 || this.#written === undefined ? {} : { written: this.#written };
    const complete = calls.length > 0 || !this.#isComplete ? {} : { complete: true } as const;
    return {
      role: "assistant",
      text: this.#text,
      calls,
      reasoning: this.#reasoning,
      ...written,
      ...complete,
    };
  }
}
