/** Reads addresses of the web once in a session. */
import type { Web, WebText } from "../../ports/web.ts";
import type { FetchedContent } from "../../../protocol/results/web.ts";
import { webText } from "./show.ts";

/** Texts that a session keeps, so that their later parts need no second request. */
const MOST_TEXTS = 20;

type WebImage = FetchedContent & { readonly image: Uint8Array };

/** The user's own server, whose pages change while they are worked on. */
export function isOwnServer(url: URL | undefined): boolean {
  const name = url?.hostname ?? "";
  return name === "localhost" || name.endsWith(".localhost") || /^[\d.]+$|^\[/.test(name);
}

/** The text of an address that is not fetched again. */
export function knownText(address: string, { read }: Pick<Web, "read">): WebText | undefined {
  return isOwnServer(URL.parse(address) ?? undefined) ? undefined : read.get(address);
}

/** @param address for which the client has an approval @throws {ToolError} */
export async function readPage(address: string, web: Web, signal: AbortSignal): Promise<WebText | WebImage> {
  const content = await web.fetch(address, signal);
  if (content.kind === "image" && content.body !== "" && content.status < 400) {
    return { ...content, image: Uint8Array.fromBase64(content.body) };
  }
  const text = await webText(content);
  const [oldest] = web.read.keys();
  if (oldest !== undefined && web.read.size >= MOST_TEXTS) web.read.delete(oldest);
  if (!text.failed) web.read.set(address, text);
  return text;
}

/** The same, or the text that the session has already read. @throws {ToolError} */
export async function textOf(address: string, web: Web, signal: AbortSignal): Promise<WebText | WebImage> {
  return knownText(address, web) ?? await readPage(address, web, signal);
}
