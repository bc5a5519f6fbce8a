import { z } from "../../deps/zod.ts";
import { defineTool, files, shown } from "./define.ts";
import { askServers, nothing, PATH } from "./lsp/ask.ts";
import { counted, lineRange, symbolName } from "./lsp/show.ts";

export const getDocumentSymbols = defineTool({
  name: "get_document_symbols",
  description: "Get the outline of a file: its classes, functions and so on, each with its range of lines.",
  kind: "read",
  readOnly: true,
  needs: "languages",
  schema: z.object({ path: PATH }),
  title: (args) => `outline of ${shown(args.path)}`,

  async prepare({ path }, { workspace, languages }) {
    const target = await workspace.resolveReadable(path);
    return {
      accesses: files(["read", target]),
      async run(signal) {
        const request = { op: "document_symbols", path: target.path } as const;
        const answer = await askServers(languages, request, ["symbols"], signal);
        if (answer.kind === "nothing") return nothing(answer.reason);
        const lines = answer.symbols.map((symbol) =>
          `${"  ".repeat(symbol.depth)}${lineRange(symbol.location)} ${symbolName(symbol)}`
        );
        const left = answer.total - answer.symbols.length;
        if (left > 0) lines.push(`[${left} more]`);
        return { text: lines.join("\n"), summary: counted(answer.total, "symbol") };
      },
    };
  },
});
