import { z } from "../../deps/zod.ts";
import { defineTool, files, shown } from "./define.ts";
import { askServers, nothing, PLACE, placeOf } from "./lsp/ask.ts";
import { prepareWrites } from "./lsp/writes.ts";

export const renameSymbol = defineTool({
  name: "rename_symbol",
  description:
    "Rename a symbol everywhere in the project, through the language server: definition, imports and " +
    "every use, but no other thing of the same name.",
  kind: "edit",
  readOnly: false,
  needs: "languages",
  schema: z.object({ ...PLACE, new_name: z.string().min(1) }),
  title: (args) => `rename ${shown(args.symbol, "symbol")} to ${shown(args.new_name)}`,

  async prepare({ path, new_name, ...args }, { workspace, languages }, signal) {
    const target = await workspace.resolveReadable(path);
    const request = { op: "rename", ...placeOf(target, args), new_name } as const;
    const answer = await askServers(languages, request, ["edits"], signal);
    if (answer.kind === "nothing") {
      return {
        accesses: files(["read", target]),
        run: () => Promise.resolve(nothing(answer.reason)),
      };
    }
    const title = `Renamed ${args.symbol ?? "the symbol"} to ${new_name}`;
    return await prepareWrites(title, answer.files, workspace, signal);
  },
});
