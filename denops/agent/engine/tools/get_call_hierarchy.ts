import { z } from "../../deps/zod.ts";
import { defineTool, files } from "./define.ts";
import { askServers, nothing, PLACE, placeOf, placeTitle } from "./lsp/ask.ts";
import { showHierarchy } from "./lsp/hierarchy.ts";

const HEADINGS = [["incoming", "Called by"], ["outgoing", "Calls"]] as const;

export const getCallHierarchy = defineTool({
  name: "get_call_hierarchy",
  description: "Get the functions that call a function, and those that it calls.",
  kind: "search",
  readOnly: true,
  needs: "languages",
  schema: z.object({
    ...PLACE,
    direction: z.enum(["incoming", "outgoing", "both"]).default("both").describe("incoming: its callers"),
  }),
  title: (args) => `calls of ${placeTitle(args)}`,

  async prepare({ path, direction, ...args }, { workspace, languages }) {
    const target = await workspace.resolveReadable(path);
    const place = placeOf(target, args);
    return {
      accesses: files(["read", target]),
      async run(signal) {
        const request = { op: "call_hierarchy", ...place, direction } as const;
        const answer = await askServers(languages, request, ["hierarchy"], signal);
        if (answer.kind === "nothing") return nothing(answer.reason);
        const wanted = HEADINGS.filter(([relation]) => direction === "both" || relation === direction);
        return await showHierarchy(answer, wanted, workspace);
      },
    };
  },
});
