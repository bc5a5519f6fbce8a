import { z } from "../../deps/zod.ts";
import { defineTool, files } from "./define.ts";
import { askServers, nothing, PLACE, placeOf, placeTitle } from "./lsp/ask.ts";
import { placed } from "./lsp/show.ts";

const MOST_CHARACTERS = 6_000;

export const getHoverInfo = defineTool({
  name: "get_hover_info",
  description: "Get the type, signature and documentation of a symbol.",
  kind: "read",
  readOnly: true,
  needs: "languages",
  schema: z.object(PLACE),
  title: (args) => `hover ${placeTitle(args)}`,

  async prepare({ path, ...args }, { workspace, languages }) {
    const target = await workspace.resolveReadable(path);
    const place = placeOf(target, args);
    return {
      accesses: files(["read", target]),
      async run(signal) {
        const answer = await askServers(languages, { op: "hover", ...place }, ["text"], signal);
        if (answer.kind === "nothing") return nothing(answer.reason);
        // What a server says of a symbol is the text of the file that defines it.
        const source = await askServers(languages, { op: "definition", ...place }, ["locations"], signal);
        const paths = source.kind === "locations" ? source.locations.map((location) => location.path) : [];
        for (const one of new Set(paths)) {
          if ((await placed(one, workspace)).kind === "hidden") {
            return nothing("The symbol is defined in a file that may not be read.");
          }
        }
        const { at, text } = answer;
        const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n[cut]` : text;
        return { text: `${at.text} (line ${at.line}):\n${cut}`, summary: `line ${at.line}` };
      },
    };
  },
});
