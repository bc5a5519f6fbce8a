/** Knows which models accept images, and removes images from messages. Pure. */
import type { AssistantMessage, Message, ToolMessage } from "../log/messages.ts";

/**
 * Models that accept images, by name: OpenAI-compatible services have no common way to ask. From the
 * services' documentation. A name may have an owner before it and a version after it
 * ("qwen/qwen3-vl-8b:free").
 */
const SEEING: readonly RegExp[] = [
  /\b(?:chat)?gpt-4(?:o|\.1|\.5|-turbo)\b|\bgpt-5\b|\bo1(?!-mini|-preview)\b|\bo3(?!-mini)\b|\bo4-mini\b/,
  /\bclaude-(?!2|instant)|\bgemini-/,
  /\bgemma-?[34](?!.*(?:270m|[:-]1b))/,
  /\bmistral-(?:small|medium|large)-latest\b|pixtral/,
  /\bllama-?4|\bgrok-[45]|\bglm-\d(?:\.\d)?v\b|\bkimi-k2\.5\b/,
  /llava|moondream|minicpm-v|internvl/,
  // qwen2.5-vl, qwen3vl, kimi-vl, deepseek-vl2; llama3.2-vision, grok-2-vision; phi-4-multimodal
  /(?:^|[^a-z])vl\d*(?:[^a-z0-9]|$)|(?:^|[^a-z])vision|multimodal/,
];

/** Models of the same families for other purposes. */
const BLIND = /audio|transcribe|tts|realtime|embed/;

export function seesByName(model: string): boolean {
  const name = model.toLowerCase();
  return SEEING.some((pattern) => pattern.test(name)) && !BLIND.test(name);
}

export function hasImages(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role !== "assistant" && message.images !== undefined);
}

/** Removes images for a model or provider that refuses them. Each message says what is missing. */
export function withoutImages(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) =>
    message.role !== "assistant" && message.images !== undefined ? withoutImage(message) : message
  );
}

function withoutImage({ images = [], ...message }: Exclude<Message, AssistantMessage>): Message {
  const names = images.map(({ name }) => name).join(", ");
  return { ...message, text: `${message.text}\n[left out, since this model cannot see images: ${names}]` };
}

/** The text before an image that is sent apart from its result. */
export function imageLabel({ id, name }: ToolMessage, image: string): string {
  return `Image ${image}, from the result of ${name} (call ${id}):`;
}

/**
 * The results of one answer if the last of them is at `at`, otherwise none. Content that follows results is
 * inserted there.
 */
export function resultsEndedBy(messages: readonly Message[], at: number): readonly ToolMessage[] {
  if (messages[at + 1]?.role === "tool") return [];
  let from = at + 1;
  while (messages[from - 1]?.role === "tool") from -= 1;
  return messages.slice(from, at + 1).filter((message) => message.role === "tool");
}
