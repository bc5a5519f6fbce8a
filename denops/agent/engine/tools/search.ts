import * as z from "../../deps/zod.ts";
import { defined } from "../../shared/records.ts";
import { pathInRoot } from "../../policy/roots.ts";
import { defineTool, files, titleText } from "./define.ts";
import { grepText, leftOutNote } from "./search/format.ts";
import { searchByMeaning } from "./search/meaning.ts";
import { plural } from "../../shared/text/text.ts";

/** Matching lines for the model. */
const MOST_MATCHES = 200;

export const search = defineTool({
  name: "search",
  description:
    "Search the project's files for text or a regular expression (ripgrep; ignored files are left out), or by " +
    "meaning. Matching lines are marked with →.",
  kind: "search",
  readOnly: true,
  basic: true,
  needs: "search",
  uses: "index",
  schema: z.object({
    query: z.string().min(1),
    kind: z.enum(["text", "meaning"]).optional().describe(
      "meaning: query says what the code does",
    ),
    is_regex: z.boolean().optional().describe("query is a regular expression"),
    path: z.string().optional().describe("folder or file to search in"),
    glob: z.string().optional().describe('such as "*.ts" or "!**/test/**"'),
    case: z.enum(["smart", "sensitive", "insensitive"]).optional().describe("smart unless told"),
    context: z.int().min(0).max(10).optional().describe("lines around each match, 1 unless told"),
  }),
  title: (args) => `search ${args.kind === "meaning" ? "by meaning: " : ""}${titleText(args.query)}`,

  async prepare(args, { workspace, search: finder, index, progress }) {
    const target = await workspace.resolveListed(args.path || ".");
    if (args.kind === "meaning") {
      const { query: question, glob } = args;
      return {
        access: files(["list", target]),
        run: (signal) =>
          searchByMeaning(
            { question, target, glob },
            index,
            { workspace, ...defined({ progress }) },
            signal,
          ),
      };
    }
    return {
      access: files(["list", target]),
      async run(signal) {
        const found = await finder.grep({
          query: args.query,
          isRegex: args.is_regex === true,
          path: target.path,
          case: args.case ?? "smart",
          context: args.context ?? 1,
          most: MOST_MATCHES,
          ...(args.glob === undefined ? {} : { glob: args.glob }),
        }, signal);
        const summary = found.total === 0
          ? "nothing found"
          : `${found.more ? "more than " : ""}${plural(found.total, "match", "matches")}`;
        const locations = found.lines.filter(({ isMatch }) => isMatch).map(({ path, line }) => ({
          path: pathInRoot(path, target.root, workspace.roots),
          line,
        })).sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line);
        const text = [grepText(found, MOST_MATCHES), ...leftOutNote(found.leftOut)].join("\n\n");
        return { text, summary, ...(locations.length === 0 ? {} : { locations }) };
      },
    };
  },
});
