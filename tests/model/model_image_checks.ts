/**
 * What must hold for the images of a request: each check says in one line what is wrong. Pure.
 *
 * Sources: Anthropic, "Vision" (5 MiB of base64 and 8,000 pixels a side, 32 MB a request; the type must be true) and
 * "Tool use" (images within a result); OpenAI, "Images and vision", its client's types of a function call's output and its refusal "Image URLs are only allowed for
 * messages with role 'user'"; Ollama, docs/api.md (bare base64) and model/renderers (none are shown of a tool's).
 */
import {
  blocksOf,
  type JsonObject,
  objects,
  property,
  type SentMessage,
  sentOf,
  string,
} from "./model_messages.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

const LARGEST_IMAGE = 5 * 1024 * 1024;
const LARGEST_REQUEST = 32_000_000;
/** With more, Anthropic takes only small ones. */
const MOST_IMAGES = 20;

/** One character a byte. */
const MAGIC: Readonly<Record<string, string>> = {
  "image/png": "\x89PNG\r\n\x1a\n",
  "image/jpeg": "\xff\xd8\xff",
  "image/gif": "GIF8",
  "image/webp": "RIFF",
};

export function checkImages(
  wire: ScriptedWire,
  body: JsonObject,
  messages: readonly SentMessage[],
): string[] {
  const images = messages.flatMap(({ images }) => images);
  const found = messages.flatMap((message, at) => {
    const label = `message ${at} (${message.role})`;
    const allowed = wire === "openai_responses" ? ["user", "tool"] : ["user"];
    const misplaced = message.images.length > 0 && !allowed.includes(message.role);
    return [
      ...(misplaced ? [`${label} has images, only the user's may`] : []),
      ...message.images.flatMap(({ type, data }) => checkImage(wire, label, type, data)),
    ];
  });
  found.push(...sentOf(body).flatMap((message, at) => checkParts(wire, at, message)));
  if (images.length > MOST_IMAGES) {
    found.push(`there are ${images.length} images, ${MOST_IMAGES} are the most`);
  }
  const size = images.reduce((sum, { data }) => sum + data.length, 0);
  if (size > LARGEST_REQUEST) found.push(`the images have ${size} bytes`);
  return found;
}

function checkImage(wire: ScriptedWire, label: string, type: string | undefined, data: string): string[] {
  if (data.length > LARGEST_IMAGE) return [`${label}: an image of ${data.length} bytes of base64`];
  let start: string;
  try {
    start = String.fromCharCode(...Uint8Array.fromBase64(data).subarray(0, 12));
  } catch {
    return [`${label}: an image is not base64`];
  }
  const [real] = Object.entries(MAGIC).find(([, magic]) => start.startsWith(magic)) ?? [];
  if (real === undefined) return [`${label}: an image is none`];
  return wire === "ollama" || type === real
    ? []
    : [`${label}: an image is said to be ${type}, and is ${real}`];
}

/** The shape around the images. */
function checkParts(wire: ScriptedWire, at: number, message: JsonObject): string[] {
  const label = `message ${at} (${message.role})`;
  if (wire === "ollama") {
    const sound = message.images === undefined || Array.isArray(message.images) && message.images.length > 0;
    const text = typeof message.content === "string";
    return sound && text ? [] : [`${label}: content must be a text and images a list`];
  }
  if (wire === "openai_chat") {
    if (message.role === "tool" && typeof message.content !== "string") {
      return [`${label}: content must be a text`];
    }
    return checkKinds(label, objects(message.content), ["text", "image_url"]);
  }
  if (wire === "openai_responses") {
    return checkKinds(label, [...objects(message.content), ...objects(message.output)], [
      "input_text",
      "input_image",
    ]);
  }
  const blocks = blocksOf(message.content);
  const results = blocks.filter(({ type }) => type === "tool_result");
  return [
    ...results.flatMap(({ content }) =>
      checkKinds(`${label}, a result`, blocksOf(content), ["text", "image"])
    ),
    ...[...blocks, ...results.flatMap(({ content }) => blocksOf(content))]
      .filter(({ type, source }) => type === "image" && property(source, "type") !== "base64")
      .map(() => `${label}: the source of an image is not of type base64`),
  ];
}

function checkKinds(label: string, parts: readonly JsonObject[], kinds: readonly string[]): string[] {
  const strange = parts.filter(({ type }) => !kinds.some((kind) => kind === type));
  const empty = parts.filter(({ type, text }) =>
    /text$/.test(string(type) ?? "") && (typeof text !== "string" || text.trim() === "")
  );
  return [
    ...strange.map(({ type }) => `${label} has a part of type ${type}`),
    // A result that is one text may be empty; one among others may not.
    ...(parts.length > 1 ? empty : []).map(() => `${label} has an empty text`),
  ];
}
