/** Pages of the web that the user attaches to a message, "@https://deno.com/". */
import type { Share } from "../../context/folding/share.ts";
import type { Web, WebText } from "../../ports/web.ts";
import { textOf } from "../../tools/web/read_page.ts";
import { fencedPart } from "../../tools/web/show.ts";
import { messageOf } from "../../../shared/errors.ts";

/** A page, an image, or neither. */
export interface ReadPage {
  readonly url: string;
  readonly text?: WebText;
  readonly image?: Uint8Array;
  /** For the user: the end of a sentence. */
  readonly problem?: string;
}

/** All at the same time. Never rejects. */
export async function readPages(
  urls: readonly string[],
  web: Web | undefined,
  signal: AbortSignal,
): Promise<readonly ReadPage[]> {
  return await Promise.all(urls.map(async (url): Promise<ReadPage> => {
    try {
      if (web === undefined) throw new Error("this editor fetches no pages");
      const read = await textOf(url, web, signal);
      if ("image" in read) return { url, image: read.image };
      const { problem } = read;
      return { url, text: read, ...problem === undefined ? {} : { problem } };
    } catch (error) {
      return { url, problem: messageOf(error).replace(/^Cannot fetch |\.$/g, "") };
    }
  }));
}

/** As the model reads it: its first part, as far as it fits. */
export function pageText({ url, text, problem }: ReadPage, share: Share): string {
  const what = `The user attaches the page ${url}`;
  if (text === undefined) return `${what}, but it cannot be fetched: ${problem ?? "it has no text"}.`;
  const [first = "", ...more] = text.parts;
  const isWhole = share.takes(first, true);
  const kept = isWhole ? share.take(first) : share.beginning(first, true, 0)?.text;
  if (kept === undefined) return `${what}, but nothing more fits into the message. Fetch it.`;
  const rest = isWhole
    ? more.length > 0 ? "Fetch its page 2 to read on." : undefined
    : "Fetch it to read all of it.";
  return `${what}.\n${fencedPart({ ...text, parts: [kept] }, 1, rest)}`;
}
