/** The web, as far as the client fetches from it. */
import type { FetchedContent } from "../../protocol/screen_requests.ts";

export interface Web {
  /** The texts that this session has read, by their addresses. */
  readonly read: Map<string, WebText>;
  /** @param url exactly as it was approved @throws {ToolError} */
  fetch(url: string, signal: AbortSignal): Promise<FetchedContent>;
}

export interface WebText {
  /** Of the page, in one line. */
  readonly about: string;
  readonly failed: boolean;
  readonly parts: readonly string[];
}
