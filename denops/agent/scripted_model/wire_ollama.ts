/** Ollama's chat as one JSON object per line; tool calls are always complete. */
import type { Content } from "./plan.ts";
import { type Answer, type ScriptedUsage, wordOf } from "./answer.ts";
import type { Encoder, Reply } from "./encoder.ts";

/** Ollama has no reason for refusals, and its calls end with `stop`. */
const doneReasons = {
  end_turn: "stop",
  length: "length",
  tool_calls: "stop",
  content_filter: "stop",
};

export function ollamaEncoder(_answer: Answer, reply: Reply): Encoder {
  const calls = new Map<number, Extract<Content, { kind: "call_start" }>>();

  function line(message: Readonly<Record<string, unknown>>, rest: Readonly<Record<string, unknown>>): string {
    const created_at = new Date(reply.created * 1000).toISOString();
    return frame({ model: reply.model, created_at, message: { role: "assistant", ...message }, ...rest });
  }

  function content(delta: Content): string[] {
    switch (delta.kind) {
      case "text":
        return [line({ content: delta.text }, { done: false })];
      case "thought":
        return [line({ content: "", thinking: delta.text }, { done: false })];
      case "call_start":
        calls.set(delta.index, delta);
        return [];
      case "call_piece":
        return [];
      case "call_end": {
        const call = calls.get(delta.index);
        if (call === undefined) return [];
        const called = { index: delta.index, name: call.name, arguments: parsed(call.arguments) };
        return [line({ content: "", tool_calls: [{ id: call.id, function: called }] }, { done: false })];
      }
    }
  }

  return {
    begin: () => [],
    content,
    error: (_type, message) => [frame({ error: message })],
    end: (stop, usage) => [
      line({ content: "" }, { done_reason: wordOf(stop, doneReasons), done: true, ...metrics(usage) }),
    ],
  };
}

function frame(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Broken arguments are sent as a string: no real Ollama does that, but a client has to handle it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Durations are nanoseconds; zeros are omitted, as with Go's omitempty. */
function metrics({ input, output }: ScriptedUsage): Readonly<Record<string, number>> {
  return {
    total_duration: 4883583458,
    load_duration: 1334875,
    ...(input > 0 ? { prompt_eval_count: input } : {}),
    prompt_eval_duration: 342546000,
    ...(output > 0 ? { eval_count: output } : {}),
    eval_duration: 4535599000,
  };
}
