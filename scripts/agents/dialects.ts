/** Reads requests of agents to models: what was said so far, in the dialects of four providers. */
import { z } from "../../denops/agent/deps/zod.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

export type Dialect = Exclude<ScriptedWire, "ollama"> | "gemini";

/** A message of a conversation, without what only its dialect has. */
export interface Said {
  readonly who: "user" | "model" | "other";
  readonly text: string;
}

const Content = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish();
const Message = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: Content,
  parts: Content,
});

export const ModelBody = z.looseObject({
  model: z.string().optional(),
  stream: z.boolean().optional(),
  tools: z.array(z.looseObject({ functionDeclarations: z.array(z.unknown()).optional() })).optional(),
  /** OpenAI's chat, and Anthropic. */
  messages: z.array(Message).optional(),
  /** OpenAI's responses. */
  input: z.union([z.string(), z.array(Message)]).optional(),
  /** Gemini. */
  contents: z.array(Message).optional(),
});
export type ModelBody = z.infer<typeof ModelBody>;

/** Undefined for another request. @param path without the query */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith("/chat/completions")) return "openai_chat";
  if (path.endsWith("/responses")) return "openai_responses";
  if (path.endsWith("/messages")) return "anthropic_messages";
  return /enerateContent$/.test(path) ? "gemini" : undefined;
}

export function conversation({ messages, input, contents }: ModelBody): readonly Said[] {
  if (typeof input === "string") return [{ who: "user", text: input }];
  return (messages ?? input ?? contents ?? []).map((message): Said => {
    const { type = "", role = "", content, parts } = message;
    const isModel = role === "assistant" || role === "model" ||
      /^(?:function_call|custom_tool_call|reasoning|local_shell_call)$/.test(type);
    const isUser = role === "user" &&
      !/"type":"tool_result"|"functionResponse":/.test(JSON.stringify(message));
    return { who: isModel ? "model" : isUser ? "user" : "other", text: textOf(content ?? parts) };
  });
}

function textOf(content: z.infer<typeof Content>): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
}

/** The number of tools that the model may call. */
export function toolCount({ tools = [] }: ModelBody): number {
  return tools.reduce((sum, { functionDeclarations }) => sum + (functionDeclarations?.length ?? 1), 0);
}
