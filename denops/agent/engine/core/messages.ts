/** The messages as the model gets them; from these each wire makes its own JSON. */

export interface ToolCall {
  /** Unique in the session; made by us where the provider gives none. */
  readonly id: string;
  readonly name: string;
  /** The arguments' JSON text as the model wrote it; may be broken. */
  readonly arguments: string;
  /** What the provider wants back with the call, unchanged (Gemini: the signature of its thought). */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Reasoning that a provider wants back unchanged (Anthropic: with its signature). */
export type Reasoning =
  | { readonly type: "signed"; readonly text: string; readonly signature: string }
  | { readonly type: "redacted"; readonly data: string };

export interface UserMessage {
  readonly role: "user";
  readonly text: string;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reasoning: readonly Reasoning[];
}

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** An image that a tool has read, for models that see. */
export interface Image {
  /** The file's path as the model knows it. */
  readonly name: string;
  readonly type: ImageType;
  /** The file's bytes in base64. */
  readonly data: string;
}

export interface ToolMessage {
  readonly role: "tool";
  /** Id and name of the call that this answers. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** Undefined if there are none. */
  readonly images?: readonly Image[];
}

/** The end of an answer that was not given to its end. */
export const INTERRUPTED = "[The answer was interrupted here.]";

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A tool as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** The answer is to be text; the tools stay in the request, as its prefix is in the provider's cache. */
  readonly textOnly?: boolean;
  readonly temperature?: number;
  /** Output tokens at most; undefined leaves it to the provider where that is possible. */
  readonly maxOutputTokens?: number;
  /** Tokens that the session may take in all. */
  readonly contextWindow: number;
  /** Ask for reasoning where the wire has a switch for it. */
  readonly think: boolean;
}

/** Tokens of one request. `input` counts everything sent, cached or not. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cachedRead: number;
  readonly cachedWrite: number;
}

export type FinishReason = "stop" | "tool_calls" | "length" | "refused";
