/** Results of a search engine as models see them: fenced, because strangers have written them. */
import type { FoundPages } from "../../../protocol/results/web.ts";
import { fenced } from "../../../shared/text/fence.ts";
import type { ToolResult } from "../define.ts";
import { oneLine } from "./show.ts";

export function searchResult(query: string, { engine, pages, proxy }: FoundPages): ToolResult {
  if (pages.length === 0) {
    return { text: `${engine} has found nothing. Try other or fewer words.`, summary: "nothing" };
  }
  const entries = pages.map(({ title, url, snippet, date }, at) =>
    [
      `${at + 1}. ${oneLine(title) || "(no title)"}`,
      `   ${oneLine(url)}${date === undefined ? "" : ` (${oneLine(date)})`}`,
      ...snippet === "" ? [] : [`   ${oneLine(snippet)}`],
    ].join("\n")
  );
  const way = proxy === undefined ? "" : `, through the proxy ${oneLine(proxy)}`;
  const count = `${pages.length} ${pages.length === 1 ? "result" : "results"}`;
  return {
    text: fenced({
      about: `${engine}, ${count} for ${JSON.stringify(oneLine(query))}${way}`,
      kind: "search results",
      text: entries.join("\n"),
      after: "To read one of the pages, fetch its address.",
    }),
    summary: count,
  };
}
