/** Converts the blocks of a prompt into a message and its attachments. Pure. */
import type { ContentBlock } from "../../deps/acp_sdk.ts";
import { ours } from "../../protocol/extensions.ts";
import { AttachmentMeta } from "../../protocol/attachments.ts";
import type { PromptPart } from "../agent/gather/attachments.ts";
import { nameOf } from "../agent/gather/file_place.ts";

export function promptPart(block: ContentBlock): PromptPart {
  if (block.type === "text") return { type: "text", text: block.text };
  const meta = ours(AttachmentMeta, block._meta);
  if (block.type === "resource_link") return { type: "link", uri: block.uri, meta };
  if (block.type === "image") return { type: "image", data: block.data, name: nameOf(block.uri), meta };
  if (block.type === "resource" && "text" in block.resource) {
    return { type: "file", uri: block.resource.uri, text: block.resource.text, meta };
  }
  return { type: "unsupported", kind: block.type };
}
