/** Searches over our extension; only clients that offer it can search. */
import type { SearchRequest, SearchResponse } from "../../protocol/search.ts";
import type { Screen } from "./screen.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { Search } from "../ports/search.ts";

export function acpSearch(screen: Screen): Search {
  const ask = async <Op extends SearchRequest["op"]>(
    op: Op,
    query: Omit<Extract<SearchRequest, { op: Op }>, "op">,
    signal: AbortSignal,
  ) => {
    const answer = await screen.ask("search", { op, ...query } as SearchRequest, signal).catch((error) => {
      signal.throwIfAborted();
      throw new ToolError(`Cannot search: ${messageOf(error)}.`);
    });
    if (answer.op !== op) throw new Error("the answer is of another kind");
    return answer as Extract<SearchResponse, { op: Op }>;
  };
  return {
    grep: (query, signal) => ask("grep", query, signal),
    files: (query, signal) => ask("files", query, signal),
    changes: (query, signal) => ask("changes", query, signal),
  };
}
