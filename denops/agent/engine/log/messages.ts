/** Messages to and from a model, from which each wire builds its JSON. */
import * as z from "../../deps/zod.ts";
import type { ReadonlyDeep } from "../../shared/readonly.ts";

export const ToolCall = z.object({
  /** Unique in the session's log; generated if the provider's id is missing or taken. */
  id: z.string(),
  name: z.string(),
  /** The arguments as the model wrote them, which may be invalid JSON. */
  arguments: z.string(),
  /** Data that the provider wants back unchanged with the call (Gemini: the signature of its thought). */
  extra: z.custom<Readonly<Record<string, unknown>>>(isRecord).exactOptional(),
});
export type ToolCall = ReadonlyDeep<z.infer<typeof ToolCall>>;

/** Not z.record(), because "__proto__" is a valid key. */
function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How long a provider wants plain thoughts back: until the user's next message, or always. */
export const KeptFor = z.enum(["turn", "session"]);
export type KeptFor = z.infer<typeof KeptFor>;

/** A place in an answer: after this many characters and calls. */
const AnswerPosition = z.object({ text: z.int(), calls: z.int() });

/**
 * Data that a provider wants back unchanged with an answer: reasoning (Anthropic: signed; OpenAI: encrypted), and the
 * kind of a text (OpenAI: "commentary", "final_answer"). `text`, `calls`: the characters and calls before it.
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
  /** OpenRouter's details, in pieces; some providers sign or encrypt them. */
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

/** The author of an answer. */
export const Author = z.object({
  wire: z.string(),
  /** The user's name for it. */
  provider: z.string(),
  model: z.string(),
});
export type Author = ReadonlyDeep<z.infer<typeof Author>>;

interface UserMessage {
  readonly role: "user";
  readonly text: string;
  /** Undefined without images. */
  readonly images?: readonly Image[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reasoning: readonly Reasoning[];
  /** The model's complete text, if it contained calls. */
  readonly written?: string;
  /** The model declared that it is done; the mark is not in the text. */
  readonly complete?: true;
  /** Undefined if unknown. */
  readonly by?: Author;
}

const ImageType = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]);
export type ImageType = z.infer<typeof ImageType>;

/** An image from a tool or the user, for models that accept images. */
export const Image = z.object({
  /** The file's path as the model knows it, or a label. */
  name: z.string(),
  type: ImageType,
  /** The file's bytes in base64. */
  data: z.string(),
});
export type Image = ReadonlyDeep<z.infer<typeof Image>>;

export interface ToolMessage {
  readonly role: "tool";
  /** Id and name of the answered call. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** Undefined without images. */
  readonly images?: readonly Image[];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;
/** Tokens of one request. `input` counts everything, cached or not. */
export const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cachedRead: z.number(),
  cachedWrite: z.number(),
});
export type Usage = ReadonlyDeep<z.infer<typeof Usage>>;
