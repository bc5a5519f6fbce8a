import { z } from "../../deps/zod.ts";
import { defineTool, files } from "./define.ts";
import { askServers, nothing, PLACE, placeOf, placeTitle } from "./lsp/ask.ts";
import { showHierarchy } from "./lsp/hierarchy.ts";

const DIRECTIONS = { supertypes: "super", subtypes: "sub", both: "both" } as const;
const HEADINGS = [["super", "Supertypes"], ["sub", "Subtypes"]] as const;

export const getTypeHierarchy = defineTool({
  name: "get_type_hierarchy",
  description: "Get the types that a class or interface extends, and those that extend it.",
  kind: "search",
  readOnly: true,
  needs: "languages",
  schema: z.object({
    ...PLACE,
    direction: z.enum(["supertypes", "subtypes", "both"]).default("both"),
  }),
  title: (args) => `types around ${placeTitle(args)}`,

  async prepare({ path, direction, ...args }, { workspace, languages }) {
    const target = await workspace.resolveReadable(path);
    const place = placeOf(target, args);
    return {
      accesses: files(["read", target]),
      async run(signal) {
        const wanted = DIRECTIONS[direction];
        const request = { op: "type_hierarchy", ...place, direction: wanted } as const;
        const answer = await askServers(languages, request, ["hierarchy"], signal);
        if (answer.kind === "nothing") return nothing(answer.reason);
        const headings = HEADINGS.filter(([relation]) => wanted === "both" || relation === wanted);
        return await showHierarchy(answer, headings, workspace);
      },
    };
  },
});
