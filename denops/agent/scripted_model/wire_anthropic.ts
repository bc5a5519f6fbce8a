/** Anthropic's messages as named server-sent events. */
import type { Content } from "./plan.ts";
import { type Answer, type ScriptedStop, type ScriptedUsage, wordOf } from "./answer.ts";
import type { Encoder, Reply } from "./encoder.ts";

const stopReasons = {
  end_turn: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/** The open block of text or thoughts; `text` is its content so far. */
interface Open {
  readonly kind: "text" | "thought";
  readonly index: number;
  text: string;
}

interface CallBlock {
  readonly index: number;
  readonly arguments: string;
}

export class AnthropicEncoder implements Encoder {
  readonly #answer: Answer;
  readonly #reply: Reply;
  readonly #calls = new Map<number, CallBlock>();
  #blocks = 0;
  #open: Open | undefined;

  constructor(answer: Answer, reply: Reply) {
    this.#answer = answer;
    this.#reply = reply;
  }

  begin(): string[] {
    return [event("message_start", { message: message(this.#answer, this.#reply) })];
  }

  #start(block: unknown): string[] {
    const frames = [event("content_block_start", { index: this.#blocks++, content_block: block })];
    return [...frames, `event: ping\ndata: {"type": "ping"}\n\n`];
  }

  #close(): string[] {
    if (this.#open === undefined) return [];
    const { kind, index, text } = this.#open;
    this.#open = undefined;
    const signature = kind === "thought"
      ? [delta(index, { type: "signature_delta", signature: signatureOf(text) })]
      : [];
    return [...signature, event("content_block_stop", { index })];
  }

  #write(kind: Open["kind"], text: string): string[] {
    const frames: string[] = [];
    if (this.#open?.kind !== kind) {
      frames.push(...this.#close());
      this.#open = { kind, index: this.#blocks, text: "" };
      frames.push(
        ...this.#start(
          kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" },
        ),
      );
    }
    this.#open.text += text;
    const body = kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    return [...frames, delta(this.#open.index, body)];
  }

  content(piece: Content): string[] {
    if (piece.kind === "text" || piece.kind === "thought") return this.#write(piece.kind, piece.text);
    if (piece.kind === "call_start") {
      const frames = this.#close();
      this.#calls.set(piece.index, { index: this.#blocks, arguments: piece.arguments });
      frames.push(...this.#start({ type: "tool_use", id: piece.id, name: piece.name, input: {} }));
      return [...frames, argumentsDelta(this.#blocks - 1, "")];
    }
    const call = this.#calls.get(piece.index);
    if (call === undefined) return [];
    if (piece.kind === "call_end") return [event("content_block_stop", { index: call.index })];
    // A call without arguments streams one empty piece and never `{}`.
    return call.arguments === "{}" ? [] : [argumentsDelta(call.index, piece.text)];
  }

  error(type: string | undefined, text: string): string[] {
    return [event("error", { error: { type: type ?? "api_error", message: text } })];
  }

  end(stop: ScriptedStop, usage: ScriptedUsage): string[] {
    return [
      ...this.#close(),
      event("message_delta", {
        delta: { stop_reason: wordOf(stop, stopReasons), stop_sequence: null },
        usage: { ...inputTokens(usage), output_tokens: usage.output },
      }),
      event("message_stop", {}),
    ];
  }
}

/** The signature of a thinking block, with which tests detect a changed block. */
export function signatureOf(thinking: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(thinking)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return btoa(`scripted signature ${hash.toString(16).padStart(8, "0")}`);
}

function message(answer: Answer, reply: Reply): unknown {
  const usage = answer.usage ?? { input: reply.promptTokens, output: 0, cached: 0 };
  return {
    id: `msg_${reply.request}`,
    type: "message",
    role: "assistant",
    model: reply.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...inputTokens(usage), output_tokens: 1, service_tier: "standard" },
  };
}

/** `input_tokens` excludes tokens that were read from or written to the cache. */
function inputTokens({ input, cached }: ScriptedUsage) {
  return { input_tokens: input - cached, cache_creation_input_tokens: 0, cache_read_input_tokens: cached };
}

function delta(index: number, body: unknown): string {
  return event("content_block_delta", { index, delta: body });
}

function argumentsDelta(index: number, text: string): string {
  return delta(index, { type: "input_json_delta", partial_json: text });
}

function event(type: string, fields: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
