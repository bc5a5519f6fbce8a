import { z } from "../../deps/zod.ts";
import { defineTool, files, NOTHING, shown } from "./define.ts";
import { AskedAbout } from "./files/asked_about.ts";
import type { Workspace } from "./files/workspace.ts";
import { askServers, nothing } from "./lsp/ask.ts";
import { counted, placed, symbolName } from "./lsp/show.ts";
import { leftOutNote } from "./search/format.ts";
import type { LspSymbol } from "../../protocol/lsp.ts";

const MOST = 50;

export const findSymbol = defineTool({
  name: "find_symbol",
  description: "Find classes, functions and other symbols of the whole project by a part of their name.",
  kind: "search",
  readOnly: true,
  needs: "languages",
  schema: z.object({
    query: z.string().min(1).describe("the name or a part of it"),
    path: z.string().optional().describe(
      "any file of the language that is meant, if no server runs for it yet",
    ),
  }),
  title: (args) => `find symbol ${shown(args.query)}`,

  async prepare({ query, path }, { workspace, languages }) {
    const target = path === undefined ? undefined : await workspace.resolveReadable(path);
    return {
      accesses: target === undefined ? NOTHING : files(["read", target]),
      async run(signal) {
        const where = target === undefined ? {} : { path: target.path };
        const request = { op: "workspace_symbols", query, ...where } as const;
        const answer = await askServers(languages, request, ["symbols"], signal);
        if (answer.kind === "nothing") return nothing(answer.reason);
        const asked = new AskedAbout();
        const lines = await symbolLines(answer.symbols, workspace, asked);
        const note = leftOutNote(asked);
        if (lines.length === 0) {
          return nothing([`No symbol like "${query}" in the project.`, ...note].join("\n"));
        }
        const left = lines.length - MOST + (answer.total - answer.symbols.length);
        const more = [...(left > 0 ? [`[${left} more]`] : []), ...note];
        return {
          text: [...lines.slice(0, MOST), ...more].join("\n"),
          summary: counted(lines.length, "symbol"),
        };
      },
    };
  },
});

/** Of the project only: of libraries servers know thousands. */
async function symbolLines(
  symbols: readonly LspSymbol[],
  workspace: Workspace,
  asked: AskedAbout,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const symbol of symbols) {
    const place = await placed(symbol.location.path, workspace);
    if (place.kind === "hidden") asked.note(symbol.location.path, place.decision);
    if (place.kind === "inside") lines.push(`${place.name}:${symbol.location.line} ${symbolName(symbol)}`);
  }
  return lines;
}
