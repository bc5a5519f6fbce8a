import { z } from "../../deps/zod.ts";
import { defineTool, files } from "./define.ts";
import { askServers, nothing, PLACE, placeOf, placeTitle } from "./lsp/ask.ts";
import { counted } from "./lsp/show.ts";
import { prepareWrites } from "./lsp/writes.ts";

export const codeAction = defineTool({
  name: "code_action",
  description:
    "Apply a fix or refactoring that the language server offers at a place, such as adding an import. " +
    "If several are offered nothing is done, and their titles come back: call again with one of them.",
  kind: "edit",
  readOnly: false,
  needs: "languages",
  schema: z.object({
    ...PLACE,
    kind: z.string().min(1).optional().describe(
      "such as quickfix, refactor.extract or source.organizeImports",
    ),
    title: z.string().min(1).optional().describe("the title of the one to apply"),
  }),
  title: (args) => `code action at ${placeTitle(args)}`,

  async prepare({ path, kind, title, ...args }, { workspace, languages }, signal) {
    const target = await workspace.resolveReadable(path);
    const choice = { ...(kind === undefined ? {} : { kind }), ...(title === undefined ? {} : { title }) };
    const request = { op: "code_action", ...placeOf(target, args), ...choice } as const;
    const answer = await askServers(languages, request, ["edits", "actions"], signal);
    if (answer.kind === "edits") {
      return await prepareWrites(`Applied ${answer.title}`, answer.files, workspace, signal);
    }
    const accesses = files(["read", target]);
    if (answer.kind === "nothing") return { accesses, run: () => Promise.resolve(nothing(answer.reason)) };
    const titles = answer.actions.map((action) =>
      `${action.title}${action.kind === "" ? "" : ` (${action.kind})`}`
    );
    const text = `Nothing was changed. Offered here; call again with the title of one:\n${titles.join("\n")}`;
    return { accesses, run: () => Promise.resolve({ text, summary: counted(titles.length, "action") }) };
  },
});
