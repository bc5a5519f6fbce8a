import * as z from "../../deps/zod.ts";
import { SearchRequest } from "../../protocol/search.ts";
import { ToolError } from "../../shared/errors.ts";
import { defineTool, files, titleText } from "./define.ts";
import { leftOutNote } from "./search/format.ts";
import { plural } from "../../shared/text/text.ts";

export const changes = defineTool({
  name: "changes",
  description: "Show changes that git knows: the uncommitted ones, or others by one of these arguments.",
  kind: "search",
  readOnly: true,
  needs: "search",
  schema: z.object({
    path: z.string().optional(),
    ref: z.string().optional().describe('all since this commit or branch, such as "main"'),
    since: z.string().optional().describe('commits since a time, such as "2 days ago" or "2026-01-31"'),
    query: z.string().optional().describe("commits that added or removed this text"),
  }),
  title: ({ path, ref, since, query }) =>
    `changes ${titleText(query, titleText(since, titleText(ref, titleText(path, "since the last commit"))))}`,

  async prepare({ path, ref, since, query }, { workspace, search }) {
    const target = await workspace.resolveListed(path || ".");
    const request = {
      path: target.path,
      ...(ref ? { base: ref } : {}),
      ...(since ? { since } : {}),
      ...(query ? { query } : {}),
    };
    if (!SearchRequest.safeParse({ op: "changes", ...request }).success) {
      throw new ToolError(`"${titleText(ref)}" is no name of a commit or branch.`);
    }
    return {
      access: files(["list", target]),
      async run(signal) {
        const { text, leftOut } = await search.changes(request, signal);
        return {
          text: [text, ...leftOutNote(leftOut)].join("\n\n"),
          summary: plural(text.split("\n").length, "line"),
        };
      },
    };
  },
});
