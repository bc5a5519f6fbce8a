/**
 * OpenAI's chat completions as server-sent events; reasoning in the format of DeepSeek, xAI, vLLM and others.
 */
import type { Content } from "./plan.ts";
import { type Answer, type ScriptedUsage, wordOf } from "./answer.ts";
import type { Encoder, Reply } from "./encoder.ts";

const finishReasons = {
  end_turn: "stop",
  length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
};

export function openaiEncoder(answer: Answer, reply: Reply): Encoder {
  const hasText = answer.parts.some((part) =>
    part.kind === "say" || part.kind === "flood" || part.kind === "big"
  );

  function chunk(choices: readonly unknown[], usage: unknown): string {
    return frame({
      id: `chatcmpl-${reply.request}`,
      object: "chat.completion.chunk",
      created: reply.created,
      model: reply.model,
      service_tier: "default",
      system_fingerprint: "fp_scripted",
      choices,
      ...(reply.includeUsage ? { usage } : {}),
    });
  }

  function choice(delta: unknown, finish: string | null = null): string {
    return chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }], null);
  }

  return {
    begin: () => [choice({ role: "assistant", content: hasText ? "" : null, refusal: null })],
    content: (delta) => {
      const shaped = shape(delta);
      return shaped === undefined ? [] : [choice(shaped)];
    },
    error: (
      type,
      message,
    ) => [frame({ error: { message, type: type ?? "server_error", param: null, code: null } })],
    end: (stop, usage) => {
      const finish = choice({}, wordOf(stop, finishReasons));
      return [finish, ...(reply.includeUsage ? [chunk([], tokens(usage))] : []), "data: [DONE]\n\n"];
    },
  };
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The `delta` of a chunk; the end of a call has no mark here. */
function shape(delta: Content): unknown {
  switch (delta.kind) {
    case "text":
      return { content: delta.text };
    case "thought":
      return { content: null, reasoning_content: delta.text };
    case "call_start": {
      const { index, id, name } = delta;
      return { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] };
    }
    case "call_piece":
      return { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] };
    case "call_end":
      return undefined;
  }
}

function tokens({ input, output, cached }: ScriptedUsage): unknown {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
