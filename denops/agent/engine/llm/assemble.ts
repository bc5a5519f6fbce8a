/** Assembles the deltas of one answer into a message. */
import type { AssistantMessage, KeptFor, Reasoning, ToolCall, Usage } from "../log/messages.ts";
import type { FinishReason } from "../log/model_request.ts";
import { WithoutEndMark } from "./end_mark.ts";
import type { Delta } from "./wire/wire.ts";

interface PartialCall {
  readonly id: string;
  readonly name: string;
  readonly pieces: string[];
  extra: Readonly<Record<string, unknown>> | undefined;
}

type CallDelta = Extract<Delta, { type: "call_start" | "call_arguments" | "call_extra" | "call_dropped" }>;
type ReasoningDelta = Extract<Delta, {
  type:
    | "thought"
    | "text_was_thought"
    | "thought_was_text"
    | "signature"
    | "redacted"
    | "details"
    | "encrypted"
    | "phase";
}>;

type Details = readonly Readonly<Record<string, unknown>>[];

export class Assembly {
  readonly #keeps: KeptFor | undefined;
  #text = "";
  #thought = "";
  readonly #reasoning: Reasoning[] = [];
  #details: Details = [];
  readonly #calls = new Map<number, PartialCall>();
  #written: string | undefined;
  #isComplete = false;
  #usage: Usage | undefined;
  #finish: FinishReason | undefined;
  #why: string | undefined;

  /** @param keeps how long the provider wants unsigned thoughts back; undefined: never */
  constructor(keeps?: KeptFor) {
    this.#keeps = keeps;
  }

  add(delta: Delta): void {
    switch (delta.type) {
      case "text":
        this.#text += delta.text;
        break;
      case "thought":
      case "text_was_thought":
      case "thought_was_text":
      case "signature":
      case "redacted":
      case "details":
      case "encrypted":
      case "phase":
        this.#addReasoning(delta);
        break;
      case "call_start":
      case "call_arguments":
      case "call_extra":
      case "call_dropped":
        this.#addCall(delta);
        break;
      case "written":
        this.#written = delta.text;
        break;
      case "complete":
        this.#isComplete = true;
        break;
      case "usage": {
        const none: Usage = { input: 0, output: 0, cachedRead: 0, cachedWrite: 0 };
        this.#usage = { ...none, ...this.#usage, ...delta.usage };
        break;
      }
      case "finish":
        this.#finish = delta.reason;
        this.#why = delta.why;
        break;
      case "call_draft":
      case "error":
      case "done":
        break;
    }
  }

  #addReasoning(delta: ReasoningDelta): void {
    switch (delta.type) {
      case "thought":
        this.#thought += delta.text;
        break;
      case "text_was_thought":
        this.#thought += delta.text ?? this.#text;
        this.#text = "";
        break;
      case "thought_was_text":
        this.#thought = "";
        break;
      case "signature": {
        const { signature } = delta;
        this.#reasoning.push({ type: "signed", text: this.#thought, signature, ...this.#position });
        this.#thought = "";
        break;
      }
      case "redacted":
        this.#reasoning.push({ type: "redacted", data: delta.data, ...this.#position });
        break;
      case "details":
        this.#details = delta.details.reduce(withDetail, this.#details);
        break;
      case "encrypted":
      case "phase":
        this.#reasoning.push(delta);
        break;
    }
  }

  #addCall(delta: CallDelta): void {
    const { index } = delta;
    if (delta.type === "call_dropped") return void this.#calls.delete(index);
    if (delta.type === "call_start") {
      return void this.#calls.set(index, { id: delta.id, name: delta.name, pieces: [], extra: undefined });
    }
    const call = this.#calls.get(index);
    if (call === undefined) return;
    if (delta.type === "call_arguments") call.pieces.push(delta.text);
    else call.extra = { ...call.extra, ...delta.extra };
  }

  /** The position in the answer; empty at its beginning. */
  get #position(): { readonly at?: { readonly text: number; readonly calls: number } } {
    const at = { text: this.#text.length, calls: this.#calls.size };
    return at.text + at.calls === 0 ? {} : { at };
  }

  get text(): string {
    return this.#text;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Undefined until the provider reports a finish reason. */
  get finish(): FinishReason | undefined {
    return this.#finish;
  }

  /** The provider's explanation of the finish reason. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Characters that the model has written. */
  get size(): number {
    const reasoning = this.#reasoning.map((one) => one.type === "signed" ? one.text : "").join("");
    const calls = this.calls.reduce((sum, { name, arguments: args }) => sum + name.length + args.length, 0);
    return this.#text.length + this.#thought.length + reasoning.length + calls;
  }

  /** The calls by index, regardless of the order of their pieces. */
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

  /** The message. `withCalls: false` is for a truncated answer, whose last call may be incomplete. */
  message(options: { readonly withCalls: boolean }): AssistantMessage {
    const calls = options.withCalls ? this.calls : [];
    const written = calls.length === 0 || this.#written === undefined ? {} : { written: this.#written };
    const complete = calls.length > 0 || !this.#isComplete ? {} : { complete: true } as const;
    const reasoning = [...this.#reasoning, ...this.#unsigned];
    return { role: "assistant", text: this.#text, calls, reasoning, ...written, ...complete };
  }

  get #unsigned(): readonly Reasoning[] {
    if (this.#details.length > 0) return [{ type: "details", details: [...this.#details] }];
    const mark = new WithoutEndMark();
    const text = `${mark.add(this.#thought)}${mark.end()}`.trim();
    return this.#keeps === undefined || text === "" ? [] : [{ type: "plain", text, for: this.#keeps }];
  }
}

/** Appends to the detail that the piece belongs to. Source: openrouter.ai/docs, "Reasoning Tokens". */
function withDetail(details: Details, next: Details[number]): Details {
  const last = details.at(-1);
  const isPiece = last !== undefined && last["type"] === next["type"] && last["index"] === next["index"] &&
    (next["type"] === "reasoning.text" || next["type"] === "reasoning.summary");
  if (!isPiece) return [...details, next];
  const joined = ["text", "summary"].flatMap((name) => {
    const [before, piece] = [last[name], next[name]];
    return typeof before === "string" && typeof piece === "string" ? [[name, before + piece]] : [];
  });
  const fields = Object.entries(next).filter(([, value]) => value !== null);
  return [...details.slice(0, -1), { ...last, ...Object.fromEntries(fields), ...Object.fromEntries(joined) }];
}
