import * as z from "../../../deps/zod.ts";
import { LONGEST_QUERY, MOST_FOUND_PAGES } from "../../../protocol/results/web.ts";
import { defineTool, titleText } from "../define.ts";
import { searchResult } from "./search_result.ts";

const USUAL_COUNT = 8;

export const searchWeb = defineTool({
  name: "search_web",
  description: "Search the web. Read a found page with fetch.",
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
      run: async (signal) => searchResult(query, await webSearch.search(query, count, signal)),
    };
  },
});
