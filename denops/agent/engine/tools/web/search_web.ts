import { z } from "../../../deps/zod.ts";
import { type FoundPages, LONGEST_QUERY, MOST_FOUND_PAGES } from "../../../protocol/results/web.ts";
import { fenced } from "../../../shared/text/fence.ts";
import { defineTool, titleText, type ToolResult } from "../define.ts";
import { clean, oneLine } from "./show.ts";

const USUAL_COUNT = 8;

export const searchWeb = defineTool({
  name: "search_web",
  description: "Search the web: titles, addresses and excerpts. Read the pages with fetch.",
  kind: "fetch",
  readOnly: true,
  needs: "webSearch",
  schema: z.object({
    query: z.string().trim().min(1).max(LONGEST_QUERY),
    count: z.int().min(1).max(MOST_FOUND_PAGES).optional().describe(`of results, ${USUAL_COUNT} unless told`),
  }),
  title: ({ query }) => `search the web for ${titleText(query)}`,

  prepare({ query, count = USUAL_COUNT }, { webSearch }) {
    return {
      access: { kind: "search_web", engine: webSearch.engine, query },
      run: async (signal) => resultOf(query, await webSearch.search(query, count, signal)),
    };
  },
});

function resultOf(query: string, { engine, pages, proxy }: FoundPages): ToolResult {
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
      about: `${engine}, ${count} for ${JSON.stringify(clean(query))}${way}`,
      kind: "search results",
      text: entries.join("\n"),
      after: "To read one of the pages, fetch its address.",
    }),
    summary: count,
  };
}
