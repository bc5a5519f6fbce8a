/** The web: the requests `fetch` and `search_web`, and their results. */
import * as z from "../../deps/zod.ts";

/** Characters of an address of the web. */
export const LONGEST_URL = 4_000;
export const WebUrl = z.string().max(LONGEST_URL);

/** The content at an address of the web. */
export const FetchedContent = z.object({
  /** The last address, after redirects. */
  url: z.string(),
  /** Another host that the last answer redirects to; nothing was fetched from there. */
  elsewhere: z.string().optional(),
  /** Of HTTP. */
  status: z.int(),
  /** The media type without parameters; empty if unknown. */
  type: z.string(),
  kind: z.enum(["text", "image", "pdf", "binary"]),
  /** Text, also of a PDF, an image as base64, or nothing. */
  body: z.string(),
  /** Why a PDF has no text: the end of a sentence. */
  problem: z.string().optional(),
  /** The body is the beginning of a longer one. */
  isCut: z.boolean(),
  /** The user's own proxy that was used. */
  proxy: z.string().optional(),
});
export type FetchedContent = z.infer<typeof FetchedContent>;

/** Characters of a query. */
export const LONGEST_QUERY = 400;
export const WebQuery = z.string().min(1).max(LONGEST_QUERY);
export const MOST_FOUND_PAGES = 20;

export const FoundPage = z.object({
  title: z.string(),
  /** An http or https address. */
  url: z.string(),
  /** An excerpt; may be empty. */
  snippet: z.string(),
  /** As the search engine writes it. */
  date: z.string().optional(),
});
export type FoundPage = z.infer<typeof FoundPage>;

/** The answer of a search engine. */
export const FoundPages = z.object({
  /** The search engine's full name. */
  engine: z.string(),
  pages: z.array(FoundPage).max(MOST_FOUND_PAGES),
  /** The user's own proxy that was used. */
  proxy: z.string().optional(),
});
export type FoundPages = z.infer<typeof FoundPages>;
