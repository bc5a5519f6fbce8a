/** Answers of servers as text and images: bounded and cleaned. Pure. */
import * as z from "../../deps/zod.ts";
import { isRecord } from "../../shared/records.ts";
import { middleCut } from "../../shared/text/text.ts";
import type { McpAnswer, McpContent, McpImage } from "../ports/mcp.ts";
import { cleanLine, cleanText } from "../../policy/clean.ts";

/** Characters of an answer; a read has the same limit. */
const LONGEST = 100_000;
const MOST_BLOCKS = 500;
const MOST_IMAGES = 10;
/** Characters of a line about a block. */
const LONGEST_LINE = 300;

/** Servers send what they like, so that a field of the wrong type is as good as none. */
const text = z.string().optional().catch(undefined);
const Resource = z.object({ uri: text, mimeType: text, text, blob: text }).catch({});
const Block = z.object({
  type: z.string().catch(""),
  text,
  data: text,
  mimeType: text,
  uri: text,
  name: text,
  description: text,
  resource: Resource.optional(),
}).catch({ type: "" });
type Block = z.infer<typeof Block>;

const blocks = z.array(z.unknown()).catch([]);

export const CallResult = z.object({
  content: blocks,
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional().catch(undefined),
});
export const ResourceResult = z.object({ contents: blocks });
export const PromptResult = z.object({ messages: blocks });

const Message = z.object({ role: z.string().catch("user"), content: z.unknown().optional() }).catch({
  role: "user",
});

/** @param tool its name, for an empty answer */
export function answerOf(
  tool: string,
  { content, structuredContent, isError }: z.infer<typeof CallResult>,
): McpAnswer {
  const { text, images } = contentOf(content);
  const hasText = text.trim() !== "";
  const structured = hasText || structuredContent === undefined ? "" : jsonOf(structuredContent);
  const body = hasText
    ? text
    : structured || (images.length > 0 ? "" : `(${cleanLine(tool, 80)} returned nothing)`);
  return { text: body, images, failed: isError === true };
}

export function resourceOf({ contents }: z.infer<typeof ResourceResult>): McpContent {
  return contentOf(contents.map((resource) => ({ type: "resource", resource })));
}

/** The messages of a prompt; other authors than the user have a line. */
export function promptOf({ messages }: z.infer<typeof PromptResult>): McpContent {
  const parts = messages.slice(0, MOST_BLOCKS).map((one) => {
    const { role, content } = Message.parse(one);
    const { text, images } = contentOf(Array.isArray(content) ? content : [content]);
    return { text: role === "user" ? text : `[${cleanLine(role, 20)}]\n${text}`, images };
  });
  return {
    text: middleCut(parts.map(({ text }) => text).join("\n\n"), LONGEST),
    images: parts.flatMap(({ images }) => images).slice(0, MOST_IMAGES),
  };
}

function contentOf(all: readonly unknown[]): McpContent {
  const images: McpImage[] = [];
  const lines = all.slice(0, MOST_BLOCKS).flatMap((one) => blockText(Block.parse(one), images));
  if (all.length > MOST_BLOCKS) lines.push(`[${all.length - MOST_BLOCKS} more parts are left out]`);
  return { text: middleCut(lines.join("\n"), LONGEST), images };
}

/** @param images receives those that are shown */
function blockText(block: Block, images: McpImage[]): readonly string[] {
  const { type, text = "", data = "", mimeType = "", uri = "", name = "", description = "" } = block;
  switch (type) {
    case "text":
      return [bounded(text)];
    case "image":
      return imageText({ name: "the image", data }, images);
    case "audio":
      return [`[Audio (${cleanLine(mimeType, 60)}, ${bytesIn(data)} bytes) cannot be shown]`];
    case "resource_link": {
      const more = description === "" ? "" : `: ${description}`;
      return [cleanLine(`- ${name} (${uri})${more}`, LONGEST_LINE)];
    }
    case "resource":
      return resourceText(block.resource ?? {}, images);
    default:
      return [`[A part of the type ${cleanLine(type, 40) || "?"} cannot be shown]`];
  }
}

function resourceText(resource: z.infer<typeof Resource>, images: McpImage[]): readonly string[] {
  const { uri = "", mimeType = "", text, blob = "" } = resource;
  const name = cleanLine(uri, LONGEST_LINE);
  if (text !== undefined) return [`[Resource ${name}]`, bounded(text)];
  if (mimeType.startsWith("image/")) return imageText({ name, data: blob }, images);
  return [`[Resource ${name} (${cleanLine(mimeType, 60)}, ${bytesIn(blob)} bytes) cannot be shown]`];
}

function imageText(image: McpImage, images: McpImage[]): readonly string[] {
  if (images.length >= MOST_IMAGES) return [`[More than ${MOST_IMAGES} images: ${image.name} is left out]`];
  images.push(image);
  return [];
}

/** Cleaning is slow, and characters that it removes must not hide a text's end. */
function bounded(text: string): string {
  return cleanText(middleCut(text, LONGEST), LONGEST);
}

function bytesIn(base64: string): number {
  return Math.floor(base64.length * 0.75);
}

function jsonOf(value: unknown): string {
  try {
    const json = JSON.stringify(value, undefined, isRecord(value) ? 1 : 0) ?? "";
    return bounded(json);
  } catch {
    return "[Its structured content is nested too deeply]";
  }
}
