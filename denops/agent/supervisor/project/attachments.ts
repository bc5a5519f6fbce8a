/** Converts attachments of a message into blocks of a prompt, for any ACP agent. Pure. */
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "../../deps/acp_sdk.ts";
import { mayRead } from "../../policy/file_access.ts";
import { nameInRoots } from "../../policy/roots.ts";
import { META } from "../../protocol/extensions.ts";
import type { HookText } from "../../protocol/results/hooks.ts";
import type { Attachment, AttachmentMeta } from "../../protocol/attachments.ts";
import { plainText } from "../system/output.ts";
import { defined } from "../../shared/records.ts";
import { hookText } from "../../shared/text/fence.ts";
import type { SearchOptions } from "./place.ts";

const LONGEST_NAME = 400;

type Rules = Pick<SearchOptions, "roots" | "rules">;

export function attachmentBlocks(attachments: readonly Attachment[], rules: Rules): readonly ContentBlock[] {
  return attachments.map((one) => blockOf(one, rules));
}

function blockOf(one: Attachment, rules: Rules): ContentBlock {
  const of = one.mention === undefined ? {} : { mention: one.mention };
  const meta = (more: AttachmentMeta) => ({ _meta: { [META]: { ...of, ...more } } });
  switch (one.type) {
    case "file": {
      if (one.text !== undefined && nameInRoots(one.path, rules.roots) === undefined) {
        const { first = 1, last = first } = one;
        const label = `${one.path.slice(-LONGEST_NAME)} L${first}${last > first ? `–${last}` : ""}`;
        return textBlock(label, one.text, meta({ label, ...selectedOf(one) }));
      }
      const url = pathToFileURL(one.path);
      if (one.first !== undefined) url.hash = `L${one.first}-L${one.last ?? one.first}`;
      return { type: "resource_link", uri: url.href, name: one.path, ...meta(selectedOf(one)) };
    }
    case "image":
      return { type: "image", data: one.data, mimeType: "image/png", ...meta({ label: one.label }) };
    case "text":
      return textBlock(
        one.label,
        one.text,
        meta({ label: one.label, ...selectedOf(one), ...defined({ output: one.output }) }),
      );
    case "places":
      return textBlock(one.label, placesText(one.places, rules), meta({ label: one.label }));
  }
}

/** The prompt template that a message calls. @param text includes its arguments */
export function promptBlock(name: string, text: string): ContentBlock {
  const label = `prompt ${name}`;
  return textBlock(label, text, { _meta: { [META]: { label, prompt: true } satisfies AttachmentMeta } });
}

/** The skill that a message calls. @param text as models read it */
export function skillBlock(name: string, text: string): ContentBlock {
  const label = `skill ${name}`;
  return textBlock(label, text, { _meta: { [META]: { label, skill: true } satisfies AttachmentMeta } });
}

/** The text of a hook about a message. */
export function hookBlock(output: HookText): ContentBlock {
  const label = `hook ${output.hook}`;
  return textBlock(label, hookText(output), { _meta: { [META]: { label } satisfies AttachmentMeta } });
}

function selectedOf({ selected }: Pick<AttachmentMeta, "selected">): Pick<AttachmentMeta, "selected"> {
  return defined({ selected });
}

function textBlock(name: string, text: string, meta: Pick<ContentBlock, "_meta">): ContentBlock {
  const uri = `neovim:${encodeURIComponent(name)}`;
  return { type: "resource", resource: { uri, text: plainText(text) }, ...meta };
}

/** Omits files outside of the project and files that need approval. */
function placesText(
  places: Extract<Attachment, { type: "places" }>["places"],
  { roots, rules }: Rules,
): string {
  const lines = places.flatMap(({ path, line, text }): readonly string[] => {
    const message = plainText(text).replace(/\s*\n\s*/g, " ");
    if (path === undefined) return [message];
    const name = nameInRoots(path, roots);
    if (name === undefined || mayRead({ relative: name, named: name }, rules).verdict !== "allow") return [];
    return [`${plainText(name)}${line === undefined ? "" : `:${line}`} ${message}`];
  });
  const left = places.length - lines.length;
  return [...lines, ...(left > 0 ? [`[${left} more, of files that may not be read]`] : [])].join("\n");
}
