/**
 * OpenAI's responses as named server-sent events. The mark at the end is OpenRouter's and vLLM's; OpenAI itself ends with
 * the event before it.
 */
import type { Content } from "./plan.ts";
import { type Answer, type ScriptedUsage, wordOf } from "./answer.ts";
import { signatureOf } from "./wire_anthropic.ts";
import type { Encoder, Reply } from "./encoder.ts";

/** Of an answer that is not incomplete: undefined. */
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

export function responsesEncoder(_answer: Answer, reply: Reply): Encoder {
  const output: unknown[] = [];
  const calls = new Map<number, CallItem>();
  let items = 0;
  let sequence = 0;
  let open: Open | undefined;

  function event(type: string, fields: Readonly<Record<string, unknown>>): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: sequence++ })}\n\n`;
  }

  function response(status: string, more: Readonly<Record<string, unknown>> = {}): unknown {
    return {
      id: `resp_${reply.request}`,
      object: "response",
      created_at: reply.created,
      status,
      error: null,
      incomplete_details: null,
      model: reply.model,
      output,
      store: false,
      usage: null,
      ...more,
    };
  }

  function itemOf({ kind, index, text }: Open, status: string): Readonly<Record<string, unknown>> {
    const isDone = status === "completed";
    if (kind === "text") {
      const content = isDone ? [{ type: "output_text", text, annotations: [], logprobs: [] }] : [];
      return { id: `msg_${reply.request}_${index}`, type: "message", status, role: "assistant", content };
    }
    return {
      id: `rs_${reply.request}_${index}`,
      type: "reasoning",
      summary: isDone ? [{ type: "summary_text", text }] : [],
      ...(reply.encrypted ? { encrypted_content: isDone ? signatureOf(text) : "half" } : {}),
    };
  }

  function place(of: Open): Readonly<Record<string, unknown>> {
    const at = of.kind === "text" ? { content_index: 0 } : { summary_index: 0 };
    return { item_id: itemOf(of, "").id, output_index: of.index, ...at };
  }

  function start(kind: Open["kind"]): string[] {
    open = { kind, index: items++, text: "" };
    const added = event("response.output_item.added", {
      output_index: open.index,
      item: itemOf(open, "in_progress"),
    });
    const part = kind === "text"
      ? event("response.content_part.added", {
        ...place(open),
        part: { type: "output_text", text: "", annotations: [] },
      })
      : event("response.reasoning_summary_part.added", {
        ...place(open),
        part: { type: "summary_text", text: "" },
      });
    return [added, part];
  }

  function close(): string[] {
    if (open === undefined) return [];
    const done = open;
    open = undefined;
    const item = itemOf(done, "completed");
    output.push(item);
    const type = done.kind === "text" ? "response.output_text.done" : "response.reasoning_summary_text.done";
    return [
      event(type, { ...place(done), text: done.text }),
      event("response.output_item.done", { output_index: done.index, item }),
    ];
  }

  function write(kind: Open["kind"], text: string): string[] {
    const frames = open?.kind === kind ? [] : [...close(), ...start(kind)];
    if (open === undefined) return frames;
    open.text += text;
    const type = kind === "text" ? "response.output_text.delta" : "response.reasoning_summary_text.delta";
    return [...frames, event(type, { ...place(open), delta: text })];
  }

  function isCustom({ name }: CallItem): boolean {
    return reply.custom?.includes(name) === true;
  }

  function callOf(call: CallItem, status: string): Readonly<Record<string, unknown>> {
    const { index, id, name, arguments: text } = call;
    if (isCustom(call)) {
      const input = status === "completed" ? inputIn(text) : "";
      return {
        id: `ctc_${reply.request}_${index}`,
        type: "custom_tool_call",
        status,
        input,
        call_id: id,
        name,
      };
    }
    return {
      id: `fc_${reply.request}_${index}`,
      type: "function_call",
      status,
      arguments: status === "completed" ? text : "",
      call_id: id,
      name,
    };
  }

  /** Its text in two pieces. */
  function customCall({ index }: CallItem, item: Readonly<Record<string, unknown>>): string[] {
    const input = String(item.input);
    const half = Math.floor(input.length / 2);
    const at = { item_id: item.id, output_index: index };
    return [
      event("response.custom_tool_call_input.delta", { ...at, delta: input.slice(0, half) }),
      event("response.custom_tool_call_input.delta", { ...at, delta: input.slice(half) }),
      event("response.custom_tool_call_input.done", { ...at, input }),
      event("response.output_item.done", { output_index: index, item }),
    ];
  }

  function content(piece: Content): string[] {
    if (piece.kind === "text" || piece.kind === "thought") return write(piece.kind, piece.text);
    if (piece.kind === "call_start") {
      const frames = close();
      const call: CallItem = { index: items++, id: piece.id, name: piece.name, arguments: "" };
      calls.set(piece.index, call);
      const item = callOf(call, "in_progress");
      return [...frames, event("response.output_item.added", { output_index: call.index, item })];
    }
    const call = calls.get(piece.index);
    if (call === undefined) return [];
    const at = { item_id: `fc_${reply.request}_${call.index}`, output_index: call.index };
    if (piece.kind === "call_piece") {
      call.arguments += piece.text;
      if (isCustom(call)) return [];
      return [event("response.function_call_arguments.delta", { ...at, delta: piece.text })];
    }
    const item = callOf(call, "completed");
    output.push(item);
    if (isCustom(call)) return customCall(call, item);
    return [
      event("response.function_call_arguments.done", { ...at, arguments: call.arguments, name: call.name }),
      event("response.output_item.done", { output_index: call.index, item }),
    ];
  }

  return {
    begin: () => [
      event("response.created", { response: response("in_progress") }),
      event("response.in_progress", { response: response("in_progress") }),
    ],
    content,
    error: (type, message) => {
      const error = { type: type ?? "server_error", code: type ?? "server_error", message, param: null };
      return [event("error", { error })];
    },
    end: (stop, usage) => {
      const frames = close();
      const reason = wordOf(stop, incompleteReasons);
      const last = reason === ""
        ? event("response.completed", { response: response("completed", { usage: tokens(usage) }) })
        : event("response.incomplete", {
          response: response("incomplete", { incomplete_details: { reason }, usage: tokens(usage) }),
        });
      return [...frames, last, "data: [DONE]\n\n"];
    },
  };
}

/** What is no JSON is the text itself. */
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
