/** How much of the model's window a prompt takes: as the provider has counted, and an estimate for what is new since. */
import { Buffer } from "node:buffer";
import type { Message, Prompt, Reasoning, ToolSpec } from "../log/messages.ts";

/** UTF-8 bytes a token where nothing was counted yet: code has 3 to 4, prose more. */
const BYTES_A_TOKEN = 3;
/** No tokenizer has more on average: a provider that counts less has left out what was in its cache. */
const MOST_BYTES_A_TOKEN = 8;
/**
 * Tokens of an image at most. Source: platform.claude.com/docs, "Vision": larger ones are made smaller until they
 * take so many.
 */
const IMAGE_TOKENS = 1_600;
/** An image counts as if its tokens were text. */
export const IMAGE_BYTES = IMAGE_TOKENS * BYTES_A_TOKEN;
/** Of the JSON around a message. */
const FRAME_BYTES = 40;

/** In bytes. */
export interface PromptSizes {
  readonly system: number;
  readonly tools: number;
  /** What was said, calls with their arguments included. */
  readonly messages: number;
  readonly results: number;
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

export function sizesOf({ system, tools, messages }: Prompt): PromptSizes {
  const sum = (isResult: boolean) =>
    messages.reduce((all, one) => (one.role === "tool") === isResult ? all + messageBytes(one) : all, 0);
  return { system: bytesOf(system), tools: toolBytes(tools), messages: sum(false), results: sum(true) };
}

export function allOf({ system, tools, messages, results }: PromptSizes): number {
  return system + tools + messages + results;
}

function messageBytes(message: Message): number {
  switch (message.role) {
    case "user":
      return FRAME_BYTES + bytesOf(message.text) + IMAGE_BYTES * (message.images?.length ?? 0);
    case "assistant":
      return FRAME_BYTES + bytesOf(message.text) +
        message.calls.reduce((sum, call) => sum + 2 * FRAME_BYTES + bytesOf(call.arguments), 0) +
        message.reasoning.reduce((sum, one) => sum + reasoningBytes(one), 0);
    case "tool":
      return 2 * FRAME_BYTES + bytesOf(message.text) +
        IMAGE_BYTES * (message.images?.length ?? 0);
  }
}

function reasoningBytes(reasoning: Reasoning): number {
  switch (reasoning.type) {
    case "signed":
    case "plain":
      return bytesOf(reasoning.text);
    case "redacted":
    case "encrypted":
      return bytesOf(reasoning.data);
    case "details":
      return bytesOf(JSON.stringify(reasoning.details));
    case "phase":
      return 0;
  }
}

const known = new WeakMap<readonly ToolSpec[], number>();

function toolBytes(tools: readonly ToolSpec[]): number {
  const bytes = known.get(tools) ?? bytesOf(JSON.stringify(tools));
  known.set(tools, bytes);
  return bytes;
}

/** Calibrated by each answer. */
export class Estimate {
  #tokensAByte = 1 / BYTES_A_TOKEN;
  /** Of the last prompt that was counted. */
  #bytes = 0;

  /** @param input tokens of the prompt, as the provider has counted them */
  learn(bytes: number, input: number): void {
    if (bytes <= 0 || input < bytes / MOST_BYTES_A_TOKEN) return;
    this.#tokensAByte = input / bytes;
    this.#bytes = bytes;
  }

  /** The provider takes no prompt of so many bytes. */
  refused(bytes: number, window: number): void {
    if (bytes > 0) this.learn(bytes, Math.max(window, this.tokens(bytes)));
  }

  /** What is new since the last count may be denser than what was counted. */
  tokens(bytes: number): number {
    const added = Math.max(0, bytes - this.#bytes);
    return Math.ceil((bytes - added) * this.#tokensAByte + added * this.#densest);
  }

  /** Bytes that surely fit into so many tokens. */
  bytes(tokens: number): number {
    return Math.max(0, Math.floor(tokens / this.#densest));
  }

  get #densest(): number {
    return Math.max(this.#tokensAByte, 1 / BYTES_A_TOKEN);
  }
}
