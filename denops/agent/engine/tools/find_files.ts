import { z } from "../../deps/zod.ts";
import { counted, defineTool, NOTHING, shown } from "./define.ts";
import { fuzzyPaths, leftOutNote } from "./search/format.ts";

const MOST_SHOWN = 50;
const MOST_LOOKED_AT = 100_000;

export const findFiles = defineTool({
  name: "find_files",
  description: "Find files by name: words that the path holds (fuzzy, best first), or a glob.",
  kind: "search",
  readOnly: true,
  basic: true,
  needs: "search",
  schema: z.object({
    query: z.string().min(1).describe('words such as "user model", or a glob such as "**/*.sql"'),
  }),
  title: (args) => `find ${shown(args.query)}`,

  prepare({ query }, { search }) {
    return {
      accesses: NOTHING,
      async run(signal) {
        const isGlob = /[*?[{]/.test(query);
        const request = { path: "", most: MOST_LOOKED_AT, ...(isGlob ? { glob: query } : {}) };
        const { paths, leftOut } = await search.files(request, signal);
        const found = isGlob ? paths : fuzzyPaths(paths, query);
        const asked = leftOutNote(leftOut);
        if (found.length === 0) {
          return { text: ["No file was found.", ...asked].join("\n"), summary: "none" };
        }
        const left = found.length - MOST_SHOWN;
        const note = left > 0 ? [`[${left} more]`] : [];
        return {
          text: [...found.slice(0, MOST_SHOWN), ...note, ...asked].join("\n"),
          summary: counted(found.length, "file"),
        };
      },
    };
  },
});
