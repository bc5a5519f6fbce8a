/** Converts the blocks of a client's prompt to a message and its attachments. Pure. */
import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type ContentBlock, RequestError } from "../deps/acp_sdk.ts";
import { isInside } from "../policy/path.ts";
import type { Attachment } from "../protocol/attachments.ts";
import { defined } from "../shared/records.ts";

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Characters of a message's text, and of one attachment. */
const LONGEST_TEXT = 4_000_000;
const LONGEST_ATTACHMENT = 1_000_000;
const MOST_ATTACHMENTS = 1_000;
const LONGEST_LABEL = 400;

export interface PromptMessage {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

interface Place {
  readonly path: string;
  readonly first?: number;
  readonly last?: number;
}

interface PromptContext {
  /** Real path of the project. */
  readonly root: string;
  /** The engine reads the editor's text of files in the project, so the prompt's copy is not needed. */
  readonly readsFiles: boolean;
}

/** @throws {RequestError} one line, if a block cannot be sent */
export function promptMessage(prompt: readonly ContentBlock[], context: PromptContext): PromptMessage {
  const attachments: Attachment[] = [];
  const text = prompt.reduce((text, block) => {
    const { word, attachment } = partOf(block, context, attachments.length + 1);
    if (attachment !== undefined) attachments.push(attachment);
    return word === "" ? text : joined(text, word, block.type === "text");
  }, "");
  if (text.length > LONGEST_TEXT) throw refused("the message", tooLong(text.length, LONGEST_TEXT));
  if (attachments.length > MOST_ATTACHMENTS) {
    throw refused(
      "the message",
      `it has ${attachments.length} attachments. Send at most ${MOST_ATTACHMENTS}`,
    );
  }
  if (text.trim() === "" && attachments.length === 0) {
    throw refused("the message", "it is empty. Write some text");
  }
  // A message of attachments alone still needs words.
  return { text: text.trim() === "" ? "See the attachments." : text, attachments };
}

interface MessagePart {
  /** Stands for it in the text. */
  readonly word: string;
  readonly attachment?: Attachment;
}

function partOf(block: ContentBlock, context: PromptContext, number: number): MessagePart {
  switch (block.type) {
    case "text":
      return { word: block.text };
    case "image": {
      const label = block.uri ? labelOf(block.uri) : `image ${number}`;
      if (!IMAGE_TYPES.has(block.mimeType)) {
        throw refused(label, `its type is ${block.mimeType.slice(0, 100)}. Use PNG, JPEG, GIF or WebP`);
      }
      if (!isBase64(block.data)) throw refused(label, "its data is not base64. Send the image again");
      return { word: "", attachment: { type: "image", label, data: block.data } };
    }
    case "resource_link":
      return linkPart(block.uri, block.title ?? block.name, undefined, context);
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return linkPart(resource.uri, undefined, resource.text, context);
      throw refused(labelOf(resource.uri), "it is not text. Send text or an image");
    }
    case "audio":
      throw refused("audio", "no model of agent.nvim hears it. Send text");
  }
  throw refused("the message", "it has a block of an unknown type. Send text");
}

/** @param text the resource's text, if the client sent it */
function linkPart(
  uri: string,
  name: string | undefined,
  text: string | undefined,
  { root, readsFiles }: PromptContext,
): MessagePart {
  const place = placeOf(uri);
  const isOwn = place !== undefined && (place.path === root || isInside(place.path, root));
  const label = isOwn ? relative(root, place.path) || "." : name ?? place?.path ?? uri;
  const lines = place?.first === undefined ? "" : ` L${place.first}–${place.last ?? place.first}`;
  const word = labelOf(label + lines);
  if (text !== undefined && text.length > LONGEST_ATTACHMENT) {
    throw refused(word, `${tooLong(text.length, LONGEST_ATTACHMENT)}, or send a link to the file`);
  }
  if (isOwn && (readsFiles || text === undefined)) return { word, attachment: { type: "file", ...place } };
  if (text !== undefined) return { word, attachment: { type: "text", label: word, text } };
  // Nothing reads it for the model, but the model may know what it is.
  return { word: uri };
}

/** A file's place: `file:///a/b.ts`, `file:///a/b.ts#L3`, `#L3-L5` or `#L3:5`; undefined for other addresses. */
function placeOf(uri: string): Place | undefined {
  try {
    const url = isAbsolute(uri) ? new URL(`file://${uri}`) : new URL(uri);
    if (url.protocol !== "file:") return undefined;
    const [, first, last] = /^#L(\d+)(?:[-:]L?(\d+))?/.exec(url.hash) ?? [];
    url.hash = "";
    url.search = "";
    return {
      path: fileURLToPath(url).replace(/(?<=.)\/$/, ""),
      ...defined({ first: lineOf(first), last: lineOf(last) }),
    };
  } catch {
    return undefined;
  }
}

function lineOf(digits: string | undefined): number | undefined {
  const line = Number(digits);
  return Number.isSafeInteger(line) && line > 0 ? line : undefined;
}

/** Clients put links between the words of a sentence, and send separate texts without a line break. */
function joined(text: string, word: string, isText: boolean): string {
  // A link may begin with a dot, as `.env` does.
  const isSeparate = text === "" || /[\s([{"'`]$/.test(text) || (isText && /^[\s.,:;!?)]/.test(word));
  return isSeparate ? text + word : `${text}\n${word}`;
}

/** One line; the end of a path says most. */
function labelOf(name: string): string {
  return name.replace(/\s+/g, " ").slice(-LONGEST_LABEL) || "a block";
}

function isBase64(data: string): boolean {
  try {
    return Uint8Array.fromBase64(data).length > 0;
  } catch {
    return false;
  }
}

function tooLong(length: number, most: number): string {
  const number = (count: number) => count.toLocaleString("en");
  return `it has ${number(length)} characters. Send at most ${number(most)}`;
}

function refused(what: string, why: string): RequestError {
  return new RequestError(-32602, `Cannot send ${what}: ${why}.`);
}
