/** Searches over our extension; only clients that offer it can search. */
import { type AgentContext, RequestError } from "../deps/acp_sdk.ts";
import { SEARCH, type SearchQuery, SearchResponse } from "../protocol/search.ts";
import { ToolError } from "./core/errors.ts";
import type { Search } from "./core/ports.ts";

export function acpSearch(client: AgentContext, sessionId: string): Search {
  const ask = async (query: SearchQuery, signal: AbortSignal): Promise<SearchResponse> => {
    const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
    try {
      return SearchResponse.parse(
        await client.request<unknown, unknown>(SEARCH, { sessionId, ...query }, options),
      );
    } catch (error) {
      if (signal.aborted || !(error instanceof RequestError)) throw error;
      throw new ToolError(`Cannot search: ${error.message.replace(/^Invalid params: /, "")}.`);
    }
  };
  return {
    async grep(query, signal) {
      const found = await ask({ op: "grep", ...query }, signal);
      if (found.op !== "grep") throw new Error("the answer is of another kind");
      return found;
    },
    async files(query, signal) {
      const found = await ask({ op: "files", ...query }, signal);
      if (found.op !== "files") throw new Error("the answer is of another kind");
      return found;
    },
    async changes(query, signal) {
      const found = await ask({ op: "changes", ...query }, signal);
      if (found.op !== "changes") throw new Error("the answer is of another kind");
      return found;
    },
  };
}
