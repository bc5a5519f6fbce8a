import { z } from "../../deps/zod.ts";
import { counted, defineTool, files, shown } from "./define.ts";
import { leftOutNote } from "./search/format.ts";

export const findCodeChanges = defineTool({
  name: "find_code_changes",
  description:
    "What git knows of changes: without since and query the uncommitted ones, with since the commits from " +
    "then on, with query the commits that added or removed this text.",
  kind: "search",
  readOnly: true,
  needs: "search",
  schema: z.object({
    path: z.string().optional(),
    since: z.string().optional().describe('such as "2 days ago" or "2026-01-31"'),
    query: z.string().optional(),
  }),
  title: (args) =>
    `changes ${shown(args.query, shown(args.since, shown(args.path, "since the last commit")))}`,

  async prepare({ path, since, query }, { workspace, search }) {
    const target = await workspace.resolveListed(path || ".");
    return {
      accesses: files(["list", target]),
      async run(signal) {
        const request = { path: target.path, ...(since ? { since } : {}), ...(query ? { query } : {}) };
        const { text, leftOut } = await search.changes(request, signal);
        return {
          text: [text, ...leftOutNote(leftOut)].join("\n\n"),
          summary: counted(text.split("\n").length, "line"),
        };
      },
    };
  },
});
