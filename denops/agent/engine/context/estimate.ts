/** Estimates the tokens of a prompt from the provider's last count. */
import { Buffer } from "node:buffer";
import type { Message, Reasoning } from "../log/messages.ts";
import type { Prompt, ToolSpec } from "../log/model_request.ts";

/** UTF-8 bytes a token before the first count: code has 3 to 4, prose more. */
const BYTES_A_TOKEN = 3;
/** No tokenizer has more on average; a smaller count leaves out cached tokens. */
const MOST_BYTES_A_TOKEN = 8;
/** Most tokens of an image. Source: platform.claude.com/docs, "Vision": larger ones are scaled down to this. */
const IMAGE_TOKENS = 1_600;
/** An image counts like text of as many tokens. */
export const IMAGE_BYTES = IMAGE_TOKENS * BYTES_A_TOKEN;
/** JSON around a message. */
const FRAME_BYTES = 40;

/** In bytes. */
export interface PromptSizes {
  readonly system: number;
  readonly tools: number;
  /** All messages, calls with their arguments included. */
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

/** Each answer calibrates it. */
export class Estimate {
  #tokensAByte = 1 / BYTES_A_TOKEN;
  /** Size of the last counted prompt. */
  #bytes = 0;

  /** A provider has counted a prompt. */
  get isCounted(): boolean {
    return this.#bytes > 0;
  }

  /** @param input tokens of the prompt by the provider's count */
  learn(bytes: number, input: number): void {
    if (bytes <= 0 || input < bytes / MOST_BYTES_A_TOKEN) return;
    this.#tokensAByte = input / bytes;
    this.#bytes = bytes;
  }

  /** The provider refused a prompt of this size. */
  refused(bytes: number, window: number): void {
    if (bytes > 0) this.learn(bytes, Math.max(window, this.tokens(bytes)));
  }

  /** New text may be denser than the counted text. */
  tokens(bytes: number): number {
    const added = Math.max(0, bytes - this.#bytes);
    return Math.ceil((bytes - added) * this.#tokensAByte + added * this.#densest);
  }

  /** Bytes that surely fit into this many tokens. */
  bytes(tokens: number): number {
    return Math.max(0, Math.floor(tokens / this.#densest));
  }

  get #densest(): number {
    return Math.max(this.#tokensAByte, 1 / BYTES_A_TOKEN);
  }
}
