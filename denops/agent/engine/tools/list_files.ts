import { z } from "../../deps/zod.ts";
import { counted, defineTool, files, shown } from "./define.ts";
import { leftOutNote } from "./search/format.ts";

const MOST_FILES = 1_000;

export const listFiles = defineTool({
  name: "list_files",
  description: "List files below a folder, all levels; ignored files are left out.",
  kind: "search",
  readOnly: true,
  needs: "search",
  schema: z.object({
    path: z.string().optional().describe("folder, the project's root unless told"),
    glob: z.string().optional().describe('such as "*.ts"'),
    depth: z.int().min(1).optional().describe("levels of folders"),
  }),
  title: (args) => `list files ${shown(args.glob, shown(args.path, "."))}`,

  async prepare({ path, glob, depth }, { workspace, search }) {
    const target = await workspace.resolveListed(path || ".");
    return {
      accesses: files(["list", target]),
      async run(signal) {
        const { paths, more, leftOut } = await search.files({
          path: target.path,
          most: MOST_FILES,
          ...(glob === undefined ? {} : { glob }),
          ...(depth === undefined ? {} : { depth }),
        }, signal);
        const asked = leftOutNote(leftOut);
        if (paths.length === 0) {
          return { text: ["No files.", ...asked].join("\n"), summary: "none" };
        }
        const note = more ? [`[more than ${MOST_FILES}; narrow with path or glob]`] : [];
        return {
          text: [...paths, ...note, ...asked].join("\n"),
          summary: `${more ? "more than " : ""}${counted(paths.length, "file")}`,
        };
      },
    };
  },
});
