/** The web, as far as the client fetches from it. */
import type { AccessOf } from "../../protocol/access.ts";
import type { FetchedContent, FoundPages } from "../../protocol/results/web.ts";

type SearchEngine = AccessOf<"search_web">["engine"];

export interface Web {
  /** The texts that this session has read, by their addresses. */
  readonly read: Map<string, WebText>;
  /** @param url exactly as it was approved @throws {ToolError} */
  fetch(url: string, signal: AbortSignal): Promise<FetchedContent>;
}

/** The user's search engine. */
export interface WebSearchPort {
  readonly engine: SearchEngine;
  /** @param query exactly as it was approved @throws {ToolError} */
  search(query: string, count: number, signal: AbortSignal): Promise<FoundPages>;
}

export interface WebText {
  /** Of the page, in one line. */
  readonly about: string;
  readonly failed: boolean;
  /** Why it is not the page that was meant: the end of a sentence. */
  readonly problem?: string;
  readonly parts: readonly string[];
}
