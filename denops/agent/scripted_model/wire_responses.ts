/**
 * OpenAI's responses as named server-sent events. OpenRouter and vLLM send the end mark; OpenAI's stream ends
 * with the event before it.
 */
import type { Content } from "./plan.ts";
import { type ScriptedStop, type ScriptedUsage, wordOf } from "./answer.ts";
import { signatureOf } from "./wire_anthropic.ts";
import type { Encoder, Reply } from "./encoder.ts";

/** Undefined for a complete answer. */
const incompleteReasons = {
  end_turn: "",
  length: "max_output_tokens",
  tool_calls: "",
  content_filter: "content_filter",
};

interface Open {
  readonly kind: "text" | "thought";
  readonly index: number;
  text: string;
}

interface CallItem {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  arguments: string;
}

export class ResponsesEncoder implements Encoder {
  readonly #reply: Reply;
  readonly #output: unknown[] = [];
  readonly #calls = new Map<number, CallItem>();
  #items = 0;
  #sequence = 0;
  #open: Open | undefined;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  begin(): string[] {
    return ["response.created", "response.in_progress"].map((type) =>
      this.#event(type, { response: this.#response("in_progress") })
    );
  }

  #event(type: string, fields: Readonly<Record<string, unknown>>): string {
    return `event: ${type}\ndata: ${
      JSON.stringify({ type, ...fields, sequence_number: this.#sequence++ })
    }\n\n`;
  }

  #response(status: string, more: Readonly<Record<string, unknown>> = {}): unknown {
    return {
      id: `resp_${this.#reply.request}`,
      object: "response",
      created_at: this.#reply.created,
      status,
      error: null,
      incomplete_details: null,
      model: this.#reply.model,
      output: this.#output,
      store: false,
      usage: null,
      ...more,
    };
  }

  #itemOf({ kind, index, text }: Open, status: string): Readonly<Record<string, unknown>> {
    const isDone = status === "completed";
    if (kind === "text") {
      const content = isDone ? [{ type: "output_text", text, annotations: [], logprobs: [] }] : [];
      return {
        id: `msg_${this.#reply.request}_${index}`,
        type: "message",
        status,
        role: "assistant",
        content,
      };
    }
    return {
      id: `rs_${this.#reply.request}_${index}`,
      type: "reasoning",
      summary: isDone ? [{ type: "summary_text", text }] : [],
      ...(this.#reply.encrypted ? { encrypted_content: isDone ? signatureOf(text) : "half" } : {}),
    };
  }

  #place(of: Open): Readonly<Record<string, unknown>> {
    const at = of.kind === "text" ? { content_index: 0 } : { summary_index: 0 };
    return { item_id: this.#itemOf(of, "").id, output_index: of.index, ...at };
  }

  #start(kind: Open["kind"]): string[] {
    this.#open = { kind, index: this.#items++, text: "" };
    const added = this.#event("response.output_item.added", {
      output_index: this.#open.index,
      item: this.#itemOf(this.#open, "in_progress"),
    });
    const part = kind === "text"
      ? this.#event("response.content_part.added", {
        ...this.#place(this.#open),
        part: { type: "output_text", text: "", annotations: [] },
      })
      : this.#event("response.reasoning_summary_part.added", {
        ...this.#place(this.#open),
        part: { type: "summary_text", text: "" },
      });
    return [added, part];
  }

  #close(): string[] {
    if (this.#open === undefined) return [];
    const done = this.#open;
    this.#open = undefined;
    const item = this.#itemOf(done, "completed");
    this.#output.push(item);
    const type = done.kind === "text" ? "response.output_text.done" : "response.reasoning_summary_text.done";
    return [
      this.#event(type, { ...this.#place(done), text: done.text }),
      this.#event("response.output_item.done", { output_index: done.index, item }),
    ];
  }

  #write(kind: Open["kind"], text: string): string[] {
    const frames = this.#open?.kind === kind ? [] : [...this.#close(), ...this.#start(kind)];
    if (this.#open === undefined) return frames;
    this.#open.text += text;
    const type = kind === "text" ? "response.output_text.delta" : "response.reasoning_summary_text.delta";
    return [...frames, this.#event(type, { ...this.#place(this.#open), delta: text })];
  }

  #isCustom({ name }: CallItem): boolean {
    return this.#reply.custom?.includes(name) === true;
  }

  #callOf(call: CallItem, status: string): Readonly<Record<string, unknown>> {
    const { index, id, name, arguments: text } = call;
    if (this.#isCustom(call)) {
      const input = status === "completed" ? inputIn(text) : "";
      return {
        id: `ctc_${this.#reply.request}_${index}`,
        type: "custom_tool_call",
        status,
        input,
        call_id: id,
        name,
      };
    }
    return {
      id: `fc_${this.#reply.request}_${index}`,
      type: "function_call",
      status,
      arguments: status === "completed" ? text : "",
      call_id: id,
      name,
    };
  }

  /** Sends the text in two pieces. */
  #customCall({ index }: CallItem, item: Readonly<Record<string, unknown>>): string[] {
    const input = String(item.input);
    const half = Math.floor(input.length / 2);
    const at = { item_id: item.id, output_index: index };
    return [
      this.#event("response.custom_tool_call_input.delta", { ...at, delta: input.slice(0, half) }),
      this.#event("response.custom_tool_call_input.delta", { ...at, delta: input.slice(half) }),
      this.#event("response.custom_tool_call_input.done", { ...at, input }),
      this.#event("response.output_item.done", { output_index: index, item }),
    ];
  }

  content(piece: Content): string[] {
    if (piece.kind === "text" || piece.kind === "thought") return this.#write(piece.kind, piece.text);
    if (piece.kind === "call_start") {
      const frames = this.#close();
      const call: CallItem = { index: this.#items++, id: piece.id, name: piece.name, arguments: "" };
      this.#calls.set(piece.index, call);
      const item = this.#callOf(call, "in_progress");
      return [...frames, this.#event("response.output_item.added", { output_index: call.index, item })];
    }
    const call = this.#calls.get(piece.index);
    if (call === undefined) return [];
    const at = { item_id: `fc_${this.#reply.request}_${call.index}`, output_index: call.index };
    if (piece.kind === "call_piece") {
      call.arguments += piece.text;
      if (this.#isCustom(call)) return [];
      return [this.#event("response.function_call_arguments.delta", { ...at, delta: piece.text })];
    }
    const item = this.#callOf(call, "completed");
    this.#output.push(item);
    if (this.#isCustom(call)) return this.#customCall(call, item);
    return [
      this.#event("response.function_call_arguments.done", {
        ...at,
        arguments: call.arguments,
        name: call.name,
      }),
      this.#event("response.output_item.done", { output_index: call.index, item }),
    ];
  }

  error(type: string | undefined, message: string): string[] {
    const error = { type: type ?? "server_error", code: type ?? "server_error", message, param: null };
    return [this.#event("error", { error })];
  }

  end(stop: ScriptedStop, usage: ScriptedUsage): string[] {
    const frames = this.#close();
    const reason = wordOf(stop, incompleteReasons);
    const more = { usage: tokens(usage) };
    const last = reason === ""
      ? this.#event("response.completed", { response: this.#response("completed", more) })
      : this.#event("response.incomplete", {
        response: this.#response("incomplete", { incomplete_details: { reason }, ...more }),
      });
    return [...frames, last, "data: [DONE]\n\n"];
  }
}

/** If it is not JSON, it is the text itself. */
function inputIn(text: string): string {
  try {
    return String(JSON.parse(text).input);
  } catch {
    return text;
  }
}

function tokens({ input, output, cached }: ScriptedUsage): unknown {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
