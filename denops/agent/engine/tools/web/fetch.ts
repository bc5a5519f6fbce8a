import * as z from "../../../deps/zod.ts";
import type { Access } from "../../../protocol/access.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { Web, WebText } from "../../ports/web.ts";
import { defineTool, NOTHING, titleText, type ToolResult } from "../define.ts";
import type { ImageRoom } from "../files/image_room.ts";
import { isOwnServer, knownText, readPage } from "./read_page.ts";
import { fencedPart, webText } from "./show.ts";

export const fetchPage = defineTool({
  name: "fetch",
  description: "Read a web page, PDF, text, JSON or image.",
  kind: "fetch",
  readOnly: true,
  needs: "web",
  answersChange: ({ url }) => isOwnServer(urlIn(url)),
  schema: z.object({
    url: z.string(),
    page: z.int().min(1).optional().describe("of a long text"),
  }),
  title: ({ url, page }) =>
    `fetch ${titleText(urlIn(url)?.href ?? url)}${
      typeof page === "number" && page > 1 ? ` page ${page}` : ""
    }`,

  prepare({ url, page = 1 }, { web, images }) {
    const address = addressOf(url);
    const known = page > 1 ? web.read.get(address) : knownText(address, web);
    if (known !== undefined) {
      return { access: NOTHING, run: () => Promise.resolve(resultOf(known, page)) };
    }
    const access: Access = { kind: "fetch", url: address };
    return { access, run: async (signal) => await fetched(address, page, { web, images }, signal) };
  },
});

/** Models often leave the scheme out. */
function urlIn(text: unknown): URL | undefined {
  if (typeof text !== "string") return undefined;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return URL.parse(text) ?? undefined;
  const url = URL.parse(`https://${text}`) ?? undefined;
  if (url !== undefined && isOwnServer(url)) url.protocol = "http:";
  return url;
}

/** @throws {ToolError} */
function addressOf(text: string): string {
  const url = urlIn(text);
  if (url === undefined) throw new ToolError(`${titleText(text)} is no address.`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ToolError("fetch reads http and https only. Use read for files of the project.");
  }
  if (url.username !== "" || url.password !== "") throw new ToolError("An address must not contain a login.");
  url.hash = "";
  return url.href;
}

async function fetched(
  address: string,
  page: number,
  { web, images }: { readonly web: Web; readonly images: ImageRoom },
  signal: AbortSignal,
): Promise<ToolResult> {
  const read = await readPage(address, web, signal);
  if (!("image" in read)) return resultOf(read, page);
  const answer = images.take(titleText(read.url), read.image, read.image.length);
  if (answer === undefined) return resultOf(await webText({ ...read, kind: "binary" }), page);
  const { text, summary, image } = answer;
  return { text, summary, ...(image === undefined ? {} : { images: [image] }) };
}

function resultOf(text: WebText, page: number): ToolResult {
  const { parts, failed } = text;
  if (page > parts.length) {
    throw new ToolError(`This text has no page ${page}; its last one is ${parts.length}.`);
  }
  const size = `${Math.ceil((parts[page - 1] ?? "").length / 1_000)} kB`;
  return {
    text: fencedPart(text, page),
    summary: parts.length === 1 ? size : `${size}, page ${page} of ${parts.length}`,
    ...(failed ? { failed } : {}),
  };
}
