/** What a model is sent and answers; from this each wire makes its own JSON. */
import { z } from "../../deps/zod.ts";
import type { Effort } from "../../protocol/config.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

export const ToolCall = z.object({
  /** Unique in the session's log; made by us where the provider gives none, or one that was there. */
  id: z.string(),
  name: z.string(),
  /** The arguments' JSON text as the model wrote it; may be broken. */
  arguments: z.string(),
  /** What the provider wants back with the call, unchanged (Gemini: the signature of its thought). */
  extra: z.custom<Readonly<Record<string, unknown>>>(isRecord).exactOptional(),
});
export type ToolCall = ReadonlyDeep<z.infer<typeof ToolCall>>;

/** Not z.record(): "__proto__" is a key like any. */
function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How long a provider wants a plain thought back: until the next message of the user's, or for ever. */
export const KeptFor = z.enum(["turn", "session"]);
export type KeptFor = z.infer<typeof KeptFor>;

/** So many characters and calls of an answer came before. */
const AnswerPosition = z.object({ text: z.int(), calls: z.int() });

/**
 * What a provider wants back unchanged with an answer: reasoning (Anthropic: with its signature; OpenAI: encrypted), and
 * what a text was (OpenAI: "commentary", "final_answer"). `text`, `calls`: so many characters and calls of the answer
 * were before it.
 */
export const Reasoning = z.discriminatedUnion("type", [
  /** `at`: undefined at the beginning. */
  z.object({
    type: z.literal("signed"),
    text: z.string(),
    signature: z.string(),
    at: AnswerPosition.exactOptional(),
  }),
  z.object({ type: z.literal("redacted"), data: z.string(), at: AnswerPosition.exactOptional() }),
  z.object({ type: z.literal("plain"), text: z.string(), for: KeptFor }),
  /** OpenRouter's, piece by piece; of some providers behind it they are signed or encrypted. */
  z.object({
    type: z.literal("details"),
    details: z.array(z.custom<Readonly<Record<string, unknown>>>(isRecord)),
  }),
  z.object({
    type: z.literal("encrypted"),
    summary: z.array(z.string()),
    data: z.string(),
    text: z.int(),
    calls: z.int(),
  }),
  z.object({ type: z.literal("phase"), phase: z.string(), text: z.int() }),
]);
export type Reasoning = ReadonlyDeep<z.infer<typeof Reasoning>>;

/** Who wrote an answer. */
export const Author = z.object({
  wire: z.string(),
  /** As the user calls it. */
  provider: z.string(),
  model: z.string(),
});
export type Author = ReadonlyDeep<z.infer<typeof Author>>;

interface UserMessage {
  readonly role: "user";
  readonly text: string;
  /** Undefined if there are none. */
  readonly images?: readonly Image[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reasoning: readonly Reasoning[];
  /** All of it as the model wrote it, if its calls stood in its text. */
  readonly written?: string;
  /** It ends with the model's word that it is done, which is not in the text. */
  readonly complete?: true;
  /** Undefined if it is not known, or nobody's. */
  readonly by?: Author;
}

const ImageType = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]);
export type ImageType = z.infer<typeof ImageType>;

/** An image that a tool has read or the user has handed over, for models that see. */
export const Image = z.object({
  /** The file's path as the model knows it, or what it is called. */
  name: z.string(),
  type: ImageType,
  /** The file's bytes in base64. */
  data: z.string(),
});
export type Image = ReadonlyDeep<z.infer<typeof Image>>;

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

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A tool as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Lark grammar of the text that its one argument is, for wires that take calls without JSON. */
  readonly grammar?: string;
}

/** What one request sends, whatever the model. Only context/ makes one: the private field keeps look-alikes out. */
export class Prompt {
  declare private readonly made: never;

  /**
   * @param textOnly the answer is to be text; some models call tools all the same
   * @param effort how much is to be thought; undefined leaves it to the provider
   */
  constructor(
    readonly system: string,
    readonly messages: readonly Message[],
    readonly tools: readonly ToolSpec[],
    readonly textOnly = false,
    readonly effort?: Effort,
  ) {}
}

/**
 * What a provider may refuse, and is then asked without: to send its summary of what it has thought, its encrypted form,
 * earlier ones, and a word of how much it is to think.
 */
export type Refusable =
  | "reasoning_summary"
  | "encrypted_reasoning"
  | "earlier_reasoning"
  | "effort"
  | "custom_tools"
  | "stream_options"
  | "max_tokens";

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
  /** What the provider has refused. */
  readonly without?: readonly Refusable[];
  /** Undefined leaves it to the provider. */
  readonly effort?: Effort | undefined;
  /**
   * What the server's switch of reasoning takes, by its own word: true, false and names of levels; undefined: it says
   * nothing of it. Empty: it refuses to be told anything about reasoning.
   */
  readonly thinking?: readonly (boolean | string)[] | undefined;
}

/** Who has begun what a request is for: a person with a message, or the agent itself. */
export type Initiator = "user" | "agent";

/** Tokens of one request. `input` counts everything sent, cached or not. */
export const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cachedRead: z.number(),
  cachedWrite: z.number(),
});
export type Usage = ReadonlyDeep<z.infer<typeof Usage>>;

/**
 * Why an answer has ended. "length": at the limit of its tokens; "window_full": of the session's; "paused": the
 * provider wants to be asked once more; "malformed": it could not read the call that the model has written.
 */
export type FinishReason =
  | "stop"
  | "tool_calls"
  | "length"
  | "window_full"
  | "refused"
  | "paused"
  | "malformed";
